-- Conversations: threads and their turns.
create sequence if not exists chat_turn_ids;

create table if not exists chat_threads (
    agent_id          varchar not null default 'default',
    user_id           varchar not null default 'default',
    session_id        varchar not null,
    title             varchar,
    created_at        timestamptz not null default current_timestamp,
    extracted_through bigint not null default 0,
    primary key (agent_id, user_id, session_id)
);
comment on table chat_threads is 'One row per conversation. A thread exists as soon as a turn names it.';
comment on column chat_threads.agent_id is 'The bot whose memory this is.';
comment on column chat_threads.user_id is 'The person who talks.';
comment on column chat_threads.session_id is 'The conversation; '''' holds what belongs to no thread and is visible from all.';
comment on column chat_threads.title is 'A name for people, if one was given.';
comment on column chat_threads.created_at is 'When the first turn arrived.';
comment on column chat_threads.extracted_through is 'Watermark: facts were extracted from every turn up to this position.';

create table if not exists chat_turns (
    turn_id    bigint primary key default nextval('chat_turn_ids'),
    agent_id   varchar not null default 'default',
    user_id    varchar not null default 'default',
    session_id varchar not null default '',
    position   bigint not null default 0,
    role       varchar not null check (role in ('user', 'assistant', 'system', 'tool', 'document', 'code')),
    content    varchar not null,
    created_at timestamptz not null default current_timestamp,
    source_key varchar,
    embedding  float[{{ dimension }}],
    embedding_bits bit
);
alter table chat_turns add column if not exists embedding_bits bit;  -- databases from before there was one
comment on table chat_turns is 'One row per message, as it was said.';
comment on column chat_turns.turn_id is 'Identifies the turn.';
comment on column chat_turns.agent_id is 'The bot whose memory this is.';
comment on column chat_turns.user_id is 'The person who talks.';
comment on column chat_turns.session_id is 'The conversation.';
comment on column chat_turns.position is 'Order within the conversation, from 1.';
comment on column chat_turns.role is 'user, assistant, system, tool, document or code: who speaks.';
comment on column chat_turns.content is 'The words.';
comment on column chat_turns.created_at is 'When it was said.';
comment on column chat_turns.source_key is 'What an import knows this turn by; importing it again adds nothing.';
comment on column chat_turns.embedding is 'EMBED(content); null until the embed step has run.';
comment on column chat_turns.embedding_bits is 'sign_bits(embedding), made by search/index where there are many turns: what a search reads first.';

create table if not exists chat_fact_payloads (
    turn_id      bigint primary key,
    payload      varchar not null,
    model        varchar not null,
    extracted_at timestamptz not null default current_timestamp,
    run_id       uuid,
    landed       boolean not null default false
);
comment on table chat_fact_payloads is 'What the extractor answered for a turn, as it came, before it was landed as typed rows.';
comment on column chat_fact_payloads.turn_id is 'The turn that was read.';
comment on column chat_fact_payloads.payload is 'The raw answer: JSON list of candidate facts.';
comment on column chat_fact_payloads.model is 'Who extracted.';
comment on column chat_fact_payloads.extracted_at is 'When.';
comment on column chat_fact_payloads.run_id is 'The run that did it.';
comment on column chat_fact_payloads.landed is 'True once its candidates have met the fact table.';

create table if not exists chat_turn_attempts (
    turn_id     bigint primary key,
    attempts    integer not null,
    claimed_at  timestamptz,
    alone       boolean not null default false,
    last_error  varchar,
    next_try_at timestamptz
);
comment on table chat_turn_attempts is 'Turns that a background worker is reading, or could not read. What was never tried, or was read, has no row.';
comment on column chat_turn_attempts.turn_id is 'The turn.';
comment on column chat_turn_attempts.attempts is 'How often it was tried, the try under way included.';
comment on column chat_turn_attempts.claimed_at is 'Since when a worker has been reading it; null while none does.';
comment on column chat_turn_attempts.alone is 'Whether it is tried by itself next time, since a whole batch failed with it.';
comment on column chat_turn_attempts.last_error is 'What went wrong the last time.';
comment on column chat_turn_attempts.next_try_at is 'When it is tried again; null while it is being read, and once it was given up.';

create table if not exists chat_summaries (
    agent_id        varchar not null default 'default',
    user_id         varchar not null default 'default',
    session_id      varchar not null,
    summary         varchar not null,
    through_turn_id bigint not null,
    updated_at      timestamptz not null default current_timestamp,
    primary key (agent_id, user_id, session_id)
);
comment on table chat_summaries is 'Rolling summary, one row per conversation.';
comment on column chat_summaries.agent_id is 'The bot whose memory this is.';
comment on column chat_summaries.user_id is 'The person who talks.';
comment on column chat_summaries.session_id is 'The conversation.';
comment on column chat_summaries.summary is 'The summary so far.';
comment on column chat_summaries.through_turn_id is 'The last turn it covers.';
comment on column chat_summaries.updated_at is 'When it was last extended.';
