/* recipe
name: structured_records/delete
description: Delete records of one person.
params:
  table:   {type: ident, help: "The schema."}
  user_id: {type: text, help: "Whose records."}
  ids:     {type: list, help: "Which ones."}
*/

-- step: delete
-- result: Records
delete from {{ table | ident }}
where user_id = {{ user_id }} and id::varchar in (select unnest({{ ids }}))
returning *;
