-- What models were asked, what they answered, and what it cost.
create table if not exists recall_memo (
    key        uuid not null,
    input_hash varchar not null,
    function   varchar not null,
    model      varchar not null,
    answer     varchar,
    embedding  float[],
    created_at timestamptz not null default current_timestamp
);
comment on table recall_memo is 'Answers already paid for. Holds hashes of inputs, never their text; committed outside the caller''s transaction.';
comment on column recall_memo.key is 'Hash of function, provider, model, parameters, prompt version, schema and text.';
comment on column recall_memo.input_hash is 'Hash of the text alone, so that everything remembered about it can be forgotten.';
comment on column recall_memo.function is 'EMBED, GENERATE, EXTRACT_FACTS …';
comment on column recall_memo.model is 'provider:model that answered.';
comment on column recall_memo.answer is 'The answer of a generator or extractor, as text or JSON.';
comment on column recall_memo.embedding is 'The answer of an embedder.';
comment on column recall_memo.created_at is 'When it was answered.';

create table if not exists recall_calls (
    called_at     timestamptz not null default current_timestamp,
    function      varchar not null,
    model         varchar not null,
    inputs        integer not null,
    attempt       integer not null default 1,
    tokens_in     bigint,
    tokens_out    bigint,
    tokens_cached bigint,
    latency_ms    double,
    status        varchar not null,
    error         varchar,
    cost_usd      double
);
comment on table recall_calls is 'One row per attempt to reach a model.';
comment on column recall_calls.called_at is 'When the request was sent.';
comment on column recall_calls.function is 'EMBED, GENERATE, EXTRACT_FACTS …';
comment on column recall_calls.model is 'provider:model that was asked.';
comment on column recall_calls.inputs is 'Distinct inputs in the request.';
comment on column recall_calls.attempt is '1 for the first try, 2 for the first retry …';
comment on column recall_calls.tokens_in is 'Prompt tokens as the provider counted them; null where it doesn''t say.';
comment on column recall_calls.tokens_out is 'Answer tokens.';
comment on column recall_calls.tokens_cached is 'Prompt tokens the provider served from its cache.';
comment on column recall_calls.latency_ms is 'Milliseconds from sending to the whole answer.';
comment on column recall_calls.status is 'ok, error, invalid (an answer of no use), cancelled, or the HTTP status.';
comment on column recall_calls.error is 'What went wrong; never holds a key.';
comment on column recall_calls.cost_usd is 'US dollars by the price file; null where the price is unknown.';

create table if not exists recall_asked (
    asked_at   timestamptz not null default current_timestamp,
    function   varchar not null,
    model      varchar not null,
    rows       bigint not null,
    repeated   bigint not null,
    remembered bigint not null
);
comment on table recall_asked is 'What was asked, one row per chunk of rows; beside recall_calls it tells what was saved.';
comment on column recall_asked.asked_at is 'When.';
comment on column recall_asked.function is 'EMBED, GENERATE, EXTRACT_FACTS …';
comment on column recall_asked.model is 'provider:model that was to answer.';
comment on column recall_asked.rows is 'Rows that wanted an answer.';
comment on column recall_asked.repeated is 'Of these, rows that asked the same as another row of their chunk.';
comment on column recall_asked.remembered is 'Distinct inputs that recall_memo knew.';
