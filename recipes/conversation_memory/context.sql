/* recipe
name: conversation_memory/context
description: What the model should read before it answers - the facts, the turns that matter, the last turns.
params:
  query:      {type: text, default: null, help: "What the user asks now; earlier turns near it are added."}
  agent_id:   {type: text, default: default, help: "The bot."}
  user_id:    {type: text, default: default, help: "The person."}
  session_id: {type: text, default: default, help: "The conversation."}
  max_turns:  {type: int, default: 4, min: 0, help: "How many of the last turns to give word for word."}
  max_recalled: {type: int, default: 3, min: 0, help: "How many earlier turns near the query to add."}
  max_facts:  {type: int, default: 40, min: 0, help: "How many facts beside the rules."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
*/

{% include "conversation_memory/_context.sql" %}

-- step: show
-- result: Context
select context from assembled_context;
