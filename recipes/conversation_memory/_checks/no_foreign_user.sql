/* recipe
name: conversation_memory/no_foreign_user
description: A belief about somebody comes from that person's own conversation.
params:
  facts: {type: ident, default: chat_facts, help: "Table of facts."}
  turns: {type: ident, default: chat_turns, help: "Table of turns."}
*/

-- step: look
-- result: Beliefs about one person from another's words
select f.fact_id, f.user_id as believed_about, t.user_id as said_by, t.turn_id
from {{ facts | ident }} as f
join {{ turns | ident }} as t on t.turn_id = f.source_turn_id
where (f.agent_id, f.user_id) is distinct from (t.agent_id, t.user_id);
