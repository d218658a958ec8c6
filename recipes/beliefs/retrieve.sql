/* recipe
name: beliefs/retrieve
description: The facts a question needs - every RULE, and of the others the nearest to it, PREFERENCE facts a little nearer where the question is about a choice.
params:
  query:      {type: text, help: "The question."}
  k:          {type: int, default: 10, min: 0, help: "How many besides the rules."}
  kinds:      {type: list, default: null, help: "Only facts of these kinds: KNOWLEDGE, RULE, PREFERENCE."}
  min_score:  {type: float, default: 0.1, help: "Facts less near than this are left out, rules apart."}
  agent_id:   {type: text, default: default, help: "The bot."}
  user_id:    {type: text, default: default, help: "The person."}
  session_id: {type: text, default: null, help: "Only what holds in this conversation - its own facts and those that hold everywhere. Of all of them, if not given."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
*/

-- step: weigh
-- Near by meaning, and by words: cosine, and the share of the question's words that the fact has. A choice makes what
-- somebody prefers a fifth nearer.
create or replace temp table weighed as
with asked as (
    select
        search_terms({{ query }}) as terms, recall_query_vector({{ query }}) as vector,
        is_about_a_choice({{ query }}) as about_a_choice
)
select
    f.fact_id, f.session_id, f.category, f.fact_key, f.fact_value, f.kind, f.source, f.confidence, f.observed_at, f.evidence,
    (
        coalesce(array_cosine_similarity(f.embedding, asked.vector), 0)
        + len(list_intersect(
            search_tokens(concat_ws(' ', f.category, replace(f.fact_key, '_', ' '), f.fact_value)), coalesce(asked.terms, [])
        )) / greatest(len(asked.terms), 1)
        + if(f.kind = 'PREFERENCE' and asked.about_a_choice, 0.2, 0)
    )::double as score
from {{ facts | ident }} as f
cross join asked
where f.agent_id = {{ agent_id }} and f.user_id = {{ user_id }}
  and ({{ session_id }} is null or f.session_id in ('', {{ session_id }}))
  and ({{ kinds }} is null or f.kind in (select unnest({{ kinds }})));

-- step: show
-- result: Facts
select * exclude (place)
from (
    select *, row_number() over (partition by kind = 'RULE' order by score desc, confidence desc, category, fact_key) as place
    from weighed
    where kind = 'RULE' or score >= {{ min_score }}
)
where kind = 'RULE' or place <= {{ k }}
order by kind = 'RULE' desc, place;
