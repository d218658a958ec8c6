-- step: now
-- What is written now is said after everything heard so far, also where another transaction's clock was a little ahead.
create or replace temp table now_here as
select greatest(current_timestamp, max(observed_at) + interval 1 microsecond) as spoken_now
from {{ facts | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and observed_at < current_timestamp + interval 1 minute;
