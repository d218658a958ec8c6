-- What programs keep beside beliefs: LangGraph's store (recall_sql/integrations/langgraph.py).
create table if not exists store_items (
    agent_id   varchar not null,
    user_id    varchar not null,
    namespace  varchar not null,
    item_key   varchar not null,
    item       varchar not null,
    words      varchar,
    created_at timestamptz not null default current_timestamp,
    updated_at timestamptz not null default current_timestamp,
    primary key (agent_id, user_id, namespace, item_key)
);
comment on table store_items is 'Items of LangGraph''s store: kept as they are given, no beliefs.';
comment on column store_items.agent_id is 'The bot whose memory this is.';
comment on column store_items.user_id is 'The person.';
comment on column store_items.namespace is 'The labels of the namespace, joined by stops.';
comment on column store_items.item_key is 'Identifies the item in its namespace.';
comment on column store_items.item is 'The item, as a JSON object.';
comment on column store_items.words is 'What a search by meaning compares; null where it isn''t to find the item.';
comment on column store_items.created_at is 'When it was first put.';
comment on column store_items.updated_at is 'When it was last put.';
