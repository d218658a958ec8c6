-- VECTOR_SEARCH over chat_turns by an HNSW index (Malkov and Yashunin, 2016): recall-sql index --hnsw makes one, with
-- DuckDB's extension vss. Approximate, and worth it for many millions of turns that seldom change.
--
--   from hnsw_search('what did I say about trains?', k := 5);
--
-- There is this macro where there is such an index. The index knows no filters, and DuckDB uses it only for a query
-- written as a literal: with session_id, user_id or agent_id, or where the index returns fewer turns than there are, this
-- is VECTOR_SEARCH.
create or replace macro recall_sql.main._hnsw_search(query, k, in_session, of_user, of_agent) as table
with by_index as materialized (
    select * from (
        select *, array_cosine_similarity(embedding, recall_query_vector(query)) as score
        from chat_turns
        order by array_cosine_distance(embedding, recall_query_vector(query))
        limit k
    )
    where in_session is null and of_user is null and of_agent is null and score is not null
),
complete as materialized (
    select (select count(*) from by_index) >= least(k, (select count(embedding) from chat_turns)) as enough
)
select *, row_number() over (order by score desc, turn_id) as rank
from by_index
where (select enough from complete)
union all
from recall_sql.main._vector_search('chat_turns', query, k, in_session, of_user, of_agent, 'embedding', null, greatest(2000, 200 * k))
where not (select enough from complete)
order by rank;

create or replace macro recall_sql.main.hnsw_search(query, k := 10, session_id := null, user_id := null, agent_id := null) as table
from recall_sql.main._hnsw_search(query, k, session_id, user_id, agent_id);
