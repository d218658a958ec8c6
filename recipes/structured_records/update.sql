/* recipe
name: structured_records/update
description: Change fields of one person's records.
params:
  table:     {type: ident, help: "The schema."}
  user_id:   {type: text, help: "Whose records."}
  ids:       {type: list, help: "Which ones."}
  fields:    {type: list, help: "Which fields."}
  updates:   {type: text, help: "JSON of their new values."}
  structure: {type: text, help: "JSON of the fields' types."}
  at:        {type: timestamp, help: "When it is changed."}
*/

-- step: update
-- result: Records
update {{ table | ident }} as r
set {% for field in fields %}{{ field | ident }} = new.{{ field | ident }}, {% endfor %}updated_at = {{ at }}::timestamptz
from (select unnest(from_json({{ updates }}, {{ structure }}))) as new
where r.user_id = {{ user_id }} and r.id::varchar in (select unnest({{ ids }}))
returning r.*;
