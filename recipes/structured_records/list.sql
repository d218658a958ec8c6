/* recipe
name: structured_records/list
description: One person's records of one kind, the newest first.
params:
  table:   {type: ident, help: "The schema."}
  user_id: {type: text, help: "Whose records."}
  where:   {type: json, default: {}, help: "Only records whose fields have these values (field to value)."}
  limit:   {type: int, default: 1000, min: 1, help: "At most so many."}
*/

-- step: list
-- Texts are compared without case and accents, everything else as it is.
-- result: Records
select *
from {{ table | ident }}
where user_id = {{ user_id }}
{% for field, value in where.items() %}
{% if value is none %}
  and {{ field | ident }} is null
{% elif value is string %}
  and strip_accents(lower({{ field | ident }}::varchar)) = strip_accents(lower({{ value }}))
{% else %}
  and {{ field | ident }} = {{ value }}
{% endif %}
{% endfor %}
order by created_at desc, id
limit {{ limit | count }};
