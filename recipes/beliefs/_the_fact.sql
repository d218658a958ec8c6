-- step: the_fact
-- One belief of this person, by its fact_id (or the first eight letters of it) or by category.key.
create or replace temp table the_fact as
select fact_id, session_id, category, fact_key, fact_value, kind, source
from {{ facts | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }}
  and (
      (length({{ fact }}) >= 8 and starts_with(fact_id::varchar, lower({{ fact }})))
      or category || '.' || fact_key = {{ fact }}
  )
  and ({{ session_id }} is null or session_id = {{ session_id }});

select
    case count(*)
        when 1 then true
        when 0 then error('refused: there is no fact ' || {{ fact }} || '; name it by its fact_id or as category.key')
        else error('refused: ' || {{ fact }} || ' is ' || count(*) || ' facts: ' || string_agg(fact_id || ' of session ''' || session_id || '''', ', '))
    end
from the_fact;
