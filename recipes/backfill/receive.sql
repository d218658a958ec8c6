/* recipe
name: backfill/receive
description: Take what a worker has written about a partition, to be put back by backfill/settle; with what it asked of models, and the answers.
params:
  folder: {type: text, help: "The folder the worker has written."}
  memo:   {type: ident, default: recall_memo, help: "Table of remembered answers."}
  calls:  {type: ident, default: recall_calls, help: "Table of calls."}
  asked:  {type: ident, default: recall_asked, help: "Table of what was asked."}
*/

-- step: read
create or replace temp table part_turns as
from read_parquet({{ folder }} || '/turns.parquet');

create or replace temp table part_turn_ids as
select turn_id from part_turns;

create or replace temp table part_unembedded as
select turn_id from part_turns;

create or replace temp table part_threads as
from read_parquet({{ folder }} || '/threads.parquet');

create or replace temp table part_payloads as
from read_parquet({{ folder }} || '/payloads.parquet');

-- step: answers
insert into {{ memo | ident }} by name
from read_parquet({{ folder }} || '/memo.parquet');

-- step: calls
insert into {{ calls | ident }} by name
from read_parquet({{ folder }} || '/calls.parquet');

insert into {{ asked | ident }} by name
from read_parquet({{ folder }} || '/asked.parquet');
