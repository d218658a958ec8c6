{{ config(materialized="incremental", unique_key="turn_id", incremental_strategy="append") }}

-- What the extractor answered for each turn, as it came. A turn is read once; an answer that was paid for is remembered
-- even when this model fails.
with pending as (
    select turn_id, agent_id, user_id, session_id, content, created_at
    from {{ ref("turns") }} as t
    where role in ('{{ var("roles") | join("', '") }}')
    {% if is_incremental() %}
      and not exists (from {{ this }} as r where r.turn_id = t.turn_id)
    {% endif %}
),
held as (
    select
        s.agent_id, s.user_id, s.session_id,
        list({'alias': left(f.fact_id::varchar, 8), 'category': f.category, 'fact_key': f.fact_key, 'fact_value': f.fact_value}
            order by f.category, f.fact_key) as known
    from (select distinct agent_id, user_id, session_id from pending) as s
    join {{ facts_held() }} as f
        on f.agent_id = s.agent_id and f.user_id = s.user_id and f.session_id in ('', s.session_id)
    group by all
),
said_before as (
    select p.turn_id, list({'role': b.role, 'content': b.content} order by b.created_at)[-4:] as context
    from pending as p
    join {{ ref("turns") }} as b using (agent_id, user_id, session_id)
    where b.created_at < p.created_at
      and ({{ "true" if var("model") else "(select value from recall_settings() where name = 'extractor')" }} <> 'rules'
           or looks_like_correction(p.content))
    group by p.turn_id
)
select
    p.turn_id,
    to_json(extract_facts(p.content, {
        'model': {{ "'" ~ var("model") ~ "'" if var("model") else "null" }},
        'known': case when b.context is not null then h.known end,
        'context': b.context,
        'now': p.created_at
    }))::varchar as payload,
    current_timestamp as extracted_at
from pending as p
left join said_before as b using (turn_id)
left join held as h using (agent_id, user_id, session_id)
