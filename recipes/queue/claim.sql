/* recipe
name: queue/claim
description: Take the next turns to be read, for a worker. New ones before those that failed, the oldest first; what failed comes when its time has come.
params:
  most: {type: int, default: 64, min: 1, help: "At most so many."}
*/

-- step: next
create or replace temp table claimed as
with due as (
    select turn_id, attempts, alone, row_number() over (order by attempts, turn_id) as place
    from extraction_queue()
    where status = 'pending' or (status = 'waiting' and next_try_at <= {{ run_started_at }})
)
-- a turn with which a whole batch failed is tried by itself
select turn_id, attempts
from due
where place <= {{ most }} and (place = 1 or not (alone or (select alone from due where place = 1)));

-- step: claim
-- Written before the work begins: a turn that ends the process has been tried, too, and isn't tried for ever.
insert into chat_turn_attempts (turn_id, attempts, claimed_at)
select turn_id, 1, {{ run_started_at }} from claimed
on conflict do update set attempts = attempts + 1, claimed_at = excluded.claimed_at, next_try_at = null;

-- step: show
-- result: Claimed
select turn_id from claimed order by attempts, turn_id;
