{{ config(materialized="view") }}

-- What is believed now, for people and dashboards: without vectors.
select
    fact_id, agent_id, user_id, session_id, category, fact_key, fact_value, slot, kind, source, confidence,
    observed_at, updated_at, source_turn_id, evidence
from {{ ref("facts") }}
