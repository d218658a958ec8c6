-- What is believed now is what the last accepted event says.
select f.fact_id, f.fact_key, f.fact_value, h.after_key, h.after_value
from {{ ref("facts") }} as f
left join (
    select fact_id, after_key, after_value
    from {{ ref("fact_history") }}
    where after_key is not null
    qualify row_number() over (partition by fact_id order by event_id desc) = 1
) as h using (fact_id)
where (f.fact_key, f.fact_value) is distinct from (h.after_key, h.after_value)
