/* recipe
name: beliefs/open_thread
description: Begin a conversation before its first turn. One that is there stays as it is.
params:
  session_id: {type: text, help: "The conversation."}
  title:      {type: text, default: null, help: "A name for people."}
  agent_id:   {type: text, default: default, help: "The bot."}
  user_id:    {type: text, default: default, help: "The person."}
  threads:    {type: ident, default: chat_threads, help: "Table of threads."}
*/

-- step: open
create or replace temp table opened as
select count(*) = 0 as is_new
from {{ threads | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }};

insert into {{ threads | ident }} (agent_id, user_id, session_id, title, created_at)
values ({{ agent_id }}, {{ user_id }}, {{ session_id }}, tidy({{ title }}::varchar), {{ run_started_at }})
on conflict do nothing;

-- step: show
-- result: Opened
select is_new from opened;
