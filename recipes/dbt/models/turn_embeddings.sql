{{ config(materialized="incremental", unique_key="turn_id", incremental_strategy="append") }}

select turn_id, agent_id, user_id, session_id, content, embed(content) as embedding
from {{ ref("turns") }}
{% if is_incremental() %}
anti join {{ this }} as embedded using (turn_id)
{% endif %}
