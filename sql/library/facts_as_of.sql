-- What was believed at a moment, as the fact table held it then: the last event of each fact up to there.
--
--   from facts_as_of(timestamptz '2026-03-01 12:00+00') where user_id = 'u1';
--
-- The moment is when the table changed (recorded_at), not when things were said.
create or replace macro recall_sql.main.facts_as_of(moment, history := 'chat_fact_history') as table
with last_events as (
    select
        fact_id, agent_id, user_id, session_id, after_category, after_key, after_value, slot, after_kind, after_source,
        after_confidence, after_observed_at, recorded_at, after_turn_id, after_evidence
    from query_table(history)
    where fact_id is not null and recorded_at <= moment::timestamptz
    qualify row_number() over (partition by fact_id order by event_id desc) = 1
),
last_changes as (
    select fact_id, max(recorded_at) as updated_at
    from query_table(history)
    where fact_id is not null and recorded_at <= moment::timestamptz
      and (before_category, before_key, before_value, before_kind, before_source, before_confidence, before_observed_at, before_turn_id)
        is distinct from
        (after_category, after_key, after_value, after_kind, after_source, after_confidence, after_observed_at, after_turn_id)
    group by fact_id
)
select
    fact_id, agent_id, user_id, session_id, after_category as category, after_key as fact_key, after_value as fact_value,
    slot, after_kind as kind, after_source as source, after_confidence as confidence, after_observed_at as observed_at,
    updated_at, after_turn_id as source_turn_id, after_evidence as evidence
from last_events
join last_changes using (fact_id)
where after_category is not null;
