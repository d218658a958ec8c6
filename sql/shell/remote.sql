-- For a DuckDB shell on this machine:  duckdb -init recall.sql
-- It reaches {{ database }} through `recall-sql serve`. Whoever reads this file holds the token.
{{ load }}

-- Any SQL, run where the functions are:  from recall('select embed(''hello'')');
create or replace temp macro recall(statement) as table
    from quack_query({{ uri }}, {{ set_search_path }} || statement, token := {{ token }});

-- What is believed now:  from facts();
create or replace temp macro facts() as table
    from recall('
        select user_id, session_id, category, fact_key, fact_value, kind, source, confidence, observed_at, evidence
        from chat_facts
        order by all
    ');

-- The turns nearest in meaning:  from search('trains', k := 5);
create or replace temp macro search(query, k := 10) as table
    from recall(format(
        'select session_id, role, content, created_at, score, rank from vector_search(''chat_turns'', ''{}'', k := {})',
        replace(query, '''', ''''''), k
    ));

-- A recipe:  from recipe('conversation_memory/all');  from recipe('conversation_memory/context', {session_id: 's1'});
create or replace temp macro recipe(name, params := null) as table
    from recall(format(
        'from run_recipe(''{}'', ''{}'')',
        replace(name, '''', ''''''), replace(coalesce(to_json(params)::varchar, '{}'), '''', '''''')
    ));
