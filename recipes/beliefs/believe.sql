/* recipe
name: beliefs/believe
description: Let a table of typed candidates meet what is believed. For facts that come from elsewhere than a conversation.
params:
  source:     {type: ident, default: new_candidates, help: "Table of candidates: user_id, category, fact_key, fact_value, source, observed_at, and any of agent_id, session_id, confidence, kind, op, source_turn_id, evidence, replaces."}
  fact_scope: {type: choice, choices: [auto, session, user], default: auto, help: "Where facts hold; auto asks the vocabulary."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  history:    {type: ident, default: chat_fact_history, help: "Table of events."}
*/

-- step: candidates
-- Columns the table doesn't have are empty.
create or replace temp table candidates as
with shape as (
    select
        null::varchar as agent_id, null::varchar as user_id, null::varchar as session_id,
        null::varchar as category, null::varchar as fact_key, null::varchar as fact_value, null::double as confidence,
        null::varchar as kind, null::varchar as op, null::varchar as source, null::timestamptz as observed_at,
        null::bigint as source_turn_id, null::varchar as evidence, null::varchar as replaces
    limit 0
),
given as (
    from shape
    union all by name
    from {{ source | ident }}
)
select
    coalesce(agent_id, 'default') as agent_id, coalesce(user_id, 'default') as user_id, coalesce(session_id, '') as session_id,
    category, fact_key, fact_value, confidence, kind, op, source, observed_at, source_turn_id, evidence, replaces
from given;

{% set whose = "everyone" %}
{% include "conversation_memory/_believe.sql" %}

-- step: report
-- result: What changed
select event, count(*) as times
from {{ history | ident }}
where run_id = {{ run_id }}
group by event
order by times desc, event;
