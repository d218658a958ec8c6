/* recipe
name: conversation_memory/reply
description: Answer the user from what is known - context, then GENERATE, then both turns are stored.
params:
  message:    {type: text, help: "What the user says."}
  model:      {type: text, default: null, help: "Who answers; the setting llm, if not given."}
  system:     {type: text, default: "You are a helpful assistant. Use what is known about the user, follow their standing instructions, and answer briefly.", help: "What the bot is."}
  max_tokens: {type: int, default: 200, min: 1, help: "Longest answer in tokens."}
  agent_id:   {type: text, default: default, help: "The bot."}
  user_id:    {type: text, default: default, help: "The person."}
  session_id: {type: text, default: default, help: "The conversation."}
  max_turns:  {type: int, default: 4, min: 0, help: "How many of the last turns to give word for word."}
  max_recalled: {type: int, default: 3, min: 0, help: "How many earlier turns near the message to add."}
  max_facts:  {type: int, default: 40, min: 0, help: "How many facts beside the rules."}
  store:      {type: bool, default: true, help: "Keep the message and the reply as turns."}
  threads:    {type: ident, default: chat_threads, help: "Table of threads."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
*/

{% set query = message %}
{% include "conversation_memory/_context.sql" %}

-- step: answer
create or replace temp table answer as
select generate(
    context || E'\n\nThe user now says: ' || {{ message }} || E'\n\nAnswer the user, respecting what is known.',
    {'model': {{ model }}, 'system': {{ system }}, 'max_tokens': {{ max_tokens }}}
) as reply
from assembled_context;

{% if store %}
-- step: store
insert into {{ threads | ident }} (agent_id, user_id, session_id, created_at)
values ({{ agent_id }}, {{ user_id }}, {{ session_id }}, {{ run_started_at }})
on conflict do nothing;

insert into {{ turns | ident }} (agent_id, user_id, session_id, position, role, content, created_at)
select {{ agent_id }}, {{ user_id }}, {{ session_id }}, last_position + nth, role, content, {{ run_started_at }} + to_microseconds(nth)
from (
    select 1 as nth, 'user' as role, {{ message }} as content
    union all
    select 2, 'assistant', reply from answer
)
cross join (
    select coalesce(max(t.position), 0) as last_position
    from {{ turns | ident }} as t
    where t.agent_id = {{ agent_id }} and t.user_id = {{ user_id }} and t.session_id = {{ session_id }}
)
order by nth;
{% endif %}

-- step: show
-- result: Reply
select reply from answer;
