-- The k rows of a table that are nearest in meaning to a text (or to a vector), nearest first.
--
--   from vector_search('chat_turns', 'what did I say about trains?', k := 5, session_id := 's1');
--
-- Scope filters apply before the top k. A row whose session_id is '' belongs to every session. A filter on a column the
-- table doesn't have is an error. The vector column is called embedding unless "column" says otherwise (column is a
-- reserved word in SQL, hence the quotes; vector_column is the same without them).

-- `no_such_column` gives every scope column a value that is met only where the table itself doesn't have the column:
-- an unqualified name means the table's column first, and the outer one otherwise.
create or replace macro recall_sql.main._vector_search(
    tbl, query, k, in_session, of_user, of_agent, vectors, lowest
) as table
with scored as (
    select
        scoped.*,
        array_cosine_similarity(struct_extract(scoped, vectors), recall_query_vector(query)) as score
    from (select '<none>' as session_id, '<none>' as user_id, '<none>' as agent_id) as no_such_column,
    lateral (
        from query_table(tbl) as candidate
        where (in_session is null or if(session_id = '<none>', error('VECTOR_SEARCH: the table has no column session_id'), session_id in (in_session, '')))
          and (of_user is null or if(user_id = '<none>', error('VECTOR_SEARCH: the table has no column user_id'), user_id = of_user))
          and (of_agent is null or if(agent_id = '<none>', error('VECTOR_SEARCH: the table has no column agent_id'), agent_id = of_agent))
    ) as scoped
),
-- a vector of zeros has no direction: its score is not a number (-1 on DuckDB 1.5), and it is never near anything
nearest as (
    from scored
    order by if(isnan(score), null, score) desc nulls last
    limit k
)
select nearest.*, row_number() over (order by score desc) as rank
from nearest
where score is not null and not isnan(score) and (lowest is null or score >= lowest)
  and array_inner_product(struct_extract(nearest, vectors), struct_extract(nearest, vectors)) > 0
  and array_inner_product(recall_query_vector(query), recall_query_vector(query)) > 0
order by rank;

create or replace macro recall_sql.main.vector_search(
    tbl, query, k := 10, session_id := null, user_id := null, agent_id := null,
    "column" := null, vector_column := null, min_score := null
) as table
from recall_sql.main._vector_search(
    tbl, query, k, session_id, user_id, agent_id, coalesce("column", vector_column, 'embedding'), min_score
);
