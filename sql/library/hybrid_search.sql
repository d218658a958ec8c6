-- The k rows of a table that answer a question best: by their words (BM25) and by their meaning (vectors), best first.
--
--   from hybrid_search('chat_turns', 'where did I want to travel in April?', user_id := 'lena', k := 5);
--
-- Filters apply before anything is ranked: session_id (rows of session '' belong to every session), user_id, agent_id,
-- roles := ['user'], since := and until := (instants; the end is not included). A filter on a column the table doesn't
-- have is an error. neighbours := 1 also returns the turns before and after each of the k, under its rank.
-- The words are in content (for facts: category, key, value and evidence) unless text_column says otherwise.
--
-- score = lexical_weight × words + vector_weight × cosine, where
--   words   BM25 of the turn with its neighbours, as a share of what a perfect match would get: from 0 to 1.
--           A word said one turn away counts half (spread), two turns away a quarter.
--           BM25: Robertson and Zaragoza, The Probabilistic Relevance Framework (2009); k1 = 1.2, b = 0.5.
--   cosine  of the embeddings; a row that has none yet gets the average of the others.
-- Facts are weighed by their confidence. recency := 0.3 lets age decide 30 % of the score. Measured: docs/search.md.
-- What is read from the tables: _search_rows.sql. How it is counted: _search_words.sql.


create or replace macro recall_sql.main._search_check(
    names, text_column, in_session, of_user, of_agent, of_roles, from_time, to_time
) as case
    when text_column is null and not list_has_any(names, ['content', 'fact_value'])
        then error('HYBRID_SEARCH: the table has no column content; text_column := … says which one holds the words')
    when in_session is not null and not list_contains(names, 'session_id')
        then error('HYBRID_SEARCH: the table has no column session_id')
    when of_user is not null and not list_contains(names, 'user_id') then error('HYBRID_SEARCH: the table has no column user_id')
    when of_agent is not null and not list_contains(names, 'agent_id') then error('HYBRID_SEARCH: the table has no column agent_id')
    when of_roles is not null and not list_contains(names, 'role') then error('HYBRID_SEARCH: the table has no column role')
    when coalesce(from_time, to_time) is not null and not list_has_any(names, ['created_at', 'observed_at'])
        then error('HYBRID_SEARCH: since and until need a column created_at')
    else true
end;

create or replace macro recall_sql.main._hybrid_search(
    tbl, query, k, in_session, of_user, of_agent, of_roles, from_time, to_time, neighbours, text_column, vector_column,
    lexical_weight, vector_weight, recency, spread, postings, indexed
) as table
with checked as (
    select recall_sql.main._search_check(
        struct_keys(candidate), text_column, in_session, of_user, of_agent, of_roles, from_time, to_time
    ) as fine
    from query_table(tbl) as candidate
    limit 1
),
hits as materialized (
    from recall_sql.main._search_scores(
        tbl, query, k, text_column, vector_column, in_session, of_user, of_agent, of_roles, from_time, to_time,
        lexical_weight, vector_weight, recency, spread, postings, indexed
    )
    where (select fine from checked)
),
beside as materialized (
    select live._key, hits.score, hits.rank, live._place
    from hits
    join recall_sql.main._search_rows(tbl, text_column, vector_column, in_session, of_user, of_agent, null, null, null) as live
        on live._thread = hits._thread and live._place between hits._place - neighbours and hits._place + neighbours
    where neighbours > 0
    qualify row_number() over (partition by live._key order by live._key <> hits._key, hits.rank) = 1
),
returned as materialized (
    select _key, score, rank, _place from hits where neighbours = 0
    union all
    select _key, score, rank, _place from beside
)
select unnest(whole), score, rank
from recall_sql.main._rows_by_key(tbl, text_column) as found
join returned using (_key)
order by rank, _place, _key;

create or replace macro recall_sql.main.hybrid_search(
    tbl, query, k := 10, session_id := null, user_id := null, agent_id := null, roles := null, since := null, until := null,
    neighbours := 0, text_column := null, vector_column := null,
    lexical_weight := 1.0, vector_weight := 0.4, recency := 0.0, spread := 0.5,
    postings := 'search_postings', indexed := 'search_turns'
) as table
from recall_sql.main._hybrid_search(
    tbl, query, k, session_id, user_id, agent_id, roles, since, until, neighbours, text_column, vector_column,
    lexical_weight, vector_weight, recency, spread, postings, indexed
);
