/* recipe
name: structured_records/find
description: The records of one person that a description points at, the likeliest first.
params:
  table:   {type: text, help: "The schema."}
  user_id: {type: text, help: "Whose records."}
  match:   {type: text, help: "JSON: where (field to value), recency (latest, oldest, null), count (null for all)."}
  said_at: {type: timestamp, help: "Records written later are left out."}
*/
{% import "structured_records/_find.sql" as find %}

-- step: question
-- What is looked for.
create or replace temp table record_changes as
select 1 as change_id, {{ user_id }} as user_id, {{ said_at }}::timestamptz as said_at, {{ match }}::json as match
where {{ user_id }} <> '';

-- step: find
-- Every record of the person is compared with it.
{{ find.dates(table) }}
{{ find.targets(table) }}

-- step: show
-- result: Records
select t.id, t.place, t.among, t.chosen, t.score, r.fields
from record_targets as t
join record_rows as r using (id)
order by t.place;
