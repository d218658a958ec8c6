/* recipe
name: queue/requeue
description: Give back turns that a worker claimed and nobody has read. Each time they wait four times as long, an hour at most, until they are given up.
params:
  turn_ids:      {type: list, default: null, help: "Only these; all that are claimed, if not given, as after a crash."}
  error:         {type: text, help: "Why they were not read."}
  alone:         {type: bool, default: null, help: "Try each by itself next time, since the whole batch failed; those that failed before, if not given."}
  untried:       {type: bool, default: false, help: "The try doesn't count, and they are due at once: the worker was told to stop."}
  wait_seconds:  {type: float, default: 5, min: 0, help: "How long they wait after the first try."}
  give_up_after: {type: int, default: 8, min: 1, help: "Tries after which they are left alone; conversation_memory/extract tries them all the same."}
*/

-- step: requeue
update chat_turn_attempts
set attempts = attempts - {{ untried }}::integer,
    claimed_at = null,
    alone = coalesce({{ alone }}, attempts > 1),
    last_error = {{ error }},
    next_try_at = case
        when {{ untried }} then {{ run_started_at }}
        when attempts < {{ give_up_after }}
            then {{ run_started_at }} + to_milliseconds((1000 * least(3600, {{ wait_seconds }} * pow(4, attempts - 1)))::bigint)
    end
where claimed_at is not null
  and ({{ turn_ids }} is null or turn_id in (select unnest({{ turn_ids }}::bigint[])));

-- step: show
-- result: Requeued
select turn_id, attempts, next_try_at
from chat_turn_attempts
where claimed_at is null and last_error = {{ error }}
  and ({{ turn_ids }} is null or turn_id in (select unnest({{ turn_ids }}::bigint[])))
order by turn_id;
