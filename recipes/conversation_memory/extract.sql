/* recipe
name: conversation_memory/extract
description: Read the turns that nobody has read yet, and keep what the extractor answered as it came.
partition_by: session
params:
  model:      {type: text, default: null, help: "Who extracts: rules or a model string; the setting extractor, if not given."}
  roles:      {type: list, default: [user], help: "Whose turns may state facts."}
  categories: {type: list, default: null, help: "Only facts of these categories."}
  agent_id:   {type: text, default: null, help: "Only turns of this bot."}
  user_id:    {type: text, default: null, help: "Only turns of this person."}
  session_id: {type: text, default: null, help: "Only turns of this conversation."}
  turn_ids:   {type: list, default: null, help: "Only these turns."}
  threads:    {type: ident, default: chat_threads, help: "Table of threads."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  payloads:   {type: ident, default: chat_fact_payloads, help: "Table of raw answers."}
*/

-- step: pending
-- Turns that nobody has read. Facts about a person come from that person's own turns: what the assistant says back, or
-- invents, confirms nothing and creates nothing. What was read is known by its answer and not by the watermark: a turn
-- that was being written while the watermark moved may stand below it.
create or replace temp table unread_turns as
select t.turn_id, t.agent_id, t.user_id, t.session_id, t.position, t.content, t.created_at
from {{ turns | ident }} as t
anti join {{ payloads | ident }} as p on p.turn_id = t.turn_id
where t.role in (select unnest({{ roles }}));

create or replace temp table pending_turns as
select t.turn_id, t.agent_id, t.user_id, t.session_id, t.position, t.content, t.created_at
from unread_turns as t
where ({{ turn_ids }} is null or t.turn_id in (select unnest({{ turn_ids }}::bigint[])))
  and ({{ agent_id }} is null or t.agent_id = {{ agent_id }})
  and ({{ user_id }} is null or t.user_id = {{ user_id }})
  and ({{ session_id }} is null or t.session_id = {{ session_id }});

-- step: what_it_needs_to_know
-- A model is told what is believed already and what was said just before; the rules need that only for a correction.
create or replace temp table who_extracts as
select coalesce({{ model }}, (select value from recall_settings() where name = 'extractor')) as model;

create or replace temp table known_beliefs as
select
    s.agent_id, s.user_id, s.session_id,
    list({'alias': left(f.fact_id::varchar, 8), 'category': f.category, 'fact_key': f.fact_key, 'fact_value': f.fact_value}
        order by f.category, f.fact_key) as known
from (select distinct agent_id, user_id, session_id from pending_turns) as s
join {{ facts | ident }} as f
    on f.agent_id = s.agent_id and f.user_id = s.user_id and f.session_id in ('', s.session_id)
group by all;

create or replace temp table said_before as
select
    t.turn_id,
    list({'role': b.role, 'content': b.content} order by b.position) as context
from pending_turns as t
join {{ turns | ident }} as b
    on b.agent_id = t.agent_id and b.user_id = t.user_id and b.session_id = t.session_id
    and b.position between t.position - 4 and t.position - 1
cross join who_extracts as w
where w.model <> 'rules' or looks_like_correction(t.content)
group by t.turn_id;

-- step: extract
-- A turn that can't be read stays pending, and the error is in recall_calls.
insert into {{ payloads | ident }} (turn_id, payload, model, extracted_at, run_id)
select turn_id, payload, model, {{ run_started_at }}, {{ run_id }}
from (
    select
        t.turn_id, w.model,
        to_json(extract_facts(t.content, {
            'model': w.model,
            'categories': {{ categories }}::varchar[],
            'known': case when b.context is not null then k.known end,
            'context': b.context,
            'now': t.created_at,
            'on_error': 'null'
        }))::varchar as payload
    from pending_turns as t
    cross join who_extracts as w
    left join said_before as b using (turn_id)
    left join known_beliefs as k using (agent_id, user_id, session_id)
)
where payload is not null;

-- step: watermark
-- Every turn up to here has been read.
update {{ threads | ident }} as h
set extracted_through = reached.position
from (
    select
        t.agent_id, t.user_id, t.session_id,
        coalesce(min(t.position) filter (p.turn_id is null) - 1, max(t.position)) as position
    from unread_turns as t
    semi join pending_turns as k using (agent_id, user_id, session_id)
    left join {{ payloads | ident }} as p using (turn_id)
    group by all
) as reached
where h.agent_id = reached.agent_id and h.user_id = reached.user_id and h.session_id = reached.session_id
  and reached.position > h.extracted_through;

-- step: done
-- In the transaction that keeps the answer, so that nobody can forget the turn in between.
delete from chat_turn_attempts
where turn_id in (select p.turn_id from pending_turns as p semi join {{ payloads | ident }} using (turn_id));

-- step: report
-- result: Read
select
    count(*) as turns,
    count(p.turn_id) as read,
    count(*) - count(p.turn_id) as still_pending
from pending_turns as t
left join {{ payloads | ident }} as p using (turn_id);
