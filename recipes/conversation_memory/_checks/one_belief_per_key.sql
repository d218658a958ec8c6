/* recipe
name: conversation_memory/one_belief_per_key
description: A key holds one belief per person and session.
params:
  facts: {type: ident, default: chat_facts, help: "Table of facts."}
*/

-- step: look
-- result: Keys with more than one belief
select agent_id, user_id, session_id, category, fact_key, count(*) as beliefs
from {{ facts | ident }}
group by all
having count(*) > 1;
