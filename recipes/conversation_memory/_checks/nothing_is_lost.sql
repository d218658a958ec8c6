/* recipe
name: conversation_memory/nothing_is_lost
description: Every answer of the extractor that has landed belongs to a turn, and no turn below the watermark is unread.
params:
  threads:  {type: ident, default: chat_threads, help: "Table of threads."}
  turns:    {type: ident, default: chat_turns, help: "Table of turns."}
  payloads: {type: ident, default: chat_fact_payloads, help: "Table of raw answers."}
*/

-- step: orphans
-- result: Answers without a turn
select p.turn_id, p.model, p.extracted_at
from {{ payloads | ident }} as p
anti join {{ turns | ident }} as t using (turn_id);

-- step: unread
-- result: Turns of users below the watermark that nobody has read
select t.turn_id, t.user_id, t.session_id, t.position
from {{ turns | ident }} as t
join {{ threads | ident }} as h using (agent_id, user_id, session_id)
anti join {{ payloads | ident }} as p on p.turn_id = t.turn_id
where t.role = 'user' and t.position <= h.extracted_through;
