-- Which kinds of record there are, what was said about them, and what became of it.
create table if not exists recall_schemas (
    name        varchar primary key,
    description varchar not null,
    definition  varchar not null,
    version     integer not null default 1,
    created_at  timestamptz not null default current_timestamp,
    updated_at  timestamptz not null default current_timestamp
);
comment on table recall_schemas is 'The kinds of record that have been declared. Each has a table of its name.';
comment on column recall_schemas.name is 'Name of the schema and of its table.';
comment on column recall_schemas.description is 'What such a record is about; messages are matched against it.';
comment on column recall_schemas.definition is 'Name, description and JSON Schema of the fields, as JSON.';
comment on column recall_schemas.version is 'How many times it was declared differently.';
comment on column recall_schemas.created_at is 'When it was declared first.';
comment on column recall_schemas.updated_at is 'When it was last changed.';

create table if not exists record_messages (
    message_id uuid primary key default uuid(),
    user_id    varchar not null check (user_id <> ''),
    message    varchar not null,
    created_at timestamptz not null default current_timestamp
);
comment on table record_messages is 'Messages for the recipe structured_records/process. Any table or view with these columns will do.';
comment on column record_messages.message_id is 'Identifies the message; what has a row in record_results is done.';
comment on column record_messages.user_id is 'Who said it. Rows are written, found and read for this person only.';
comment on column record_messages.message is 'What was said.';
comment on column record_messages.created_at is 'When it was said: today, last week and next Friday are counted from here.';

create table if not exists record_results (
    message_id   uuid primary key,
    user_id      varchar not null,
    matched      boolean not null,
    schema       varchar,
    intent       varchar not null,
    action       varchar,
    record_ids   uuid[],
    data         json,
    confidence   double not null,
    reason       varchar,
    processed_at timestamptz not null,
    run_id       uuid
);
comment on table record_results is 'What the recipe structured_records/process made of each message.';
comment on column record_results.message_id is 'The message.';
comment on column record_results.user_id is 'Who said it.';
comment on column record_results.matched is 'Whether it became, changed, deleted or asked about a record.';
comment on column record_results.schema is 'Which kind of record, if it was clear.';
comment on column record_results.intent is 'insert, update, delete, query or none.';
comment on column record_results.action is 'What was done: insert, update, delete, query; null if nothing was.';
comment on column record_results.record_ids is 'The records that were written or deleted.';
comment on column record_results.data is 'The fields of a new record, or the changed ones.';
comment on column record_results.confidence is 'How sure the reading is, 0 to 1.';
comment on column record_results.reason is 'Why it was read like that, or why nothing was written.';
comment on column record_results.processed_at is 'When it was processed.';
comment on column record_results.run_id is 'The run that did it.';
