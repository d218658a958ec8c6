/* recipe
name: conversation_memory/import
description: Lands the messages of a file, which `recall-sql import` has read into a temp table, as threads and turns.
params:
  source:        {type: ident, default: temp.imported_turns, help: "agent_id, user_id, session_id, role, content, created_at, source_key, title, ordinal."}
  turns_table:   {type: ident, default: chat_turns}
  threads_table: {type: ident, default: chat_threads}
*/

-- step: new_turns
-- A message that was imported before is known by its source key within its thread, and is left alone.
create or replace temp table import_new_turns as
with once as (
    select agent_id, user_id, session_id, role, content, created_at, source_key, ordinal
    from {{ source | ident }}
    qualify row_number() over (partition by agent_id, user_id, session_id, source_key order by ordinal) = 1
)
from once
anti join {{ turns_table | ident }} as stored using (agent_id, user_id, session_id, source_key);

-- step: same_hours
-- Messages that are all there already, word for word and off by the same hours, were read with another --timezone.
with shifts as (
    select
        count(distinct new.source_key || new.session_id) as messages,
        (epoch(new.created_at) - epoch(stored.created_at)) / 3600 as hours
    from import_new_turns as new
    join {{ turns_table | ident }} as stored using (agent_id, user_id, session_id, role, content)
    where new.source_key is not null and stored.source_key is not null
    group by hours
)
select if(
    messages = (select count(distinct source_key || session_id) from import_new_turns),
    error(printf(
        'the %d messages are there already, %g hours %s: is it another --timezone than the last time? If they were said again, give another --session-id',
        messages, abs(hours), if(hours > 0, 'earlier', 'later')
    )),
    true
)
from shifts
where messages >= 3 and hours <> 0 and abs(hours) <= 26 and hours * 4 = round(hours * 4);

-- step: threads
-- A thread begins with its first message; a title in the file becomes the thread's.
merge into {{ threads_table | ident }} as thread
using (
    select agent_id, user_id, session_id, arg_max(title, ordinal) as title, min(created_at) as created_at
    from {{ source | ident }}
    group by all
) as named
using (agent_id, user_id, session_id)
when matched and named.title is not null and named.title is distinct from thread.title
    then update set title = named.title
when not matched
    then insert (agent_id, user_id, session_id, title, created_at)
    values (named.agent_id, named.user_id, named.session_id, named.title, named.created_at);

-- step: turns
-- Positions go on from the last turn of the thread.
insert into {{ turns_table | ident }} (agent_id, user_id, session_id, position, role, content, created_at, source_key)
with last_positions as (
    select agent_id, user_id, session_id, max(position) as last_position
    from {{ turns_table | ident }}
    group by all
)
select
    agent_id,
    user_id,
    session_id,
    coalesce(last_position, 0) + row_number() over (partition by agent_id, user_id, session_id order by ordinal),
    role,
    content,
    created_at,
    source_key
from import_new_turns
left join last_positions using (agent_id, user_id, session_id)
order by ordinal;

-- step: counts
-- result: Imported
select added, threads, messages - added as already_there
from (select count(*) as added from import_new_turns)
cross join (
    select count(*) as messages, count(distinct (agent_id, user_id, session_id)) as threads
    from {{ source | ident }}
);

-- step: tidy
drop table import_new_turns;
