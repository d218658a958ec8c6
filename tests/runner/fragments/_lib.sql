{% macro of_thread(id) %}session_id = {{ id }}{% endmacro %}
