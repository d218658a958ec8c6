{#- No two rows agree in all of these columns. -#}
{% test unique_together(model, columns) %}
select {{ columns | join(", ") }}, count(*) as rows_alike
from {{ model }}
group by all
having count(*) > 1
{% endtest %}
