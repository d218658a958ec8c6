-- step: refuse
-- A direct write that may not be made is an error, and nothing of it stays.
select error('refused: ' || event || ', ' || reason)
from {{ history | ident }}
where run_id = {{ run_id }} and (event like 'rejected%' or event = 'nothing_to_retract');
