/* recipe
name: conversation_memory/land
description: Land the extractor's answers as typed rows, and let them meet what is believed.
params:
  fact_scope: {type: choice, choices: [auto, session, user], default: auto, help: "Where facts hold; auto asks the vocabulary."}
  turn_ids:   {type: list, default: null, help: "Only what was read from these turns."}
  turns:      {type: ident, default: chat_turns, help: "Table of turns."}
  payloads:   {type: ident, default: chat_fact_payloads, help: "Table of raw answers."}
  facts:      {type: ident, default: chat_facts, help: "Table of facts."}
  history:    {type: ident, default: chat_fact_history, help: "Table of events."}
*/

-- step: candidates
-- One row per fact that was said. Who speaks decides how far it is trusted.
create or replace temp table candidates as
select
    t.agent_id, t.user_id, t.session_id,
    said.category, said.fact_key, said.fact_value, said.confidence, said.kind, said.op,
    case t.role
        when 'assistant' then 'AGENT'
        else upper(t.role)
    end as source,
    t.created_at as observed_at,
    t.turn_id as source_turn_id,
    said.evidence, said.replaces
from (
    select turn_id, unnest(parse_facts(payload)) as said
    from {{ payloads | ident }}
    where not landed
      and ({{ turn_ids }} is null or turn_id in (select unnest({{ turn_ids }}::bigint[])))
)
join {{ turns | ident }} as t using (turn_id);

{% set whose = "everyone" %}
{% include "conversation_memory/_believe.sql" %}

-- step: landed
update {{ payloads | ident }}
set landed = true
where not landed
  and ({{ turn_ids }} is null or turn_id in (select unnest({{ turn_ids }}::bigint[])));

-- step: report
-- result: What changed
select event, count(*) as times
from {{ history | ident }}
where run_id = {{ run_id }}
group by event
order by times desc, event;
