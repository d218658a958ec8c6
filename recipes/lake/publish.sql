/* recipe
name: lake/publish
description: Bring the beliefs of a lake, and how they came to be, up to date with those here. Other machines read them there.
params:
  lake_facts:   {type: ident, default: lake.main.chat_facts, help: "Table of facts in the lake; made if it isn't there."}
  lake_history: {type: ident, default: lake.main.chat_fact_history, help: "Table of events in the lake; made if it isn't there."}
  facts:        {type: ident, default: chat_facts, help: "Table of facts."}
  history:      {type: ident, default: chat_fact_history, help: "Table of events."}
*/

-- step: tables
-- A lake has no arrays of fixed length: there a vector is a list.
create table if not exists {{ lake_facts | ident }} as
select * replace (embedding::float[] as embedding) from {{ facts | ident }} limit 0;

create table if not exists {{ lake_history | ident }} as
from {{ history | ident }} limit 0;

-- step: facts
-- What differs is written anew, and what is believed no more goes.
create or replace temp table unlike_in_lake as
select fact_id
from (
    select * exclude (embedding) from {{ facts | ident }}
    except
    select * exclude (embedding) from {{ lake_facts | ident }}
);

delete from {{ lake_facts | ident }}
where fact_id in (select fact_id from unlike_in_lake)
   or fact_id not in (select fact_id from {{ facts | ident }});

insert into {{ lake_facts | ident }} by name
select f.* replace (f.embedding::float[] as embedding)
from {{ facts | ident }} as f
semi join unlike_in_lake as u using (fact_id);

-- step: history
-- Events are only ever added, unless somebody was forgotten.
delete from {{ lake_history | ident }}
where event_id not in (select event_id from {{ history | ident }});

insert into {{ lake_history | ident }} by name
select h.*
from {{ history | ident }} as h
anti join {{ lake_history | ident }} as there using (event_id);

-- step: report
-- result: In the lake
select
    (select count(*) from {{ lake_facts | ident }}) as facts,
    (select count(*) from unlike_in_lake) as written,
    (select count(*) from {{ lake_history | ident }}) as events;
