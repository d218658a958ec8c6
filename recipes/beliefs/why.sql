/* recipe
name: beliefs/why
description: Why a fact is believed - the belief, the events that made it, the turns they come from.
params:
  fact:     {type: text, help: "fact_id, its first eight letters, or category.key."}
  agent_id: {type: text, default: null, help: "Only what this bot believes."}
  user_id:  {type: text, default: null, help: "Only what is believed about this person."}
  facts:    {type: ident, default: chat_facts, help: "Table of facts."}
  history:  {type: ident, default: chat_fact_history, help: "Table of events."}
  turns:    {type: ident, default: chat_turns, help: "Table of turns."}
*/

-- step: which
-- A fact that is no longer believed is found by what it was.
create or replace temp table asked_about as
select distinct fact_id
from (
    select fact_id, agent_id, user_id, [category || '.' || fact_key] as names from {{ facts | ident }}
    union all
    select fact_id, agent_id, user_id, [before_category || '.' || before_key, after_category || '.' || after_key] from {{ history | ident }}
)
where ({{ agent_id }} is null or agent_id = {{ agent_id }})
  and ({{ user_id }} is null or user_id = {{ user_id }})
  and (
      list_contains(names, {{ fact }})
      or (length({{ fact }}) >= 8 and starts_with(fact_id::varchar, lower({{ fact }})))
  );

select if(count(*) = 0, error('nothing is known of the fact ' || {{ fact }} || '; name it by its fact_id or as category.key'), true)
from asked_about;

-- step: belief
-- result: Belief
select user_id as "user", category, fact_key as fact, fact_value as value, kind, source, round(confidence, 2) as confidence, observed_at, fact_id
from {{ facts | ident }}
semi join asked_about using (fact_id)
order by all;

-- step: events
-- result: Events
select
    event_id as no, event, before_key || ' = ' || before_value as before, after_key || ' = ' || after_value as after,
    round(after_confidence, 2) as confidence, source, observed_at, evidence, source_turn_id as turn, reason
from {{ history | ident }}
semi join asked_about using (fact_id)
order by event_id;

-- step: turns
-- result: Turns
select turn_id as turn, session_id as session, position, role, created_at, content
from {{ turns | ident }}
where turn_id in (
    select source_turn_id from {{ history | ident }} semi join asked_about using (fact_id)
)
order by created_at, turn_id;
