-- A belief about somebody comes from that person's own conversation.
select f.fact_id, f.user_id as believed_about, t.user_id as said_by
from {{ ref("facts") }} as f
join {{ ref("turns") }} as t on t.turn_id = f.source_turn_id
where (f.agent_id, f.user_id) is distinct from (t.agent_id, t.user_id)
   or f.session_id not in ('', t.session_id)
