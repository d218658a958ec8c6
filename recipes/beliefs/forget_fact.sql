/* recipe
name: beliefs/forget_fact
description: Stop believing one fact. It leaves the fact table and stays in history; beliefs/forget erases it there too.
params:
  fact:        {type: text, help: "fact_id, its first eight letters, or category.key."}
  source:      {type: choice, choices: [SYSTEM, USER, AGENT, TOOL, DOCUMENT, CODE], default: USER, help: "Who says so."}
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
    {{ agent_id }} as agent_id, {{ user_id }} as user_id, session_id, category, fact_key,
    null::varchar as fact_value, 1.0::double as confidence, kind, 'retract' as op,
    {{ source }} as source, coalesce({{ observed_at }}::timestamptz, spoken_now) as observed_at,
    null::bigint as source_turn_id, {{ evidence }}::varchar as evidence, fact_id::varchar as replaces
from the_fact
cross join now_here;

{% set fact_scope = "session" %}
{% set whose = "person" %}
{% include "conversation_memory/_believe.sql" %}
{% include "beliefs/_refused.sql" %}
