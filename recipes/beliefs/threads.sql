/* recipe
name: beliefs/threads
description: The conversations there are, the latest first.
params:
  agent_id: {type: text, default: null, help: "Only this bot's."}
  user_id:  {type: text, default: null, help: "Only this person's."}
  session_id: {type: text, default: null, help: "Only this one."}
  most:     {type: int, default: null, min: 0, help: "At most so many."}
  skip:     {type: int, default: 0, min: 0, help: "Leave out so many first."}
  threads:  {type: ident, default: chat_threads, help: "Table of threads."}
  turns:    {type: ident, default: chat_turns, help: "Table of turns."}
*/

-- step: show
-- result: Threads
select
    h.agent_id, h.user_id, h.session_id, any_value(h.title) as title, any_value(h.created_at) as created_at,
    count(t.turn_id) as turns, max(t.created_at) as last_turn_at
from {{ threads | ident }} as h
left join {{ turns | ident }} as t using (agent_id, user_id, session_id)
where ({{ agent_id }} is null or h.agent_id = {{ agent_id }})
  and ({{ user_id }} is null or h.user_id = {{ user_id }})
  and ({{ session_id }} is null or h.session_id = {{ session_id }})
group by h.agent_id, h.user_id, h.session_id
order by last_turn_at desc nulls last, h.session_id
limit {{ most }}
offset {{ skip }};
