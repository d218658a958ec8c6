/* recipe
name: backfill/take
description: Take the turns of some sessions out of the tables, so that recipes which read session by session can work on them alone.
params:
  sessions: {type: ident, default: temp.part_sessions, help: "agent_id, user_id, session_id."}
  turns:    {type: ident, default: chat_turns, help: "Table of turns."}
  threads:  {type: ident, default: chat_threads, help: "Table of threads."}
  payloads: {type: ident, default: chat_fact_payloads, help: "Table of raw answers."}
*/

-- step: find
-- First which ones, by narrow columns: vectors are read of these turns alone.
create or replace temp table part_turn_ids as
select t.turn_id
from {{ turns | ident }} as t
semi join {{ sessions | ident }} as s using (agent_id, user_id, session_id);

-- step: take
create or replace temp table part_turns as
select t.turn_id, t.agent_id, t.user_id, t.session_id, t.position, t.role, t.content, t.created_at, t.embedding
from {{ turns | ident }} as t
semi join part_turn_ids as i using (turn_id)
order by t.turn_id;

create or replace temp table part_unembedded as
select turn_id from part_turns where embedding is null;

create or replace temp table part_threads as
select t.agent_id, t.user_id, t.session_id, t.extracted_through
from {{ threads | ident }} as t
semi join {{ sessions | ident }} as s using (agent_id, user_id, session_id);

create or replace temp table part_payloads as
select p.turn_id, p.payload, p.model, p.extracted_at, p.run_id
from {{ payloads | ident }} as p
semi join part_turn_ids as i using (turn_id);
