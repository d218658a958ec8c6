{{ config(materialized="incremental", unique_key="turn_id", incremental_strategy="append") }}

-- What was said, once. A message keeps its turn_id whatever is loaded before or after it.
with messages as (
    select
        agent_id,
        user_id,
        session_id,
        message_id,
        case role when 'human' then 'user' when 'ai' then 'assistant' else role end as role,
        replace(content, chr(0), '') as content,
        created_at::timestamptz as created_at
    from {{ source("chat", "messages") }}
    where trim(content) <> ''
    qualify row_number() over (partition by agent_id, user_id, session_id, message_id order by created_at) = 1
)
select
    (hash(agent_id, user_id, session_id, message_id) >> 1)::bigint as turn_id,
    *
from messages
{% if is_incremental() %}
anti join {{ this }} as stored using (agent_id, user_id, session_id, message_id)
{% endif %}
