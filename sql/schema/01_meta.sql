-- What this database was built with, and what has been run on it.
create table if not exists recall_meta (
    name       varchar primary key,
    value      varchar not null,
    updated_at timestamptz not null default current_timestamp
);
comment on table recall_meta is 'What this database was built with: schema version, embedding model, embedding dimension.';
comment on column recall_meta.name is 'schema_version, embedding_model or embedding_dimension.';
comment on column recall_meta.value is 'Its value as text.';
comment on column recall_meta.updated_at is 'When it was last written.';

create table if not exists recall_runs (
    run_id       uuid primary key,
    recipe       varchar not null,
    params       varchar not null,
    status       varchar not null,
    started_at   timestamptz not null,
    finished_at  timestamptz,
    error        varchar,
    steps        varchar,
    rows_changed bigint
);
comment on table recall_runs is 'One row per run of a recipe, failed runs included.';
comment on column recall_runs.run_id is 'Identifies the run; history rows and facts name it.';
comment on column recall_runs.recipe is 'Name of the recipe, or path of the script.';
comment on column recall_runs.params is 'The parameters it ran with, as JSON; secret ones as ***.';
comment on column recall_runs.status is 'running, ok or failed.';
comment on column recall_runs.started_at is 'When it began.';
comment on column recall_runs.finished_at is 'When it ended; null while it runs or if the process died.';
comment on column recall_runs.error is 'What went wrong, if it failed.';
comment on column recall_runs.steps is 'Steps with rows and seconds, as JSON.';
comment on column recall_runs.rows_changed is 'Rows inserted, updated or deleted by all steps.';
