/* recipe
name: maintenance/reembed
description: Make every vector anew with the embedding model that is set now. Open the database with check_embedding=False for it; recall-sql run does.
params:
  dimension: {type: int, min: 1, help: "Length of the new model's vectors."}
  turns:     {type: ident, default: chat_turns, help: "Table of turns."}
  facts:     {type: ident, default: chat_facts, help: "Table of facts."}
*/

-- step: turns
alter table {{ turns | ident }} alter column embedding type FLOAT[{{ dimension | count }}] using embed(if(embedding is null, null, content));

-- the bits were those of the old vectors
update {{ turns | ident }} set embedding_bits = null where embedding_bits is not null;

-- step: facts
alter table {{ facts | ident }} alter column embedding type FLOAT[{{ dimension | count }}] using embed(fact_text(category, fact_key, fact_value));

-- step: remember_the_model
insert or replace into recall_meta (name, value, updated_at)
values
    ('embedding_model', (select value from recall_settings() where name = 'embedder'), {{ run_started_at }}),
    ('embedding_dimension', {{ dimension }}::varchar, {{ run_started_at }});
