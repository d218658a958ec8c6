-- How far a backfill has come. Every partition is one transaction, so that what these rows say is what is in the tables.
create table if not exists recall_backfills (
    backfill_id uuid primary key,
    source      varchar not null,
    identity    varchar not null,
    recipe      varchar not null,
    params      varchar not null,
    work_dir    varchar not null,
    status      varchar not null check (status in ('staging', 'staged', 'done', 'given_up')),
    messages    bigint,
    left_out    bigint,
    started_at  timestamptz not null default current_timestamp,
    finished_at timestamptz
);
comment on table recall_backfills is 'One row per backfill: a source that was, or is being, read in partitions.';
comment on column recall_backfills.backfill_id is 'Identifies the backfill.';
comment on column recall_backfills.source is 'The path or pattern that was read.';
comment on column recall_backfills.identity is 'Hash of source, files, recipe and options: the same again goes on where this one stopped.';
comment on column recall_backfills.recipe is 'The recipe that is run.';
comment on column recall_backfills.params is 'Its parameters, as JSON.';
comment on column recall_backfills.work_dir is 'Where the rows wait, sorted by partition, until it is done.';
comment on column recall_backfills.status is 'staging: the source is being read. staged: partitions are on their way. done. given_up: its source has changed since.';
comment on column recall_backfills.messages is 'Messages to land; null while the source is being read.';
comment on column recall_backfills.left_out is 'Messages that are left out, by their nature or because they can''t be read.';
comment on column recall_backfills.started_at is 'When it began.';
comment on column recall_backfills.finished_at is 'When all was done.';

create table if not exists recall_backfill_partitions (
    backfill_id uuid not null,
    partition   bigint not null,
    sessions    bigint not null,
    messages    bigint not null,
    status      varchar not null check (status in ('staged', 'stored', 'read')),
    seconds     double,
    finished_at timestamptz,
    primary key (backfill_id, partition)
);
comment on table recall_backfill_partitions is 'One row per partition of a backfill: whole sessions, in the order of the source.';
comment on column recall_backfill_partitions.backfill_id is 'The backfill.';
comment on column recall_backfill_partitions.partition is 'From 0, in the order of the source.';
comment on column recall_backfill_partitions.sessions is 'How many sessions it holds.';
comment on column recall_backfill_partitions.messages is 'How many messages.';
comment on column recall_backfill_partitions.status is 'staged: it waits. stored: its messages are turns. read: they have embeddings, and their facts wait to be landed.';
comment on column recall_backfill_partitions.seconds is 'How long embedding and extracting took.';
comment on column recall_backfill_partitions.finished_at is 'When its status was last changed.';

create table if not exists recall_backfill_left_out (
    backfill_id uuid not null,
    file        varchar not null,
    place       bigint not null,
    problem     varchar not null
);
comment on table recall_backfill_left_out is 'Rows of a source that a backfill left out because they can''t be read (--skip-bad).';
comment on column recall_backfill_left_out.backfill_id is 'The backfill.';
comment on column recall_backfill_left_out.file is 'The file.';
comment on column recall_backfill_left_out.place is 'The row in it, from 1.';
comment on column recall_backfill_left_out.problem is 'What is wrong with it.';
