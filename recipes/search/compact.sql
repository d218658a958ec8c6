/* recipe
name: search/compact
description: Give the turns of a large memory their embedding_bits, which a search by meaning reads before it reads vectors. Small memories are searched as fast without.
params:
  turns:    {type: ident, default: chat_turns, help: "Table with turn_id, embedding and embedding_bits."}
  at_least: {type: int, default: 20000, min: 0, help: "How many vectors make a memory large."}
  verify:   {type: bool, default: false, help: "Also compare the bits that are there with their vectors, in case somebody wrote vectors by hand."}
*/

-- step: count
-- Vectors to be given bits, and bits whose vector is gone{% if verify %} or is another{% endif %}.
create or replace temp table turns_to_compact as
select turn_id, if(embedding is null, null, sign_bits(embedding)) as bits
from {{ turns | ident }}
where {% if verify %}embedding_bits is distinct from if(embedding is null, null, sign_bits(embedding)){% else %}(embedding_bits is null) <> (embedding is null){% endif %}

  and (embedding_bits is not null or (select count(embedding) from {{ turns | ident }}) >= {{ at_least }});

-- step: compact
update {{ turns | ident }} as t
set embedding_bits = c.bits
from turns_to_compact as c
where c.turn_id = t.turn_id;

-- step: report
-- result: Compacted
select
    (select count(*) from turns_to_compact) as turns_changed,
    (select count(embedding_bits) from {{ turns | ident }}) as turns_with_bits,
    (select count(embedding) from {{ turns | ident }}) as turns_with_vectors;
