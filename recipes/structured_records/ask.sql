/* recipe
name: structured_records/ask
description: Answer a question about one person's records, by SQL that runs in a sandbox.
params:
  question: {type: text, help: "The question."}
  user_id:  {type: text, help: "Whose records."}
  model:    {type: text, default: null, help: "Who writes the SQL: rules or a model string; the setting extractor, if not given."}
  timezone: {type: text, default: null, help: "The person's time zone, from which today and last week are counted."}
*/

-- step: ask
-- The question is answered from committed rows.
-- result: Answer
select unnest(recall_ask({{ question }}, {
    'user': {{ user_id }},
    'model': {{ model }}::varchar,
    'timezone': {{ timezone }}::varchar,
    'now': {{ run_started_at }}::timestamptz
}));
