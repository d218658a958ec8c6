/* recipe
name: beliefs/update_fact
description: Give one belief a new value. The same rules of trust hold; a refusal is an error.
params:
  fact:        {type: text, help: "fact_id, its first eight letters, or category.key."}
  value:       {type: text, help: "The new value."}
  fact_key:    {type: text, default: null, help: "A new key, if it changes too."}
  kind:        {type: choice, choices: [KNOWLEDGE, RULE, PREFERENCE], default: null, help: "As it was, if not given."}
  source:      {type: choice, choices: [SYSTEM, USER, AGENT, TOOL, DOCUMENT, CODE], default: USER, help: "Who says so."}
  confidence:  {type: float, default: 1.0, min: 0, max: 1}
  agent_id:    {type: text, default: default, help: "The bot."}
  user_id:     {type: text, default: default, help: "The person it is about."}
  session_id:  {type: text, default: null, help: "The conversation it holds for, where the key alone doesn't tell."}
  evidence:    {type: text, default: null, help: "The words that say so."}
  observed_at: {type: timestamp, default: null, help: "When it was said; now, if not given."}
  facts:       {type: ident, default: chat_facts, help: "Table of facts."}
  history:     {type: ident, default: chat_fact_history, help: "Table of events."}
*/

{% include "beliefs/_the_fact.sql" %}

{% include "beliefs/_now.sql" %}

-- step: candidate
create or replace temp table candidates as
select
    {{ agent_id }} as agent_id, {{ user_id }} as user_id, session_id, category,
    coalesce({{ fact_key }}, fact_key) as fact_key,
    {{ value }} as fact_value, {{ confidence }}::double as confidence, coalesce({{ kind }}, kind) as kind, 'assert' as op,
    {{ source }} as source, coalesce({{ observed_at }}::timestamptz, spoken_now) as observed_at,
    null::bigint as source_turn_id, {{ evidence }}::varchar as evidence, fact_id::varchar as replaces
from the_fact
cross join now_here;

{% set fact_scope = "session" %}
{% set whose = "person" %}
{% include "conversation_memory/_believe.sql" %}
{% include "beliefs/_refused.sql" %}
{% include "beliefs/_show_changed.sql" %}
