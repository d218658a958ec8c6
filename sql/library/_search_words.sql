-- How well the words and the meaning of each row fit a query. What the numbers mean: hybrid_search.sql.

-- The words a row is found by: what was said, and on which day.
create or replace macro recall_sql.main.search_text(words, said_at) as
    concat_ws(' ', words, strftime(make_timestamp(epoch_us(said_at)), '%-d %B %Y'));

create or replace macro recall_sql.main._search_scores(
    tbl, query, k, text_column, vector_column, in_session, of_user, of_agent, of_roles, from_time, to_time,
    lexical_weight, vector_weight, recency, spread, postings, indexed
) as table
with terms as materialized (
    select unnest(search_terms(query)) as term
),
asked as materialized (
    select recall_query_vector(if(vector_weight > 0, query, null)) as vector
),
live as materialized (
    select _key, _thread, _place, _alone, _said_at, _words, _belief, _hash, _wanted
    from recall_sql.main._search_rows(
        tbl, text_column, vector_column, in_session, of_user, of_agent, of_roles, from_time, to_time
    )
),
-- rows whose words are in the postings as they stand now; length is null for all others, which are read now
known as materialized (
    select live._key, live._thread, live._place, live._alone, if(spread > 0, i.window_length, i.length) as length
    from live
    left join query_table(indexed) as i on i.turn_id = live._key and i.text_hash = live._hash
),
fresh as materialized (
    select _key, _thread, _place, _alone, search_tokens(recall_sql.main.search_text(_words, _said_at)) as tokens
    from live
    where _key in (select _key from known where length is null)
),
lengths as materialized (
    select _key, length
    from known
    where length is not null
    union all
    -- of a row that is read now, the neighbours are taken to be of ordinary length
    select _key, len(tokens) + if(_alone or spread = 0, 0, 1.5 * avg(len(tokens)) over ())
    from fresh
),
written as materialized (
    select p.turn_id, p.term, p.tf
    from query_table(postings) as p
    semi join terms using (term)
),
said as (
    select known._thread, known._place, written.term, written.tf
    from written
    join known on known._key = written.turn_id and known.length is not null
    union all
    select _thread, _place, term, count(*)
    from (select _thread, _place, unnest(tokens) as term from fresh)
    semi join terms using (term)
    group by all
),
-- a word also counts for the turns beside it, the less the farther away
heard as (
    select _thread, _place + step as _place, term, sum(tf * pow(spread, abs(step))) as tf
    from said
    cross join (select unnest([-2, -1, 0, 1, 2]) as step)
    where step = 0 or spread > 0
    group by all
),
matched as materialized (
    select live._key, live._wanted, heard.term, heard.tf
    from heard
    join live on live._thread = heard._thread and live._place = heard._place
),
rarity as materialized (
    select term, ln(1 + ((select count(*) from live) - count(*) + 0.5) / (count(*) + 0.5)) as idf
    from matched
    group by term
),
by_words as materialized (
    select
        matched._key,
        sum(idf * 2.2 * tf / (tf + 1.2 * (0.5 + 0.5 * lengths.length / (select avg(length) from lengths))))
        / (2.2 * (select sum(idf) from rarity)) as words
    from matched
    join rarity using (term)
    join lengths using (_key)
    where _wanted and lexical_weight > 0
    group by matched._key
),
best_words as materialized (
    select _key
    from by_words
    order by words desc, _key
    limit greatest(200, 10 * k)
),
-- of rows with bits, only the vectors of those that these say are near are read, and of those that have the words
near as materialized (
    select _turn
    from recall_sql.main._search_rows(
        tbl, text_column, vector_column, in_session, of_user, of_agent, of_roles, from_time, to_time
    )
    where _wanted and vector_weight > 0 and _bits is not null and _turn is not null
    order by bit_count(xor(_bits, (select recall_sql.main.sign_bits(vector) from asked))), _turn
    limit greatest(1000, 100 * k)
),
nearby as materialized (
    select _turn, _vector
    from recall_sql.main._search_rows(
        tbl, text_column, vector_column, in_session, of_user, of_agent, of_roles, from_time, to_time
    )
    where _turn in (from near union from best_words) and vector_weight > 0 and _bits is not null
),
by_meaning as materialized (
    select _turn as _key, array_cosine_similarity(_vector, (select vector from asked)) as cosine
    from nearby
    union all
    select _key, array_cosine_similarity(_vector, (select vector from asked))
    from recall_sql.main._search_rows(
        tbl, text_column, vector_column, in_session, of_user, of_agent, of_roles, from_time, to_time
    )
    where _wanted and vector_weight > 0 and _bits is null and _vector is not null
),
-- a row is looked at if it is among the best by either
candidates as (
    from best_words
    union
    (select _key from by_meaning where not isnan(cosine) order by cosine desc, _key limit greatest(100, 10 * k))
),
weighed as (
    select
        live._key, live._thread, live._place, live._said_at, live._belief,
        coalesce(by_words.words, 0) as words,
        if(isnan(by_meaning.cosine), null, by_meaning.cosine) as cosine,
        epoch(live._said_at) as moment
    from live
    semi join candidates using (_key)
    left join by_words using (_key)
    left join by_meaning using (_key)
    where live._wanted
    qualify row_number() over (partition by live._key) = 1
),
scored as (
    select
        _key, _thread, _place, _said_at,
        -- rounded, because sums of floats differ in the last digits from run to run
        round(
            (1 - recency) * _belief * (lexical_weight * words + vector_weight * coalesce(cosine, avg(cosine) over (), 0))
            + recency * coalesce((moment - min(moment) over ()) / nullif(max(moment) over () - min(moment) over (), 0), 1),
            6
        ) as score
    from weighed
)
select _key, _thread, _place, score, row_number() over (order by score desc, _said_at desc nulls last, _key) as rank
from scored
qualify rank <= k;
