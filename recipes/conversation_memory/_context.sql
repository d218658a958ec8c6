{# Assembles the context of one conversation into the temp tables context_lines and assembled_context (one row). #}
-- step: facts_that_hold
-- Beliefs of this person that hold here: everywhere, or in this conversation. RULE facts always come, whatever is
-- asked; of the others the nearest to the query, and all of them while they fit.
create or replace temp table held_here as
select
    category, fact_key, fact_value, kind, confidence,
    row_number() over (
        partition by kind = 'RULE'
        order by
        {% if query is not none %} array_cosine_similarity(embedding, recall_query_vector({{ query }})) desc nulls last, {% endif %}
        confidence desc, category, fact_key
    ) as nth
from {{ facts | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id in ('', {{ session_id }})
qualify kind = 'RULE' or nth <= {{ max_facts }};

-- step: turns_that_matter
create or replace temp table last_turns as
select turn_id, position, role, content
from {{ turns | ident }}
where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }}
order by position desc
limit {{ max_turns }};

create or replace temp table recalled_turns as
{% if query is none %}
select turn_id, position, role, content from last_turns where false;
{% else %}
select t.turn_id, t.position, t.role, t.content
from (
    from {{ turns | ident }}
    where agent_id = {{ agent_id }} and user_id = {{ user_id }} and session_id = {{ session_id }}
      and role = 'user' and embedding is not null
) as t
anti join last_turns using (turn_id)
order by array_cosine_similarity(t.embedding, recall_query_vector({{ query }})) desc
limit {{ max_recalled }};
{% endif %}

-- step: assemble
create or replace temp table context_lines as
select 1 as part, nth as nth, 'rule' as reason, '- ' || fact_value as line from held_here where kind = 'RULE'
union all
select 2, nth, lower(kind), '- ' || category || '.' || fact_key || ' = ' || fact_value from held_here where kind <> 'RULE'
union all
select 3, position, 'near the question', role || ': ' || content from recalled_turns
union all
select 4, position, 'just said', role || ': ' || content from last_turns;

create or replace temp table assembled_context as
select coalesce(string_agg(heading || E'\n' || lines, E'\n\n' order by part), '') as context
from (
    select
        part,
        ['Standing instructions:', 'What is known about the user:', 'Said earlier:', 'Last turns:'][part] as heading,
        string_agg(line, E'\n' order by nth) as lines
    from context_lines
    group by part
);
