/* recipe
name: beliefs/title_thread
description: Give a conversation a name for people.
params:
  title:      {type: text, help: "The name; empty to take it away."}
  session_id: {type: text, help: "The conversation."}
  agent_id:   {type: text, default: default, help: "The bot."}
  user_id:    {type: text, default: default, help: "The person."}
  threads:    {type: ident, default: chat_threads, help: "Table of threads."}
*/

-- step: check
select if(count(*) = 0, error('there is no thread ' || {{ session_id }} || ' of this user'), true)
from {{ threads | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }};

-- step: title
update {{ threads | ident }}
set title = tidy({{ title }})
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }};
