/* recipe
name: conversation_memory/facts
description: What is believed now, one row per belief, or what was believed at a moment by what had been recorded until then.
params:
  as_of:      {type: timestamp, default: null, help: "The moment; now, if not given."}
  agent_id:   {type: text, default: null, help: "Only what this bot believes."}
  user_id:    {type: text, default: null, help: "Only what is believed about this person."}
  session_id: {type: text, default: null, help: "Only what holds in this conversation, its own facts and those that hold everywhere."}
  category:   {type: text, default: null, help: "dietary, budget, pet …"}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  history:    {type: text, default: chat_fact_history, help: "Table of events, for as_of."}
*/

-- step: show
-- result: Facts
select
    user_id as "user",
    category,
    fact_key as fact,
    fact_value as value,
    kind,
    source,
    round(confidence, 2) as confidence,
    strftime(timezone('UTC', observed_at), '%Y-%m-%d %H:%M') as said_at,
    if(session_id = '', '(all)', session_id) as holds_in,
    evidence
{% if as_of is none %}
from {{ facts | ident }}
{% else %}
from facts_as_of({{ as_of }}::timestamptz, history := {{ history }})
{% endif %}
where ({{ agent_id }} is null or agent_id = {{ agent_id }})
  and ({{ user_id }} is null or user_id = {{ user_id }})
  and ({{ session_id }} is null or session_id in ('', {{ session_id }}))
  and ({{ category }} is null or category = {{ category }})
order by user_id, kind = 'RULE' desc, category, fact_key, session_id;
