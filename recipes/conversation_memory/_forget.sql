{#
  Erases what the temp tables name, everywhere text of it may stand. DuckDB keeps freed blocks in the file until it is
  compacted: recall_sql.compact(path), or `recall-sql forget --compact`.

  forgotten_turns: turn_id. forgotten_facts: fact_id. forgotten_events: event_id. forgotten_threads: agent_id, user_id,
  session_id, and whole (false if only some of its turns go).
#}
-- step: remember_what_to_erase
-- What was remembered of these texts is known by their hashes.
create or replace temp table forgotten_hashes as
with texts as (
    select content as words from {{ turns | ident }} semi join forgotten_turns using (turn_id)
    union
    select fact_text(category, fact_key, fact_value) from {{ facts | ident }} semi join forgotten_facts using (fact_id)
    union
    select unnest([
        fact_text(category, fact_key, fact_value), fact_text(before_category, before_key, before_value),
        fact_text(after_category, after_key, after_value)
    ])
    from {{ history | ident }} semi join forgotten_events using (event_id)
    union
    select summary from {{ summaries | ident }} semi join forgotten_threads using (agent_id, user_id, session_id)
)
select distinct recall_input_hash(words) as input_hash from texts where words is not null;

-- the last event of a fact that stays is needed to know how the fact stands; its words go
create or replace temp table last_of_the_living as
select max(event_id) as event_id
from {{ history | ident }} as h
semi join (from {{ facts | ident }} anti join forgotten_facts using (fact_id)) as f using (fact_id)
group by h.fact_id;

create or replace temp table forgotten_values as
select distinct fact_id, fact_value
from {{ history | ident }}
semi join forgotten_events using (event_id)
where fact_id is not null and fact_value is not null;

create or replace temp table forgotten_runs as
select distinct run_id from {{ history | ident }} semi join forgotten_events using (event_id);

-- step: erase
delete from recall_memo
where input_hash in (from forgotten_hashes)
   -- an answer may quote a prompt that quoted them, and nobody can tell
   or (answer is not null and function <> 'EXTRACT_FACTS');

delete from search_postings where turn_id in (from forgotten_turns);
delete from search_turns where turn_id in (from forgotten_turns);
delete from {{ payloads | ident }} where turn_id in (from forgotten_turns);
-- a worker that is reading one of them now meets this and begins anew
delete from chat_turn_attempts where turn_id in (from forgotten_turns);
delete from recall_requests where list_has_any(turn_ids, (select list(turn_id) from forgotten_turns));
delete from {{ turns | ident }} where turn_id in (from forgotten_turns);
delete from {{ facts | ident }} where fact_id in (from forgotten_facts);

delete from {{ summaries | ident }}
where (agent_id, user_id, session_id) in (select (agent_id, user_id, session_id) from forgotten_threads);

delete from {{ threads | ident }}
where (agent_id, user_id, session_id) in (select (agent_id, user_id, session_id) from forgotten_threads where whole);

-- step: erase_history
delete from {{ history | ident }}
where event_id in (from forgotten_events)
  and (fact_id is null or event_id not in (from last_of_the_living));

update {{ history | ident }}
set fact_value = null, evidence = null, after_evidence = null, reason = null, source_turn_id = null,
    before_category = null, before_key = null, before_value = null
where event_id in (from forgotten_events);

update {{ history | ident }}
set before_category = null, before_key = null, before_value = null
where (fact_id, before_value) in (select (fact_id, fact_value) from forgotten_values);

-- step: erase_traces
-- Parameters of runs and messages of errors may quote anything.
update recall_runs
set params = '{}'
where run_id <> {{ run_id }} and status <> 'running' and params <> '{}'
  and (
      run_id in (from forgotten_runs)
      or exists (
          from forgotten_threads as t
          where coalesce(json_extract_string(params, '$.user_id'), 'default') = t.user_id
            and coalesce(json_extract_string(params, '$.agent_id'), 'default') = t.agent_id
      )
  );

update recall_runs set error = '(erased by a forget)' where run_id <> {{ run_id }} and status <> 'running' and error is not null;
update recall_calls set error = '(erased by a forget)' where error is not null;
