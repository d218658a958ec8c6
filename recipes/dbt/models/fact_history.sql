{{ config(materialized="view") }}

-- depends_on: {{ ref("facts") }}
select * from {{ history_of(ref("facts")) }}
