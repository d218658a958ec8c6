/* recipe
name: beliefs/facts
description: What is believed now, or was at a moment, every column but the vector.
params:
  as_of:      {type: timestamp, default: null, help: "The moment; now, if not given."}
  agent_id:   {type: text, default: null, help: "Only what this bot believes."}
  user_id:    {type: text, default: null, help: "Only what is believed about this person."}
  session_id: {type: text, default: null, help: "Only what holds in this conversation, its own facts and those that hold everywhere."}
  category:   {type: text, default: null, help: "dietary, budget, pet …"}
  kind:       {type: choice, choices: [KNOWLEDGE, RULE, PREFERENCE], default: null, help: "Only facts of this kind."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  history:    {type: text, default: chat_fact_history, help: "Table of events."}
*/

-- step: show
-- result: Facts
select
    fact_id, agent_id, user_id, session_id, category, fact_key, fact_value, slot, kind, source, confidence, observed_at,
    updated_at, source_turn_id, evidence
{% if as_of is none %}
from {{ facts | ident }}
{% else %}
from facts_as_of({{ as_of }}::timestamptz, history := {{ history }})
{% endif %}
where ({{ agent_id }} is null or agent_id = {{ agent_id }})
  and ({{ user_id }} is null or user_id = {{ user_id }})
  and ({{ session_id }} is null or session_id in ('', {{ session_id }}))
  and ({{ category }} is null or category = {{ category }})
  and ({{ kind }} is null or kind = {{ kind }})
order by agent_id, user_id, session_id, kind = 'RULE' desc, category, fact_key;
