-- What servers need to know: who may use this memory, and which requests were answered already.
create table if not exists recall_keys (
    key_id      varchar primary key,
    secret_hash varchar not null unique,
    agent_id    varchar not null check (agent_id <> ''),
    user_id     varchar check (user_id <> ''),
    role        varchar not null check (role in ('reader', 'writer', 'admin')),
    label       varchar,
    created_at  timestamptz not null default current_timestamp,
    revoked_at  timestamptz
);
comment on table recall_keys is 'API keys of the servers. A revoked key keeps its row, so that a database that had keys never again opens without one.';
comment on column recall_keys.key_id is 'The public part of the key, by which people name it.';
comment on column recall_keys.secret_hash is 'SHA-256 of the whole key, which is 256 random bits and stored nowhere.';
comment on column recall_keys.agent_id is 'The bot whose memory it opens.';
comment on column recall_keys.user_id is 'The one person whose memory it opens; null for every person of the bot.';
comment on column recall_keys.role is 'reader, writer or admin; each may do what the one before may.';
comment on column recall_keys.label is 'What it is for, in words.';
comment on column recall_keys.created_at is 'When it was made.';
comment on column recall_keys.revoked_at is 'When it stopped to open anything; null while it does.';

create table if not exists recall_requests (
    agent_id        varchar not null,
    user_id         varchar not null,
    idempotency_key varchar not null,
    request_hash    varchar not null,
    turn_ids        bigint[] not null,
    created_at      timestamptz not null default current_timestamp,
    primary key (agent_id, user_id, idempotency_key)
);
comment on table recall_requests is 'Requests that stored turns under an Idempotency-Key; the same request again stores nothing. Kept for a day.';
comment on column recall_requests.agent_id is 'The bot whose memory it was about.';
comment on column recall_requests.user_id is 'The person.';
comment on column recall_requests.idempotency_key is 'The caller''s name for the request.';
comment on column recall_requests.request_hash is 'SHA-256 of what was asked: the same key with another request is an error.';
comment on column recall_requests.turn_ids is 'The turns it stored, or found stored.';
comment on column recall_requests.created_at is 'When it was answered.';
