/* recipe
name: beliefs/remember
description: Write a fact down word for word, without extraction. The same rules of trust hold; a refusal is an error.
params:
  value:       {type: text, help: "What to remember."}
  category:    {type: text, default: note, help: "dietary, budget, pet …"}
  fact_key:    {type: text, default: null, help: "The attribute; made from the words, if not given."}
  kind:        {type: choice, choices: [KNOWLEDGE, RULE, PREFERENCE], default: KNOWLEDGE, help: "RULE is always in the context, PREFERENCE when there is a choice."}
  source:      {type: choice, choices: [SYSTEM, USER, AGENT, TOOL, DOCUMENT, CODE], default: USER, help: "Who says so."}
  confidence:  {type: float, default: 1.0, min: 0, max: 1}
  agent_id:    {type: text, default: default, help: "The bot."}
  user_id:     {type: text, default: default, help: "The person it is about."}
  session_id:  {type: text, default: "", help: "The conversation it holds for; empty for all of them."}
  evidence:    {type: text, default: null, help: "The words that say so."}
  observed_at: {type: timestamp, default: null, help: "When it was said; now, if not given."}
  facts:       {type: ident, default: chat_facts, help: "Table of facts."}
  history:     {type: ident, default: chat_fact_history, help: "Table of events."}
*/

{% include "beliefs/_now.sql" %}

-- step: candidate
select if(trim({{ value }}) = '', error('the value of a fact is empty: say what to remember'), true);

-- A key made from the words: the first of them, and a mark of the rest when there is one.
create or replace temp table candidates as
with named as (
    select tidy({{ value }}) as value, snake_case({{ value }}) as words
)
select
    {{ agent_id }} as agent_id, {{ user_id }} as user_id, {{ session_id }} as session_id, {{ category }} as category,
    coalesce({{ fact_key }}, if(length(words) <= 60, words, left(words, 48) || '_' || left(md5(plain_form(value)), 8))) as fact_key,
    value as fact_value, {{ confidence }}::double as confidence, {{ kind }} as kind, 'assert' as op, {{ source }} as source,
    coalesce({{ observed_at }}::timestamptz, spoken_now) as observed_at, null::bigint as source_turn_id,
    {{ evidence }}::varchar as evidence, null::varchar as replaces
from named
cross join now_here;

{% set fact_scope = "session" %}
{% set whose = "person" %}
{% include "conversation_memory/_believe.sql" %}
{% include "beliefs/_refused.sql" %}
{% include "beliefs/_show_changed.sql" %}
