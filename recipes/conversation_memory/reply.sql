/* recipe
name: conversation_memory/reply
description: Answer the user from what is known - context, then GENERATE, then both turns are stored. Facts are extracted by the next run of conversation_memory/all.
params:
  message:    {type: text, help: "What the user says."}
  model:      {type: text, default: null, help: "Who answers; the setting llm, if not given."}
  system:     {type: text, default: "You are a helpful assistant. Use what is known about the user, follow their standing instructions, and answer in one or two sentences.", help: "What the bot is."}
  max_tokens: {type: int, default: 150, min: 1, help: "Longest answer in tokens."}
  agent_id:   {type: text, default: default, help: "The bot."}
  user_id:    {type: text, default: default, help: "The person."}
  session_id: {type: text, default: default, help: "The conversation."}
  context_tokens: {type: int, default: 1000, min: 1, help: "About how many tokens there is room for before the message."}
  max_turns:  {type: int, default: 4, min: 0, help: "How many of the last turns to give word for word."}
  max_recalled: {type: int, default: 15, min: 0, help: "How many earlier turns that matter to the message to add."}
  recall_from: {type: text, default: null, help: "Only earlier turns of this conversation; of all of the user's, if not given."}
  store:      {type: bool, default: true, help: "Keep the message and the reply as turns."}
  threads:    {type: ident, default: chat_threads, help: "Table of threads."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
  summaries:  {type: ident, default: chat_summaries, help: "Table of summaries."}
*/

-- step: message
create or replace temp table heard as
select trim(replace({{ message }}::varchar, chr(0), '')) as message;

select if(message = '', error('the message is empty'), true) from heard;

{% set query = message %}
{% set answered_by = model %}
{% include "conversation_memory/_context.sql" %}

-- step: answer
-- What is known and then the instruction are the system prompt, the message stays alone: a small model then answers it
-- instead of going on with the list.
create or replace temp table answer as
select generate(
    heard.message,
    {
        'model': {{ model }}, 'max_tokens': {{ max_tokens }},
        'system': if(c.context = '', '', c.context || E'\n\n') || {{ system }}::varchar
    }
) as reply
from heard
cross join assembled_context as c;

{% if store %}
-- step: store
insert into {{ threads | ident }} (agent_id, user_id, session_id, created_at)
values ({{ agent_id }}, {{ user_id }}, {{ session_id }}, {{ run_started_at }})
on conflict do nothing;

insert into {{ turns | ident }} (agent_id, user_id, session_id, position, role, content, created_at)
select {{ agent_id }}, {{ user_id }}, {{ session_id }}, last_position + nth, role, content, {{ run_started_at }} + to_microseconds(nth)
from (
    select 1 as nth, 'user' as role, message as content from heard
    union all
    select 2, 'assistant', reply from answer where trim(reply) <> ''
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
