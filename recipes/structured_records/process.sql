/* recipe
name: structured_records/process
description: Turn a table of messages into records, changes of records and reasons why not.
params:
  schemas:  {type: list, help: "The kinds of record."}
  messages: {type: ident, default: record_messages, help: "Table or view with message_id, user_id, message, created_at."}
  results:  {type: ident, default: record_results, help: "Table of what became of each."}
  user_id:  {type: text, default: null, help: "Only messages of this person."}
  model:    {type: text, default: null, help: "Who reads: rules or a model string; the setting extractor, if not given."}
  timezone: {type: text, default: null, help: "The persons' time zone, from which yesterday is counted."}
*/
{% import "structured_records/_find.sql" as find %}

-- step: pending
-- Messages that have no result yet. One of nobody is refused, and so is one that was never said.
create or replace temp table pending_messages as
select m.message_id, m.user_id, m.message, m.created_at
from {{ messages | ident }} as m
anti join {{ results | ident }} as done on done.message_id = m.message_id
where coalesce(trim(m.user_id), '') <> '' and m.message is not null
  and ({{ user_id }} is null or m.user_id = {{ user_id }})
order by m.created_at, m.message_id;

-- step: read
-- Every message is read once. One that a model fails to answer stays pending, and the error is in recall_calls.
create or replace temp table message_intents as
select message_id, user_id, created_at, uuid() as new_id, unnest(intent)
from (
    select
        message_id, user_id, created_at,
        detect_intent(message, {
            'schemas': {{ schemas }}::varchar[],
            'user': user_id,
            'now': created_at,
            'timezone': {{ timezone }}::varchar,
            'model': {{ model }}::varchar,
            'on_error': 'null'
        }) as intent
    from pending_messages
)
where intent is not null;

create or replace temp table message_changes (
    message_id uuid, record_ids uuid[], fitting bigint
);

-- The types of a record table, by which JSON becomes its row; choices are checked by the column itself.
{% macro structure(schema) %}
set variable record_structure = (
    select json_group_object(column_name, regexp_replace(data_type, 'ENUM\(.*\)', 'VARCHAR'))
    from duckdb_columns()
    where table_name = {{ schema }} and database_name = current_database()
);
{% endmacro %}

{% for schema in schemas %}
-- step: insert
-- New records. Their fields were checked against the schema when the message was read.
{{ structure(schema) }}

insert into {{ schema | ident }} by name
select unnest(from_json(
    json_merge_patch(data, json_object('id', new_id, 'user_id', user_id, 'created_at', created_at, 'updated_at', created_at)),
    getvariable('record_structure')
))
from message_intents
where matched and intent = 'insert' and schema = {{ schema }};

-- step: find
-- Which records the changes are about. A change reaches only what was written before it was said.
create or replace temp table record_changes as
select message_id as change_id, user_id, created_at as said_at, match
from message_intents
where matched and intent in ('update', 'delete') and schema = {{ schema }};

{{ find.dates(schema) }}
{{ find.targets(schema) }}

insert into message_changes
select change_id, coalesce(list(id order by place) filter (chosen), []), count(*)
from record_targets
group by change_id;

-- step: update
-- Several changes of one record are applied in the order they were said.
insert or replace into {{ schema | ident }} by name
select unnest(from_json(
    json_merge_patch(r.fields, c.updates, json_object('updated_at', c.said_at)),
    getvariable('record_structure')
))
from (
    select
        t.id,
        list_reduce(list(m.updates order by m.created_at, m.message_id), lambda a, b: json_merge_patch(a, b)) as updates,
        max(m.created_at) as said_at
    from record_targets as t
    join message_intents as m on m.message_id = t.change_id
    where t.chosen and m.intent = 'update'
    group by t.id
) as c
join record_rows as r using (id);

-- step: delete
-- Deleted is deleted, whatever else was said about it.
delete from {{ schema | ident }}
where id in (
    select t.id
    from record_targets as t
    join message_intents as m on m.message_id = t.change_id
    where t.chosen and m.intent = 'delete'
);
{% endfor %}

-- step: results
-- One row per message: what was done, or why nothing was.
insert into {{ results | ident }} by name
select
    m.message_id, m.user_id,
    m.matched and (m.intent in ('insert', 'query') or coalesce(len(c.record_ids), 0) > 0) as matched,
    m.schema, m.intent,
    case
        when not m.matched or m.intent = 'query' then null
        when m.intent = 'insert' or coalesce(len(c.record_ids), 0) > 0 then m.intent
    end as action,
    case when m.matched and m.intent = 'insert' then [m.new_id] else c.record_ids end as record_ids,
    coalesce(m.data, m.updates) as data,
    m.confidence,
    case
        when m.matched and m.intent = 'query' then 'a question: run structured_records/ask'
        when m.matched and m.intent in ('update', 'delete') and coalesce(c.fitting, 0) = 0 then 'no record fits: ' || m.reason
        when m.matched and m.intent in ('update', 'delete') and coalesce(len(c.record_ids), 0) = 0 then c.fitting || ' records fit: ' || m.reason
        else m.reason
    end as reason,
    {{ run_started_at }}::timestamptz as processed_at,
    {{ run_id }}::uuid as run_id
from message_intents as m
left join message_changes as c using (message_id);

-- step: report
-- result: Processed
select
    coalesce(schema, '') as schema, intent, count(*) as messages,
    count(*) filter (action is not null) as done
from {{ results | ident }}
where run_id = {{ run_id }}::uuid
group by all
order by messages desc, schema, intent;
