/* recipe
name: beliefs/forget
description: Erase a person, a bot's memory, a conversation, a fact, or what is older than a moment - turns, facts, vectors, history, summaries, what models answered about them. Compact the file afterwards.
params:
  user_id:    {type: text, default: null, secret: true, help: "Everything about this person."}
  agent_id:   {type: text, default: null, secret: true, help: "Everything of this bot; with user_id, of this bot about this person."}
  session_id: {type: text, default: null, secret: true, help: "Everything from this conversation."}
  fact:       {type: text, default: null, secret: true, help: "This fact - fact_id, its first eight letters, or (with user_id) category.key."}
  before:     {type: timestamp, default: null, help: "What was said before; with an id, of that alone."}
  with_turns: {type: bool, default: false, help: "With fact: the turns that state it, too."}
  threads:    {type: ident, default: chat_threads, help: "Table of threads."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
  payloads:   {type: ident, default: chat_fact_payloads, help: "Table of raw answers."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  history:    {type: ident, default: chat_fact_history, help: "Table of events."}
  summaries:  {type: ident, default: chat_summaries, help: "Table of summaries."}
*/

-- step: check
-- An empty scope is a mistake of the caller's, never everybody.
select
    case
        when trim(coalesce({{ user_id }}, 'x')) = '' then error('user_id is empty; nothing was forgotten')
        when trim(coalesce({{ agent_id }}, 'x')) = '' then error('agent_id is empty; nothing was forgotten')
        when trim(coalesce({{ session_id }}, 'x')) = '' then error('session_id is empty; nothing was forgotten')
        when trim(coalesce({{ fact }}, 'x')) = '' then error('fact is empty; nothing was forgotten')
        when coalesce({{ user_id }}, {{ agent_id }}, {{ session_id }}, {{ fact }}, {{ before }}::timestamptz::varchar) is null
            then error('nothing was named (user_id, agent_id, session_id, fact or before); nothing was forgotten')
    end;

-- step: what
create or replace temp table forgotten_threads as
select agent_id, user_id, session_id, {{ fact }} is null and {{ before }}::timestamptz is null as whole
from (
    select agent_id, user_id, session_id from {{ threads | ident }}
    union
    select agent_id, user_id, session_id from {{ turns | ident }}
    union
    select agent_id, user_id, session_id from {{ facts | ident }}
    union
    select agent_id, user_id, session_id from {{ history | ident }}
    union
    select agent_id, user_id, session_id from {{ summaries | ident }}
)
where ({{ user_id }} is null or user_id = {{ user_id }})
  and ({{ agent_id }} is null or agent_id = {{ agent_id }});

-- one name of a conversation may be used by several people
select if(
    {{ session_id }} is not null and {{ user_id }} is null and count(distinct (agent_id, user_id)) > 1,
    error('the session belongs to several users; name the user_id, too. Nothing was forgotten'), true
)
from forgotten_threads
where session_id = {{ session_id }};

create or replace temp table forgotten_turns as
select turn_id
from {{ turns | ident }}
semi join forgotten_threads using (agent_id, user_id, session_id)
where {{ fact }} is null
  and ({{ session_id }} is null or session_id = {{ session_id }})
  and ({{ before }}::timestamptz is null or created_at < {{ before }}::timestamptz);

create or replace temp table forgotten_facts as
select fact_id
from {{ facts | ident }}
semi join forgotten_threads using (agent_id, user_id, session_id)
where (
      {{ fact }} is null
      or (length({{ fact }}) >= 8 and starts_with(fact_id::varchar, lower({{ fact }})))
      or ({{ user_id }} is not null and category || '.' || fact_key = {{ fact }})
  )
  and ({{ session_id }} is null or session_id = {{ session_id }} or source_turn_id in (from forgotten_turns))
  and ({{ before }}::timestamptz is null or observed_at < {{ before }}::timestamptz)
{% if fact is not none %}
union
select fact_id
from {{ history | ident }}
semi join forgotten_threads using (agent_id, user_id, session_id)
where (length({{ fact }}) >= 8 and starts_with(fact_id::varchar, lower({{ fact }})))
   or ({{ user_id }} is not null and {{ fact }} in (before_category || '.' || before_key, after_category || '.' || after_key))
{% endif %};

create or replace temp table forgotten_events as
select event_id
from {{ history | ident }}
semi join forgotten_threads using (agent_id, user_id, session_id)
where coalesce(fact_id in (from forgotten_facts), false)
   or (
      {{ fact }} is null
      and ({{ session_id }} is null or session_id = {{ session_id }} or source_turn_id in (from forgotten_turns))
      and ({{ before }}::timestamptz is null or observed_at < {{ before }}::timestamptz)
  );

{% if fact is not none %}
-- step: the_turns_behind_the_fact
-- What was read from them goes in any case, so that it isn't believed again.
select if(count(*) = 0, error('there is no such fact; nothing was forgotten'), true) from forgotten_facts;

create or replace temp table turns_behind as
select distinct source_turn_id as turn_id
from {{ history | ident }}
where event_id in (from forgotten_events) and source_turn_id is not null;

update {{ payloads | ident }} set payload = '[]', landed = true where turn_id in (from turns_behind);

delete from forgotten_threads
where (agent_id, user_id, session_id) not in (
    select (agent_id, user_id, session_id) from {{ turns | ident }} semi join turns_behind using (turn_id)
);

{% if with_turns %}
insert into forgotten_turns from turns_behind;
{% endif %}
{% endif %}

{% if session_id is not none %}
delete from forgotten_threads where session_id <> {{ session_id }};
{% endif %}

-- step: report
create or replace temp table forgotten_counts as
select
    (select count(*) from forgotten_turns) as turns,
    (select count(*) from forgotten_facts) as facts,
    (select count(*) from forgotten_events) as events,
    (select count(*) from forgotten_threads where whole) as threads;

{% include "conversation_memory/_forget.sql" %}

-- step: keys
-- Keys of a person who is forgotten open nothing any more. Their rows stay, nameless, so that the door stays closed.
update recall_keys
set user_id = '(forgotten)', label = null, revoked_at = coalesce(revoked_at, {{ run_started_at }})
where user_id = {{ user_id }} and ({{ agent_id }} is null or agent_id = {{ agent_id }})
  and {{ session_id }} is null and {{ fact }} is null and {{ before }}::timestamptz is null;

-- step: store
-- What programs keep of somebody, and the vectors of it.
create or replace temp table forgotten_items as
select agent_id, user_id, namespace, item_key, recall_input_hash(words) as input_hash
from store_items
where ({{ user_id }} is null or user_id = {{ user_id }})
  and ({{ agent_id }} is null or agent_id = {{ agent_id }})
  and ({{ before }}::timestamptz is null or updated_at < {{ before }}::timestamptz)
  and {{ session_id }} is null and {{ fact }} is null;

delete from recall_memo where input_hash in (select input_hash from forgotten_items);

delete from store_items
where (agent_id, user_id, namespace, item_key) in (select (agent_id, user_id, namespace, item_key) from forgotten_items);

-- step: show
-- result: Forgotten
select turns, facts, events, threads from forgotten_counts;
