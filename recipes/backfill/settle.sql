/* recipe
name: backfill/settle
description: Put what was found out about the turns of some sessions back into the tables. What is there already is left alone, so that nothing lands twice.
params:
  turns:    {type: ident, default: chat_turns, help: "Table of turns."}
  threads:  {type: ident, default: chat_threads, help: "Table of threads."}
  payloads: {type: ident, default: chat_fact_payloads, help: "Table of raw answers."}
*/

-- step: embeddings
update {{ turns | ident }} as t
set embedding = p.embedding
from (select turn_id, embedding from part_turns semi join part_unembedded using (turn_id) where embedding is not null) as p
where t.turn_id = p.turn_id and t.embedding is null;

-- step: answers
insert into {{ payloads | ident }} (turn_id, payload, model, extracted_at, run_id)
select p.turn_id, p.payload, p.model, p.extracted_at, p.run_id
from part_payloads as p
anti join {{ payloads | ident }} as stored using (turn_id)
order by p.turn_id;

-- step: watermarks
update {{ threads | ident }} as t
set extracted_through = p.extracted_through
from part_threads as p
where t.agent_id = p.agent_id and t.user_id = p.user_id and t.session_id = p.session_id
  and p.extracted_through > t.extracted_through;
