-- What is in force, and where it came from: set by hand, the environment, or the default.
create or replace macro recall_sql.main.recall_settings() as table
select setting.name, setting.value, setting.origin, setting.description
from (select unnest(recall_settings_list(0)) as setting);
