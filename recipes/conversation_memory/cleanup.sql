/* recipe
name: conversation_memory/cleanup
description: Remove one conversation - its turns, what was read from them, the facts and events that come from it, its summary.
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

-- step: what
create or replace temp table forgotten_threads as
select {{ agent_id }} as agent_id, {{ user_id }} as user_id, {{ session_id }} as session_id, true as whole;

create or replace temp table forgotten_turns as
select turn_id from {{ turns | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }};

create or replace temp table forgotten_facts as
select fact_id from {{ facts | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }}
  and (session_id = {{ session_id }} or source_turn_id in (from forgotten_turns));

create or replace temp table forgotten_events as
select event_id from {{ history | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }}
  and (session_id = {{ session_id }} or source_turn_id in (from forgotten_turns) or fact_id in (from forgotten_facts));

{% include "conversation_memory/_forget.sql" %}

-- step: report
-- result: Left
select
    (select count(*) from {{ turns | ident }}) as turns,
    (select count(*) from {{ facts | ident }}) as facts;
