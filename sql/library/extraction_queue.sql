-- Every turn whose facts are to be extracted, and how far that has come.
--
--   select status, count(*) from extraction_queue() group by status;
--
-- status: pending (nobody has tried), running (a worker reads it), waiting (failed; tried again at next_try_at), failed
-- (given up, see last_error), read (the answer is kept and hasn't met the beliefs yet), done.
-- Nothing is enqueued: a turn is pending because it is there and has no answer, so the queue can't disagree with the turns.
create or replace macro recall_sql.main.extraction_queue(
    turns := 'chat_turns', payloads := 'chat_fact_payloads', roles := ['user']
) as table
select
    t.turn_id, t.agent_id, t.user_id, t.session_id, t.position, t.created_at,
    case
        when p.landed then 'done'
        when p.turn_id is not null then 'read'
        when a.turn_id is null then 'pending'
        when a.claimed_at is not null then 'running'
        when a.next_try_at is not null then 'waiting'
        else 'failed'
    end as status,
    coalesce(a.attempts, 0) as attempts, a.last_error, a.next_try_at, coalesce(a.alone, false) as alone
from query_table(turns) as t
left join query_table(payloads) as p on p.turn_id = t.turn_id
left join chat_turn_attempts as a on a.turn_id = t.turn_id
where list_contains(roles, t.role);
