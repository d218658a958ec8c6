/* recipe
name: conversation_memory/embed
description: Give every turn that has none its embedding.
partition_by: session
params:
  turns: {type: ident, default: chat_turns, help: "Table of turns."}
*/

-- step: embed_turns
-- Equal texts are embedded once, and what was embedded before is remembered.
update {{ turns | ident }}
set embedding = embed(content)
where embedding is null;
