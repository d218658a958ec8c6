/* recipe
name: conversation_memory/cleanup
description: Remove one conversation - its turns, what was read from them, the facts and events that hold only there, its summary.
params:
  session_id: {type: text, help: "The conversation."}
  agent_id:   {type: text, default: default, help: "The bot."}
  user_id:    {type: text, default: default, help: "The person."}
  threads:    {type: ident, default: chat_threads, help: "Table of threads."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
  payloads:   {type: ident, default: chat_fact_payloads, help: "Table of raw answers."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  history:    {type: ident, default: chat_fact_history, help: "Table of events."}
  summaries:  {type: ident, default: chat_summaries, help: "Table of summaries."}
*/

-- step: check
-- The empty session holds what is visible from every conversation; it is not one to be cleaned up by accident.
select if({{ session_id }} = '', error('session_id is empty: name the conversation to remove'), true);

-- step: remove
delete from {{ payloads | ident }}
where turn_id in (
    select turn_id from {{ turns | ident }}
    where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }}
);

delete from {{ turns | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }};

delete from {{ facts | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }};

delete from {{ history | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }};

delete from {{ summaries | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }};

delete from {{ threads | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }};

-- step: report
-- result: Left
select
    (select count(*) from {{ turns | ident }}) as turns,
    (select count(*) from {{ facts | ident }}) as facts;
