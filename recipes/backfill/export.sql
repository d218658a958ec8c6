/* recipe
name: backfill/export
description: Write a partition that was taken into a folder, for a worker with a DuckDB of its own.
params:
  folder: {type: text, help: "The folder; it must exist."}
  facts:  {type: ident, default: chat_facts, help: "Table of facts."}
*/

-- step: write
copy part_turns to ({{ folder }} || '/turns.parquet') (format parquet);

copy part_threads to ({{ folder }} || '/threads.parquet') (format parquet);

copy part_payloads to ({{ folder }} || '/payloads.parquet') (format parquet);

-- step: beliefs
-- What is believed about these people, which the extractor may need to know.
copy (
    select f.* exclude (embedding)
    from {{ facts | ident }} as f
    semi join (select distinct agent_id, user_id from part_threads) as p using (agent_id, user_id)
) to ({{ folder }} || '/facts.parquet') (format parquet);
