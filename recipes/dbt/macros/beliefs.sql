{#-
  Materialization `beliefs`. The model's SQL selects candidates: what was said and has not been heard yet. They meet the
  table of facts by the product's own recipe, beliefs/believe, in one transaction with the table of
  events beside it. Both tables have the columns of the product's own, and --full-refresh begins both anew.
-#}
{% materialization beliefs, adapter="duckdb" %}
  {%- set target_relation = this.incorporate(type="table") -%}
  {%- set history = history_of(target_relation) -%}
  {%- set existing = load_cached_relation(this) -%}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% call statement("candidates", auto_begin=True) %}
    create or replace temp table said as {{ sql }}
  {% endcall %}
  {% if existing is none or should_full_refresh() %}
    {% do run_query("create or replace table " ~ target_relation ~ " as from " ~ product_table("chat_facts") ~ " limit 0") %}
    {% do run_query("create or replace table " ~ history ~ " as from " ~ product_table("chat_fact_history") ~ " limit 0") %}
  {% endif %}
  {% do run_recipe_statements("beliefs/believe", {
      "source": "temp.said", "facts": target_relation | replace('"', ''), "history": history | replace('"', ''), "fact_scope": var("fact_scope")
  }) %}
  {% call statement("main") %}
    select count(*) as candidates from said
  {% endcall %}

  {% do persist_docs(target_relation, model) %}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do adapter.commit() %}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}

{#- The table of events that belongs to a table of facts. -#}
{% macro history_of(facts) %}
  {{- return(facts.incorporate(path={"identifier": facts.identifier ~ "__events"}, type="table")) -}}
{% endmacro %}

{#- A table that recall_sql itself made in this database; here only its columns are of interest. -#}
{% macro product_table(name) %}
  {{- return('"' ~ target.database ~ '".main.' ~ name) -}}
{% endmacro %}

{#- What is believed already, for the extractor to see. Not a ref(): facts come from raw facts, and not the other way round. -#}
{% macro facts_held() %}
  {%- set held = adapter.get_relation(database=this.database, schema=this.schema, identifier="facts") -%}
  {{- return(held if held is not none and not should_full_refresh() else product_table("chat_facts")) -}}
{% endmacro %}
