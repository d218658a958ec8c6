-- step: show
-- result: Fact
select fact_id, category, fact_key, fact_value, slot, kind, source, confidence, observed_at, session_id
from {{ facts | ident }}
where fact_id in (
    from (select fact_id, event_id from {{ history | ident }} where run_id = {{ run_id }} and reason is distinct from 'changed by hand')
    select arg_max(fact_id, event_id)
);
