/* recipe
name: conversation_memory/facts_are_sound
description: Every belief has a known source, a confidence between 0 and 1, a value, and an embedding.
params:
  facts: {type: ident, default: chat_facts, help: "Table of facts."}
*/

-- step: look
-- result: Unsound beliefs
select fact_id, category, fact_key, fact_value, source, confidence, embedding is null as has_no_embedding
from {{ facts | ident }} as f
where trust_of(f.source) is null
   or not coalesce(confidence between 0 and 1, false)
   or trim(fact_value) = ''
   or embedding is null;
