/* recipe
name: beliefs/export
description: Everything held about one person, as one JSON object. Vectors are left out; they are made from the texts in it.
params:
  user_id:   {type: text, help: "The person."}
  threads:   {type: ident, default: chat_threads, help: "Table of threads."}
  turns:     {type: ident, default: chat_turns, help: "Table of turns."}
  payloads:  {type: ident, default: chat_fact_payloads, help: "Table of raw answers."}
  facts:     {type: ident, default: chat_facts, help: "Table of facts."}
  history:   {type: ident, default: chat_fact_history, help: "Table of events."}
  summaries: {type: ident, default: chat_summaries, help: "Table of summaries."}
*/

-- step: check
select if(trim({{ user_id }}) = '', error('user_id is empty: name the person'), true);

-- step: show
-- result: Export
select json_object(
    'user_id', {{ user_id }}::varchar,
    'threads', (select coalesce(list(h order by h.agent_id, h.session_id), []) from {{ threads | ident }} as h where user_id = {{ user_id }}),
    'turns', (
        select coalesce(list(t order by t.agent_id, t.session_id, t.position), [])
        from (select columns(lambda c: c not in ('embedding', 'embedding_bits')) from {{ turns | ident }} where user_id = {{ user_id }}) as t
    ),
    'extractions', (
        select coalesce(list(p order by p.turn_id), [])
        from {{ payloads | ident }} as p
        semi join (from {{ turns | ident }} where user_id = {{ user_id }}) as t using (turn_id)
    ),
    'facts', (
        select coalesce(list(f order by f.agent_id, f.session_id, f.category, f.fact_key), [])
        from (select * exclude (embedding) from {{ facts | ident }} where user_id = {{ user_id }}) as f
    ),
    'history', (
        select coalesce(list(h order by h.event_id), [])
        from {{ history | ident }} as h where user_id = {{ user_id }}
    ),
    'store', (
        select coalesce(list(i order by i.agent_id, i.namespace, i.item_key), [])
        from (select * exclude (words) from store_items where user_id = {{ user_id }}) as i
    ),
    'keys', (
        select coalesce(list(k order by k.key_id), [])
        from (select * exclude (secret_hash) from recall_keys where user_id = {{ user_id }}) as k
    ),
    'requests', (
        select coalesce(list(r order by r.agent_id, r.created_at), [])
        from (select * exclude (request_hash) from recall_requests where user_id = {{ user_id }}) as r
    ),
    'summaries', (select coalesce(list(s order by s.agent_id, s.session_id), []) from {{ summaries | ident }} as s where user_id = {{ user_id }})
) as export;
