{{ config(materialized="beliefs") }}

-- Candidates: one row per fact that was said and that history hasn't heard. What becomes of them is the materialization's.
select
    t.agent_id, t.user_id, t.session_id,
    said.category, said.fact_key, said.fact_value, said.confidence, said.kind, said.op,
    case t.role when 'assistant' then 'AGENT' else upper(t.role) end as source,
    t.created_at as observed_at,
    t.turn_id as source_turn_id,
    said.evidence, said.replaces
from (
    select turn_id, unnest(parse_facts(payload)) as said
    from {{ ref("raw_facts") }}
)
join {{ ref("turns") }} as t using (turn_id)
{% if load_cached_relation(this) is not none and not should_full_refresh() %}
anti join {{ history_of(this) }} as heard on heard.source_turn_id = t.turn_id
{% endif %}
