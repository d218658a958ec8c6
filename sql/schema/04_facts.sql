-- Beliefs: what is believed now, and how it came to be.
create table if not exists chat_facts (
    fact_id        uuid not null default uuid(),
    agent_id       varchar not null default 'default',
    user_id        varchar not null default 'default',
    session_id     varchar not null default '',
    category       varchar not null,
    fact_key       varchar not null,
    fact_value     varchar not null,
    slot           varchar,
    kind           varchar not null default 'KNOWLEDGE' check (kind in ('KNOWLEDGE', 'RULE', 'PREFERENCE')),
    source         varchar not null default 'USER' check (source in ('SYSTEM', 'USER', 'AGENT', 'TOOL', 'DOCUMENT', 'CODE')),
    confidence     double not null check (confidence between 0 and 1),
    observed_at    timestamptz not null,
    updated_at     timestamptz not null default current_timestamp,
    source_turn_id bigint,
    evidence       varchar,
    embedding      float[{{ dimension }}],
    primary key (agent_id, user_id, session_id, category, fact_key),
    unique (agent_id, user_id, session_id, slot)
);
comment on table chat_facts is 'What is believed now: one row per belief, changed in place.';
comment on column chat_facts.fact_id is 'Stays the same while the belief in its slot changes.';
comment on column chat_facts.agent_id is 'The bot that believes it.';
comment on column chat_facts.user_id is 'The person it is about.';
comment on column chat_facts.session_id is 'The conversation it holds for; '''' means all of them.';
comment on column chat_facts.category is 'dietary, budget, pet …';
comment on column chat_facts.fact_key is 'The attribute: vegetarian, max_usd, cat_mochi …';
comment on column chat_facts.fact_value is 'Its value as text.';
comment on column chat_facts.slot is 'Beliefs that exclude each other share a slot: dietary/diet holds one of vegetarian, vegan, pescatarian.';
comment on column chat_facts.kind is 'RULE: always in the context. PREFERENCE: when there is a choice. KNOWLEDGE: when relevant.';
comment on column chat_facts.source is 'Who said so: SYSTEM, USER, AGENT, TOOL, DOCUMENT or CODE.';
comment on column chat_facts.confidence is '0 to 1.';
comment on column chat_facts.observed_at is 'When the evidence was said.';
comment on column chat_facts.updated_at is 'When this row last changed.';
comment on column chat_facts.source_turn_id is 'The turn it comes from; null if it was written directly.';
comment on column chat_facts.evidence is 'The words that say so.';
comment on column chat_facts.embedding is 'EMBED(category: key=value); renewed exactly when one of the three changed, also by hand.';

create sequence if not exists chat_fact_event_ids;

create table if not exists chat_fact_history (
    event_id          bigint not null default nextval('chat_fact_event_ids'),
    run_id            uuid,
    fact_id           uuid,
    agent_id          varchar not null,
    user_id           varchar not null,
    session_id        varchar not null,
    slot              varchar,
    event             varchar not null,
    reason            varchar,
    op                varchar,
    category          varchar,
    fact_key          varchar,
    fact_value        varchar,
    kind              varchar,
    source            varchar,
    confidence        double,
    observed_at       timestamptz,
    evidence          varchar,
    source_turn_id    bigint,
    before_category   varchar,
    before_key        varchar,
    before_value      varchar,
    before_kind       varchar,
    before_source     varchar,
    before_confidence double,
    before_observed_at timestamptz,
    before_turn_id    bigint,
    after_category    varchar,
    after_key         varchar,
    after_value       varchar,
    after_kind        varchar,
    after_source      varchar,
    after_confidence  double,
    after_observed_at timestamptz,
    after_turn_id     bigint,
    after_evidence    varchar,
    recorded_at       timestamptz not null default current_timestamp
);
comment on table chat_fact_history is 'One row per event: what was said, what was believed before and after, and why.';
comment on column chat_fact_history.event_id is 'Order of events; a fact stands as its last event left it.';
comment on column chat_fact_history.run_id is 'The run that recorded it.';
comment on column chat_fact_history.fact_id is 'The belief; null when nothing was believed before or after.';
comment on column chat_fact_history.agent_id is 'The bot that believes it.';
comment on column chat_fact_history.user_id is 'The person it is about.';
comment on column chat_fact_history.session_id is 'The conversation it holds for; '''' means all.';
comment on column chat_fact_history.slot is 'The slot the evidence spoke about.';
comment on column chat_fact_history.event is 'created, confirmed, superseded, retracted, edited, forgotten, or rejected_trust, rejected_stale, rejected_conflict, rejected_invalid, nothing_to_retract.';
comment on column chat_fact_history.reason is 'Why, in words.';
comment on column chat_fact_history.op is 'assert or retract: what the evidence does.';
comment on column chat_fact_history.category is 'Category of the evidence.';
comment on column chat_fact_history.fact_key is 'Key of the evidence.';
comment on column chat_fact_history.fact_value is 'Value of the evidence.';
comment on column chat_fact_history.kind is 'Kind of the evidence.';
comment on column chat_fact_history.source is 'Source of the evidence.';
comment on column chat_fact_history.confidence is 'Confidence of the evidence.';
comment on column chat_fact_history.observed_at is 'When the evidence was said.';
comment on column chat_fact_history.evidence is 'The words.';
comment on column chat_fact_history.source_turn_id is 'The turn that said it.';
comment on column chat_fact_history.before_category is 'Category believed before.';
comment on column chat_fact_history.before_key is 'Key believed before.';
comment on column chat_fact_history.before_value is 'Value believed before.';
comment on column chat_fact_history.before_kind is 'Kind before.';
comment on column chat_fact_history.before_source is 'Source before.';
comment on column chat_fact_history.before_confidence is 'Confidence before.';
comment on column chat_fact_history.before_observed_at is 'When the evidence for the earlier belief was said.';
comment on column chat_fact_history.before_turn_id is 'The turn the earlier belief came from.';
comment on column chat_fact_history.after_category is 'Category believed after; null if the belief is gone.';
comment on column chat_fact_history.after_key is 'Key believed after.';
comment on column chat_fact_history.after_value is 'Value believed after.';
comment on column chat_fact_history.after_kind is 'Kind after.';
comment on column chat_fact_history.after_source is 'Source after.';
comment on column chat_fact_history.after_confidence is 'Confidence after.';
comment on column chat_fact_history.after_observed_at is 'When the evidence for the belief was said.';
comment on column chat_fact_history.after_turn_id is 'The turn the belief comes from.';
comment on column chat_fact_history.after_evidence is 'The words the belief comes from.';
comment on column chat_fact_history.recorded_at is 'When it was recorded.';
