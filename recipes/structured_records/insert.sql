/* recipe
name: structured_records/insert
description: Write one record of one person.
params:
  table:     {type: ident, help: "The schema."}
  user_id:   {type: text, help: "Whose record."}
  data:      {type: text, help: "JSON of the fields."}
  structure: {type: text, help: "JSON of the fields' types."}
  at:        {type: timestamp, help: "When it is written."}
*/

-- step: insert
-- result: Record
insert into {{ table | ident }} by name
select
    uuid() as id, {{ user_id }} as user_id,
    unnest(from_json({{ data }}, {{ structure }})),
    {{ at }}::timestamptz as created_at, {{ at }}::timestamptz as updated_at
returning *;
