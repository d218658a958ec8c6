/* recipe
name: conversation_memory/ingest
description: Store one turn of a conversation. The thread exists as soon as a turn names it.
params:
  content:    {type: text, help: "What was said."}
  role:       {type: choice, choices: [user, assistant, system, tool, document, code], default: user, help: "Who said it."}
  agent_id:   {type: text, default: default, help: "The bot."}
  user_id:    {type: text, default: default, help: "The person."}
  session_id: {type: text, default: default, help: "The conversation; empty for what belongs to none."}
  created_at: {type: timestamp, default: null, help: "When it was said; now, if not given."}
  source_key: {type: text, default: null, help: "Your own id of the turn; storing it again adds nothing."}
  threads:    {type: ident, default: chat_threads, help: "Table of threads."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
*/

-- step: thread
insert into {{ threads | ident }} (agent_id, user_id, session_id, created_at)
values ({{ agent_id }}, {{ user_id }}, {{ session_id }}, coalesce({{ created_at }}::timestamptz, {{ run_started_at }}))
on conflict do nothing;

-- step: turn
-- Positions count from 1 within a conversation. A NUL character has no place in text and is removed.
create or replace temp table incoming as
select replace({{ content }}::varchar, chr(0), '') as content;

select if(trim(content) = '', error('the content of a turn is empty'), true) from incoming;

insert into {{ turns | ident }} (agent_id, user_id, session_id, position, role, content, created_at, source_key)
select
    {{ agent_id }}, {{ user_id }}, {{ session_id }},
    (
        select coalesce(max(t.position), 0) + 1
        from {{ turns | ident }} as t
        where t.agent_id = {{ agent_id }} and t.user_id = {{ user_id }} and t.session_id = {{ session_id }}
    ),
    {{ role }}, content, coalesce({{ created_at }}::timestamptz, {{ run_started_at }}), {{ source_key }}
from incoming
where not exists (
    from {{ turns | ident }} as t
    where t.agent_id = {{ agent_id }} and t.user_id = {{ user_id }} and t.session_id = {{ session_id }}
      and t.source_key = {{ source_key }}
);
