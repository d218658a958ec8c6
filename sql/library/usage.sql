-- What models were asked for, what that took, and what was saved, per function and model.
--
--   from recall_usage();
--   from recall_usage(since := now() - interval 1 day);
--
-- rows: that wanted an answer. Of these, saved_by_dedupe were equal to another row of their chunk, and for
-- saved_by_memo distinct inputs the answer was known. calls: requests sent, each retry counted. cost_usd is null where a
-- price isn't known. Latencies are those of answered requests.
create or replace macro recall_sql.main.recall_usage(
    since := null, asked_table := 'recall_asked', calls_table := 'recall_calls'
) as table
with asked as (
    select
        function, model,
        sum(rows)::bigint as rows, sum(repeated)::bigint as saved_by_dedupe, sum(remembered)::bigint as saved_by_memo
    from query_table(asked_table)
    where since is null or asked_at >= since::timestamptz
    group by function, model
),
called as (
    select
        function, model,
        count(*) as calls, count(*) filter (status <> 'ok') as errors,
        sum(tokens_in)::bigint as tokens_in, sum(tokens_cached)::bigint as tokens_cached,
        sum(tokens_out)::bigint as tokens_out,
        -- one call of unknown price makes the sum unknown; one that failed before it was counted doesn't
        case when bool_or(cost_usd is null and status in ('ok', 'invalid')) then null else coalesce(sum(cost_usd), 0) end
            as cost_usd,
        quantile_cont(latency_ms, 0.5) filter (status in ('ok', 'invalid')) as p50_ms,
        quantile_cont(latency_ms, 0.95) filter (status in ('ok', 'invalid')) as p95_ms
    from query_table(calls_table)
    where since is null or called_at >= since::timestamptz
    group by function, model
)
select
    function, model,
    coalesce(asked.rows, 0) as rows,
    coalesce(called.calls, 0) as calls,
    coalesce(asked.saved_by_dedupe, 0) as saved_by_dedupe,
    coalesce(asked.saved_by_memo, 0) as saved_by_memo,
    called.tokens_in, called.tokens_cached, called.tokens_out,
    case when called.calls is null then 0 else called.cost_usd end as cost_usd,
    called.p50_ms, called.p95_ms,
    coalesce(called.errors, 0) as errors
from asked
full join called using (function, model)
order by function, model;
