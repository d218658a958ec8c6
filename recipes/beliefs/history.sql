/* recipe
name: beliefs/history
description: How beliefs came to be, one row per event in order, every column.
params:
  fact:       {type: text, default: null, help: "Only what happened to this fact - fact_id, its first eight letters, or category.key."}
  agent_id:   {type: text, default: null, help: "Only what this bot believed."}
  user_id:    {type: text, default: null, help: "Only what was believed about this person."}
  session_id: {type: text, default: null, help: "Only what holds in this conversation, its own facts and those that hold everywhere."}
  category:   {type: text, default: null, help: "dietary, budget, pet …"}
  event:      {type: text, default: null, help: "Only events of this name: created, confirmed, superseded …"}
  turn_ids:   {type: list, default: null, help: "Only what these turns said."}
  history:    {type: ident, default: chat_fact_history, help: "Table of events."}
*/

-- step: show
-- result: History
select
    event_id, recorded_at, run_id, fact_id, agent_id, user_id, session_id, slot, event, reason, op,
    category, fact_key, fact_value, kind, source, confidence, observed_at, evidence, source_turn_id,
    before_category, before_key, before_value, before_kind, before_source, before_confidence, before_observed_at,
    after_category, after_key, after_value, after_kind, after_source, after_confidence, after_observed_at
from {{ history | ident }}
where ({{ agent_id }} is null or agent_id = {{ agent_id }})
  and ({{ user_id }} is null or user_id = {{ user_id }})
  and ({{ session_id }} is null or session_id in ('', {{ session_id }}))
  and ({{ category }} is null or category = {{ category }} or before_category = {{ category }})
  and ({{ event }} is null or event = {{ event }})
  and ({{ turn_ids }} is null or source_turn_id in (select unnest({{ turn_ids }}::bigint[])))
  and (
      {{ fact }} is null
      or (length({{ fact }}) >= 8 and starts_with(fact_id::varchar, lower({{ fact }})))
      or {{ fact }} in (category || '.' || fact_key, before_category || '.' || before_key, after_category || '.' || after_key)
  )
order by event_id;
