{# Assembles the context of one conversation: temp tables context_lines, assembled_context and context_messages. #}
-- step: lines
-- What is said in it and why: the macro context(), in sql/library/search_context.sql.
create or replace temp table context_lines as
select *, row_number() over () as place
from context(
    {{ session_id }}, {{ query }}, user_id := {{ user_id }}, agent_id := {{ agent_id }},
    max_tokens := {{ context_tokens }}, max_turns := {{ max_turns }}, max_recalled := {{ max_recalled }},
    recall_from := {{ recall_from }}, facts := {{ facts }}, turns := {{ turns }}, summaries := {{ summaries }}
);

{% if answered_by is defined %}
-- The built-in model of 135 million parameters goes on with a list of earlier turns instead of answering: it gets none.
update context_lines
set kept = false
where section = 4 and coalesce({{ answered_by }}, (select value from recall_settings() where name = 'llm')) = 'smollm2';
{% endif %}

-- step: assemble
create or replace temp table context_blocks as
select section, context_heading(section) || E'\n' || string_agg(line, E'\n' order by place) as block
from context_lines
where kept
group by section;

create or replace temp table assembled_context as
select coalesce(string_agg(block, E'\n\n' order by section), '') as context
from context_blocks;

-- The same as chat messages: what is known as the system's, then the last turns as who said them.
create or replace temp table context_messages as
select 0 as place, 'system' as role, string_agg(block, E'\n\n' order by section) as content
from context_blocks
where section < 6
having count(*) > 0
union all
select place, role, substr(line, length(role) + 3)
from context_lines
where kept and section = 6;
