/* recipe
name: conversation_memory/history
description: How beliefs came to be, one row per event, in order.
params:
  agent_id:   {type: text, default: null, help: "Only what this bot believed."}
  user_id:    {type: text, default: null, help: "Only what was believed about this person."}
  session_id: {type: text, default: null, help: "Only what holds in this conversation, its own facts and those that hold everywhere."}
  category:   {type: text, default: null, help: "dietary, budget, pet …"}
  history:    {type: ident, default: chat_fact_history, help: "Table of events."}
*/

-- step: show
-- result: History
select
    event_id as no,
    user_id as "user",
    coalesce(category, before_category) as category,
    event,
    before_key || ' = ' || before_value as before,
    after_key || ' = ' || after_value as after,
    source,
    strftime(timezone('UTC', observed_at), '%Y-%m-%d %H:%M') as said_at,
    evidence,
    reason
from {{ history | ident }}
where ({{ agent_id }} is null or agent_id = {{ agent_id }})
  and ({{ user_id }} is null or user_id = {{ user_id }})
  and ({{ session_id }} is null or session_id in ('', {{ session_id }}))
  and ({{ category }} is null or category = {{ category }} or before_category = {{ category }})
order by event_id;
