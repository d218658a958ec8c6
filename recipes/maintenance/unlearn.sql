/* recipe
name: maintenance/unlearn
description: With full_refresh, forget what was learned from turns, so that they are read again. What was written directly stays.
tags: [nightly]
params:
  full_refresh: {type: bool, default: false, help: "Without it, nothing happens."}
  threads:  {type: ident, default: chat_threads, help: "Table of threads."}
  payloads: {type: ident, default: chat_fact_payloads, help: "Table of raw answers."}
  facts:    {type: ident, default: chat_facts, help: "Table of facts."}
  history:  {type: ident, default: chat_fact_history, help: "Table of events."}
*/

{% if full_refresh %}
-- step: beliefs
-- Beliefs that rest on a turn go, with their events; answers that were paid for are remembered all the same.
delete from {{ history | ident }}
where fact_id in (select fact_id from {{ facts | ident }} where source_turn_id is not null)
   or source_turn_id is not null;

delete from {{ facts | ident }} where source_turn_id is not null;

-- step: answers
delete from {{ payloads | ident }};

update {{ threads | ident }} set extracted_through = 0;
{% endif %}
