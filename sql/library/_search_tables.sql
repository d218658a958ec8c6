-- Stand-ins for a database that has no postings: every row is then read at query time.
create table if not exists recall_sql.main.search_turns (turn_id bigint, text_hash ubigint, length integer, window_length float);
create table if not exists recall_sql.main.search_postings (term varchar, turn_id bigint, tf integer);
