-- The rows a search may rank, whatever their table, and what search needs to know of each. A column that the table
-- doesn't have is NULL here.
--
-- _key is the turn_id; where there is none, rows of equal text, time and scope share a key, since they score the same.
-- _thread and _place say which rows stand side by side. Filters of scope leave rows out; _wanted says whether a row may
-- be a hit itself: one that may not still lends its words to its neighbours.
create or replace macro recall_sql.main._search_rows(
    tbl, text_column, vector_column, in_session, of_user, of_agent, of_roles, from_time, to_time
) as table
with candidates as (
    select *, coalesce(content, concat_ws(' ', category, replace(fact_key, '_', ' '), fact_value, evidence)) as _text
    from (
        from query_table(tbl)
        union all by name
        select
            null::varchar as session_id, null::varchar as user_id, null::varchar as agent_id, null::varchar as role,
            null::bigint as turn_id, null::bigint as position, null::timestamptz as created_at, null::timestamptz as observed_at,
            null::varchar as content, null::varchar as category, null::varchar as fact_key, null::varchar as fact_value,
            null::varchar as evidence, null::double as confidence, null::varchar as kind, null::float[{{ dimension }}] as embedding,
            null::bit as embedding_bits
        where false
    )
    where (in_session is null or session_id in (in_session, ''))
      and (of_user is null or user_id = of_user)
      and (of_agent is null or agent_id = of_agent)
),
described as (
    select
        hash(agent_id, user_id, session_id) as scope,
        try_cast(turn_id as bigint) as turn,
        if(session_id is null, null, try_cast(position as bigint)) as place,
        coalesce(created_at, observed_at)::timestamptz as _said_at,
        role,
        columns(lambda c: c = coalesce(text_column, '_text'))::varchar as _words,
        columns(lambda c: c = coalesce(vector_column, 'embedding')) as _vector,
        turn_id as _turn,
        if(coalesce(vector_column, 'embedding') = 'embedding', embedding_bits, null) as _bits,
        -- how far the row itself is to be believed: only facts say so
        if(fact_key is null, 1.0, (0.5 + 0.5 * confidence) * if(kind = 'PREFERENCE', 0.9, 1.0)) as _belief
    from candidates
)
select
    coalesce(turn, (hash(_words, _said_at, role, scope) >> 1)::bigint) as _key,
    if(place is null, _key::ubigint, scope) as _thread,
    coalesce(place, 0) as _place,
    place is null as _alone,
    _said_at, _words, _vector, _turn, _bits, _belief,
    hash(_words, _said_at) as _hash,
    coalesce(
        (of_roles is null or list_contains(of_roles, role))
        and (from_time is null or _said_at >= from_time::timestamptz)
        and (to_time is null or _said_at < to_time::timestamptz),
        false
    ) as _wanted
from described;

-- The same rows with all their columns, as the struct whole, for those few that are returned. Of its two scans the
-- planner keeps one; in the first it looks the few turn_ids up instead of reading the wide columns of every row.
create or replace macro recall_sql.main._rows_by_key(tbl, text_column) as table
with candidates as not materialized (
    select *, coalesce(content, concat_ws(' ', category, replace(fact_key, '_', ' '), fact_value, evidence)) as _text
    from (
        select candidate as whole, candidate.* from query_table(tbl) as candidate
        union all by name
        select
            null::varchar as session_id, null::varchar as user_id, null::varchar as agent_id, null::varchar as role,
            null::bigint as turn_id, null::timestamptz as created_at, null::timestamptz as observed_at,
            null::varchar as content, null::varchar as category, null::varchar as fact_key, null::varchar as fact_value,
            null::varchar as evidence
        where false
    )
)
select whole, turn_id as _key
from candidates
where turn_id is not null
union all
select
    whole,
    (hash(
        columns(lambda c: c = coalesce(text_column, '_text'))::varchar,
        coalesce(created_at, observed_at)::timestamptz, role, hash(agent_id, user_id, session_id)
    ) >> 1)::bigint
from candidates
where turn_id is null;
