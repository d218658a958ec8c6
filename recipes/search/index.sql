/* recipe
name: search/index
description: Bring the words of new and changed turns into the search tables. Search sees them without it; with it, it needn't read them again.
params:
  turns:    {type: ident, default: chat_turns, help: "Table of turns."}
  postings: {type: ident, default: search_postings, help: "Table of which word occurs where."}
  indexed:  {type: ident, default: search_turns, help: "Table of what has been read."}
*/

-- step: find
-- What has been said or changed since, and what is gone.
create or replace temp table unread_turns as
select t.turn_id, t.agent_id, t.user_id, t.session_id, t.position, t.content, t.created_at
from {{ turns | ident }} as t
anti join {{ indexed | ident }} as i on i.turn_id = t.turn_id and i.text_hash = hash(t.content, t.created_at::timestamptz);

create or replace temp table outdated_turns as
select i.turn_id, u.turn_id is null as gone
from {{ indexed | ident }} as i
left join unread_turns as u using (turn_id)
anti join (select t.turn_id from {{ turns | ident }} as t anti join unread_turns using (turn_id)) as current using (turn_id);

-- step: forget
delete from {{ postings | ident }} where turn_id in (select turn_id from outdated_turns);

delete from {{ indexed | ident }} where turn_id in (select turn_id from outdated_turns where gone);

-- step: read
create or replace temp table words_said as
select turn_id, unnest(search_tokens(search_text(content, created_at::timestamptz))) as term
from unread_turns;

insert into {{ postings | ident }} (term, turn_id, tf)
select term, turn_id, count(*)
from words_said
group by all
order by term, turn_id;

insert or replace into {{ indexed | ident }} (turn_id, text_hash, length, window_length)
select u.turn_id, hash(u.content, u.created_at::timestamptz), count(w.term), count(w.term)
from unread_turns as u
left join words_said as w using (turn_id)
group by all
order by u.turn_id;

-- step: neighbours
-- The turns that are new, and those up to two before and after them, have a new window.
create or replace temp table touched_turns as
select distinct t.turn_id, t.agent_id, t.user_id, t.session_id, t.position
from unread_turns as u
join {{ turns | ident }} as t
    on t.agent_id = u.agent_id and t.user_id = u.user_id and t.session_id = u.session_id
    and t.position between u.position - 2 and u.position + 2;

update {{ indexed | ident }} as i
set window_length = windows.length
from (
    select t.turn_id, sum(near.length * pow(0.5, abs(t.position - n.position))) as length
    from touched_turns as t
    join {{ turns | ident }} as n
        on n.agent_id = t.agent_id and n.user_id = t.user_id and n.session_id = t.session_id
        and n.position between t.position - 2 and t.position + 2
    join {{ indexed | ident }} as near on near.turn_id = n.turn_id
    group by t.turn_id
) as windows
where windows.turn_id = i.turn_id;

-- step: report
-- result: Indexed
select (select count(*) from unread_turns) as turns_read, (select count(*) from outdated_turns) as turns_forgotten;
