/* recipe
name: search/find
description: The turns or facts that are nearest to a query, by words and by meaning.
params:
  query:      {type: text, help: "What to look for."}
  k:          {type: int, default: 10, min: 1, help: "How many."}
  of:         {type: ident, default: chat_turns, help: "Where: chat_turns or chat_facts, or a table like them."}
  agent_id:   {type: text, default: null, help: "Only of this bot."}
  user_id:    {type: text, default: null, help: "Only of this person."}
  session_id: {type: text, default: null, help: "Only this conversation, and what belongs to none."}
  roles:      {type: list, default: null, help: "Only turns of these roles."}
  since:      {type: timestamp, default: null, help: "Said at this instant or later."}
  until:      {type: timestamp, default: null, help: "Said before this instant."}
  neighbours: {type: int, default: 0, min: 0, help: "Also so many turns before and after each hit, under its rank."}
  recency:    {type: float, default: 0.0, min: 0.0, max: 1.0, help: "The share of the score that age decides."}
*/

-- step: find
-- result: Found
select columns(lambda c: c not in ('embedding', 'embedding_bits'))
from hybrid_search(
    {{ of }}, {{ query }}, k := {{ k }}, session_id := {{ session_id }}, user_id := {{ user_id }}, agent_id := {{ agent_id }},
    roles := {{ roles }}, since := {{ since }}, until := {{ until }}, neighbours := {{ neighbours }}, recency := {{ recency }}
)
order by rank;
