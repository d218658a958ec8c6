/* recipe
name: beliefs/messages
description: Read a conversation back - its original messages in order.
params:
  session_id: {type: text, help: "The conversation."}
  agent_id:   {type: text, default: default, help: "The bot."}
  user_id:    {type: text, default: default, help: "The person."}
  after:      {type: int, default: 0, help: "Only messages behind this position."}
  most:       {type: int, default: null, min: 0, help: "At most so many."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
*/

-- step: show
-- result: Messages
select turn_id, position, role, content, created_at, source_key
from {{ turns | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }}
  and position > {{ after }}
order by position, turn_id
limit {{ most }};
