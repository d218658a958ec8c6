{#- Which records a change is about. Reads record_changes (change_id, user_id, said_at, match) and the record table,
    writes record_targets (change_id, id, place, among, chosen, score). -#}
{% macro targets(table) %}
-- A record fits if it fits every criterion. A value fits by number, by day, by the same text without case and accents,
-- by containing it, and by likeness; a day that the record doesn't name is the day it was written.
create or replace temp table record_rows as
select
    r.id, r.user_id, r.created_at, to_json(r) as fields,
    coalesce(
        list_first([
            try_cast(left(json_extract_string(to_json(r), '$."' || c.column_name || '"'), 10) as date)
            for c in (select list({'column_name': column_name} order by column_index) from record_dates)
        ]),
        r.created_at::date
    ) as happened_on
from {{ table | ident }} as r
where r.user_id in (select user_id from record_changes);

create or replace temp table record_targets as
with criteria as (
    select change_id, user_id, unnest(json_keys(match -> 'where')) as field, match
    from record_changes
),
compared as (
    select
        w.change_id, r.id,
        json_extract_string(r.fields, '$."' || w.field || '"') as has,
        json_extract_string(w.match, '$.where."' || w.field || '"') as wanted,
        r.created_at::date::varchar as written_on
    from criteria as w
    join record_rows as r using (user_id)
    join record_changes as c using (change_id)
    where r.created_at <= c.said_at
),
normal as (
    select
        change_id, id, has, wanted, written_on,
        trim(strip_accents(lower(if(has[1] = '[', regexp_replace(has, '[\[\]",]', ' ', 'g'), has)))) as has_text,
        trim(strip_accents(lower(wanted))) as wanted_text,
        try_cast(has as double) as has_number,
        try_cast(wanted as double) as wanted_number,
        regexp_full_match(wanted, '\d{4}-\d{2}-\d{2}') as is_day
    from compared
),
scored as (
    select
        change_id, id,
        case
            when has is null and is_day then if(written_on = wanted, 0.9, 0)
            when has is null then 0
            when is_day then if(left(has, 10) = wanted, 1, 0)
            when has_number is not null and wanted_number is not null then if(abs(has_number - wanted_number) < 0.005, 1, 0)
            when has_text = wanted_text then 1
            when contains(' ' || has_text || ' ', ' ' || wanted_text || ' ') then 0.9
            when contains(' ' || wanted_text || ' ', ' ' || has_text || ' ') then 0.85
            when jaro_winkler_similarity(has_text, wanted_text) >= 0.88
                then 0.8 * jaro_winkler_similarity(has_text, wanted_text)
            else 0
        end as score
    from normal
),
fitting as (
    select change_id, id, avg(score) as score from scored group by all having min(score) > 0
    union all
    select c.change_id, r.id, 1.0
    from record_changes as c
    join record_rows as r using (user_id)
    where json_array_length(json_keys(c.match -> 'where')::json) = 0 and r.created_at <= c.said_at
),
-- An exact match leaves the merely similar ones out.
nearest as (
    select change_id, id, score from fitting
    qualify score >= max(score) over (partition by change_id) - 0.12
),
placed as (
    select
        n.change_id, n.id, n.score,
        count(*) over (partition by n.change_id) as among,
        row_number() over (
            partition by n.change_id
            order by
                case when c.match ->> 'recency' = 'oldest' then r.happened_on end asc,
                case when c.match ->> 'recency' = 'oldest' then r.created_at end asc,
                r.happened_on desc, r.created_at desc, n.id
        ) as place,
        c.match ->> 'recency' as recency,
        (c.match ->> 'count')::integer as wanted_count
    from nearest as n
    join record_rows as r using (id)
    join record_changes as c using (change_id)
)
-- "All" takes all, "the last two" the first two in order; otherwise there must be no more than were asked for.
select
    change_id, id, place, among, score,
    case
        when wanted_count is null then true
        when recency is not null then place <= wanted_count
        else among <= wanted_count
    end as chosen
from placed;
{% endmacro %}

{% macro dates(table) %}
-- The day a record is about: its first date, in the order the fields were declared.
create or replace temp table record_dates as
select column_name, column_index
from duckdb_columns()
where table_name = {{ table }} and database_name = current_database()
  and data_type in ('DATE', 'TIMESTAMP WITH TIME ZONE') and column_name not in ('created_at', 'updated_at')
order by column_index
limit 1;
{% endmacro %}
