/* recipe
name: conversation_memory/one_belief_per_slot
description: Beliefs that exclude each other don't stand side by side.
params:
  facts: {type: ident, default: chat_facts, help: "Table of facts."}
*/

-- step: look
-- result: Slots with more than one belief
select agent_id, user_id, session_id, slot, list(fact_key order by fact_key) as fact_keys
from {{ facts | ident }}
where slot is not null
group by all
having count(*) > 1;
