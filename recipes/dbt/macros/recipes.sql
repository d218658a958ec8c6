{#- The statements of a shipped recipe, values written in. Nothing of a recipe is written again in this project. -#}
{% macro recipe_statements(recipe, params) %}
  {%- set pairs = [] -%}
  {%- for name, value in params.items() if value is not none -%}
    {%- do pairs.append("'" ~ name ~ "': '" ~ (value | string | replace("'", "''")) ~ "'") -%}
  {%- endfor -%}
  {{ return(run_query("select unnest(recall_compile('" ~ recipe ~ "', {" ~ pairs | join(", ") ~ "})) as statement").columns[0].values()) }}
{% endmacro %}

{#- Runs them in the transaction that is open. -#}
{% macro run_recipe_statements(recipe, params) %}
  {%- for statement in recipe_statements(recipe, params) -%}
    {%- do run_query(statement) -%}
  {%- endfor -%}
{% endmacro %}
