{#- Without the plugin every model would fail with a message about a missing function. Said once, and before anything runs. -#}
{% macro require_recall() %}
  {%- if execute -%}
    {%- set found = run_query("select count(*) from duckdb_functions() where function_name = 'recall_compile'") -%}
    {%- if found.columns[0].values()[0] == 0 -%}
      {{ exceptions.raise_compiler_error(
          "recall_sql isn't in this database. In profiles.yml, add to the output '" ~ target.name ~ "' of the profile '"
          ~ target.profile_name ~ "':\n\n      plugins:\n        - module: recall_sql.integrations.dbt\n"
      ) }}
    {%- endif -%}
  {%- endif -%}
  select 1
{% endmacro %}
