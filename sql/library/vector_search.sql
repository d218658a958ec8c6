-- The k rows of a table that are nearest in meaning to a text (or to a vector), nearest first.
--
--   from vector_search('chat_turns', 'what did I say about trains?', k := 5, session_id := 's1');
--
-- Scope filters apply before the top k. A row whose session_id is '' belongs to every session. A filter on a column the
-- table doesn't have is an error. The vector column is called embedding unless "column" says otherwise (column is a
-- reserved word in SQL, hence the quotes; vector_column is the same without them).
--
-- Rows that have embedding_bits (the recipe search/index gives them to large tables) are first compared by these: of the
-- `candidates` nearest, 200 a hit and at least 2,000, the vectors themselves are read. candidates := 0 compares every vector.

-- Which components of a vector are positive, a bit each. Two vectors that differ in few bits point the same way: the
-- share of differing bits estimates the angle (Charikar, Similarity estimation techniques from rounding algorithms, 2002).
create or replace macro recall_sql.main.sign_bits(vector) as
    array_to_string(list_transform(vector::float[], lambda x: if(x > 0, '1', '0')), '')::bit;

-- `no_such_column` gives every optional column a value that is met only where the table itself doesn't have the column:
-- an unqualified name means the table's column first, and the outer one otherwise.
create or replace macro recall_sql.main._vector_rows(tbl, in_session, of_user, of_agent, vectors) as table
select scoped.*
from (
    select
        '<none>' as session_id, '<none>' as user_id, '<none>' as agent_id, null::bigint as turn_id, null::bit as embedding_bits
) as no_such_column,
lateral (
    select candidate.*, turn_id as _key, if(vectors = 'embedding', embedding_bits, null) as _bits
    from query_table(tbl) as candidate
    where (in_session is null or if(session_id = '<none>', error('VECTOR_SEARCH: the table has no column session_id'), session_id in (in_session, '')))
      and (of_user is null or if(user_id = '<none>', error('VECTOR_SEARCH: the table has no column user_id'), user_id = of_user))
      and (of_agent is null or if(agent_id = '<none>', error('VECTOR_SEARCH: the table has no column agent_id'), agent_id = of_agent))
) as scoped;

create or replace macro recall_sql.main._vector_search(
    tbl, query, k, in_session, of_user, of_agent, vectors, lowest, candidates
) as table
with embedded as materialized (
    select recall_query_vector(query) as vector
),
asked as materialized (
    select vector, recall_sql.main.sign_bits(vector) as bits
    from embedded
    where array_inner_product(vector, vector) > 0
),
near as materialized (
    select _key
    from recall_sql.main._vector_rows(tbl, in_session, of_user, of_agent, vectors)
    where _bits is not null and _key is not null
    order by bit_count(xor(_bits, (select bits from asked))), _key
    limit candidates
),
compared as (
    from recall_sql.main._vector_rows(tbl, in_session, of_user, of_agent, vectors)
    where candidates > 0 and _key in (from near)
    union all
    from recall_sql.main._vector_rows(tbl, in_session, of_user, of_agent, vectors)
    where candidates = 0 or _bits is null or _key is null
),
scored as (
    select
        * exclude (_key, _bits),
        array_cosine_similarity(struct_extract(compared, vectors), (select vector from asked)) as score
    from compared
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
order by rank;

create or replace macro recall_sql.main.vector_search(
    tbl, query, k := 10, session_id := null, user_id := null, agent_id := null,
    "column" := null, vector_column := null, min_score := null, candidates := null
) as table
from recall_sql.main._vector_search(
    tbl, query, k, session_id, user_id, agent_id, coalesce("column", vector_column, 'embedding'), min_score,
    coalesce(candidates, greatest(2000, 200 * k))
);
