/* recipe
name: conversation_memory/context
description: What the model should read before it answers - rules, facts, summary, the turns that matter, the last turns.
params:
  query:      {type: text, default: null, help: "What the user asks now; earlier turns that matter to it are added."}
  agent_id:   {type: text, default: default, help: "The bot."}
  user_id:    {type: text, default: default, help: "The person."}
  session_id: {type: text, default: default, help: "The conversation."}
  context_tokens: {type: int, default: 1000, min: 1, help: "About how many tokens there is room for, counted by the setting tokenizer, else at four bytes a token."}
  max_turns:  {type: int, default: 4, min: 0, help: "How many of the last turns to give word for word."}
  max_recalled: {type: int, default: 15, min: 0, help: "How many earlier turns that matter to the query to add."}
  recall_from: {type: text, default: null, help: "Only earlier turns of this conversation; of all of the user's, if not given."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
  summaries:  {type: ident, default: chat_summaries, help: "Table of summaries."}
*/

{% include "conversation_memory/_context.sql" %}

-- step: show
-- result: Context
select context from assembled_context;

-- result: Messages
select role, content from context_messages order by place;

-- result: Why
select reason, line, tokens, kept from context_lines order by place;
