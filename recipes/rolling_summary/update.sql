/* recipe
name: rolling_summary/update
description: Carry the summary of each conversation forward over what was said since. One row per conversation; a failed call leaves the old one.
params:
  summarize:  {type: bool, default: true, help: "False does nothing; conversation_memory/all asks with it."}
  model:      {type: text, default: null, help: "Who writes; the setting llm, if not given."}
  agent_id:   {type: text, default: null, help: "Only conversations of this bot."}
  user_id:    {type: text, default: null, help: "Only conversations of this person."}
  session_id: {type: text, default: null, help: "Only this conversation."}
  leave:      {type: int, default: 4, min: 0, help: "How many of the last turns to leave out: the context has them word for word."}
  min_turns:  {type: int, default: 4, min: 1, help: "Wait until this many turns have come together."}
  batch:      {type: int, default: 40, min: 1, help: "How many turns to take in at once."}
  max_tokens: {type: int, default: 250, min: 1, help: "Longest summary in tokens."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
  summaries:  {type: ident, default: chat_summaries, help: "Table of summaries."}
*/

{% if summarize %}
-- step: said_since
-- Turns beyond the one the summary reaches to, oldest first, without the last few.
create or replace temp table said_since as
select t.turn_id, t.agent_id, t.user_id, t.session_id, t.position, t.role, t.content
from {{ turns | ident }} as t
left join {{ summaries | ident }} as s using (agent_id, user_id, session_id)
left join {{ turns | ident }} as reached on reached.turn_id = s.through_turn_id
where t.position > coalesce(reached.position, 0)
  and ({{ agent_id }} is null or t.agent_id = {{ agent_id }})
  and ({{ user_id }} is null or t.user_id = {{ user_id }})
  and ({{ session_id }} is null or t.session_id = {{ session_id }})
qualify row_number() over (partition by t.agent_id, t.user_id, t.session_id order by t.position desc) > {{ leave }};

create or replace temp table to_summarize as
select
    agent_id, user_id, session_id,
    max_by(turn_id, position) as through_turn_id,
    string_agg(role || ': ' || shortened(content, 1000), E'\n' order by position) as said
from (
    from said_since
    qualify row_number() over (partition by agent_id, user_id, session_id order by position) <= {{ batch }}
)
group by all
having count(*) >= {{ min_turns }};

-- step: write
-- The old summary and what came after become the new one. What can't be written now is written by the next run.
create or replace temp table new_summaries as
select agent_id, user_id, session_id, through_turn_id, trim(summary) as summary
from (
    select
        n.agent_id, n.user_id, n.session_id, n.through_turn_id,
        generate(
            concat(
                'Summary so far: ', coalesce(s.summary, '(none)'), E'\n\nWhat was said since:\n', n.said,
                E'\n\nWrite the new summary in a few plain sentences: what the user wants, has decided and has changed. ',
                'Where the new contradicts the old, keep only the new.'
            ),
            {
                'model': {{ model }}, 'max_tokens': {{ max_tokens }}, 'on_error': 'null',
                'system': 'You keep a short running summary of a conversation.'
            }
        ) as summary
    from to_summarize as n
    left join {{ summaries | ident }} as s using (agent_id, user_id, session_id)
)
where trim(coalesce(summary, '')) <> '';

-- step: keep
insert or replace into {{ summaries | ident }} (agent_id, user_id, session_id, summary, through_turn_id, updated_at)
select agent_id, user_id, session_id, summary, through_turn_id, {{ run_started_at }}
from new_summaries;

-- step: report
-- result: Summaries
select session_id, through_turn_id, summary from new_summaries order by agent_id, user_id, session_id;
{% endif %}
