/* recipe
name: conversation_memory/ingest_batch
description: Store the turns of several requests at once, each request whole. A request whose Idempotency-Key is known stores nothing.
params:
  source:   {type: ident, default: incoming_turns, help: "Table: request, nth (numbers), agent_id, user_id, session_id, role, content, created_at, source_key, idempotency_key, request_hash."}
  threads:  {type: ident, default: chat_threads, help: "Table of threads."}
  turns:    {type: ident, default: chat_turns, help: "Table of turns."}
*/

-- step: read
-- A NUL character has no place in text and is removed.
create or replace temp table incoming as
select
    request, nth, agent_id, user_id, session_id, role, replace(content, chr(0), '') as content,
    coalesce(created_at, {{ run_started_at }} + to_microseconds(nth)) as created_at, source_key, idempotency_key, request_hash
from {{ source | ident }};

select if(count(*) > 0, error('the content of a turn is empty'), true) from incoming where trim(content) = '';

-- step: seen_before
create or replace temp table repeated_requests as
select i.request, r.turn_ids, r.request_hash = i.request_hash as is_the_same
from (select distinct request, agent_id, user_id, idempotency_key, request_hash from incoming) as i
join recall_requests as r using (agent_id, user_id, idempotency_key);

-- Turns that are there under their source_key, or came twice under it.
create or replace temp table numbered as
with fresh as (
    select
        i.*, t.turn_id as known_id,
        first_value((i.request, i.nth)) over (
            partition by i.agent_id, i.user_id, i.session_id, coalesce(i.source_key, i.request || ' ' || i.nth), i.source_key is null
            order by i.request, i.nth
        ) as first_place
    from incoming as i
    anti join repeated_requests as r using (request)
    left join {{ turns | ident }} as t
        on t.agent_id = i.agent_id and t.user_id = i.user_id and t.session_id = i.session_id and t.source_key = i.source_key
),
new_ids as (
    select nextval('chat_turn_ids') as turn_id
    from fresh
    where known_id is null and first_place = (request, nth)
),
in_order as (
    select turn_id, row_number() over (order by turn_id) as place from new_ids
),
new_turns as (
    select request, nth, row_number() over (order by request, nth) as place
    from fresh
    where known_id is null and first_place = (request, nth)
)
select f.* exclude (first_place), coalesce(f.known_id, o.turn_id) as turn_id, f.first_place = (f.request, f.nth) and f.known_id is null as is_new
from fresh as f
left join new_turns as n on (n.request, n.nth) = f.first_place
left join in_order as o using (place);

-- step: thread
insert into {{ threads | ident }} (agent_id, user_id, session_id, created_at)
select agent_id, user_id, session_id, min(created_at)
from numbered
where is_new
group by agent_id, user_id, session_id
on conflict do nothing;

-- step: turns
insert into {{ turns | ident }} (turn_id, agent_id, user_id, session_id, position, role, content, created_at, source_key)
select
    n.turn_id, n.agent_id, n.user_id, n.session_id,
    coalesce(l.last_position, 0)
        + row_number() over (partition by n.agent_id, n.user_id, n.session_id order by n.request, n.nth),
    n.role, n.content, n.created_at, n.source_key
from numbered as n
left join (
    select agent_id, user_id, session_id, max(t.position) as last_position
    from {{ turns | ident }} as t
    semi join numbered using (agent_id, user_id, session_id)
    group by agent_id, user_id, session_id
) as l using (agent_id, user_id, session_id)
where n.is_new
order by n.turn_id;

-- step: remember_the_requests
insert into recall_requests (agent_id, user_id, idempotency_key, request_hash, turn_ids, created_at)
select agent_id, user_id, idempotency_key, request_hash, list(turn_id order by nth), {{ run_started_at }}
from numbered
where idempotency_key is not null
group by request, agent_id, user_id, idempotency_key, request_hash;

delete from recall_requests where created_at < {{ run_started_at }} - interval 1 day;

-- step: show
-- result: Stored
select request, nth, turn_id, if(is_new, 'stored', 'known') as outcome
from numbered
union all
select request, generate_subscripts(turn_ids, 1), unnest(turn_ids), if(is_the_same, 'repeated', 'conflict')
from repeated_requests
order by request, nth;
