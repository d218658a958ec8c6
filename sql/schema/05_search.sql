-- What lexical search counts: the words of every turn. Kept by the recipe search/index, which conversation_memory/all
-- runs. A turn that isn't here yet, or whose text has changed since, is read at query time, so search never lags behind.
create table if not exists search_turns (
    turn_id       bigint primary key,
    text_hash     ubigint not null,
    length        integer not null,
    window_length float not null
);
comment on table search_turns is 'One row per turn whose words are in search_postings.';
comment on column search_turns.turn_id is 'The turn.';
comment on column search_turns.text_hash is 'hash(content, created_at) when it was read: if the turn''s differs now, its postings are ignored.';
comment on column search_turns.length is 'How many words it has.';
comment on column search_turns.window_length is 'The same with its neighbours: words of turns one and two away count half and a quarter.';

create table if not exists search_postings (
    term    varchar not null,
    turn_id bigint not null,
    tf      integer not null
);
comment on table search_postings is 'Which word occurs in which turn, and how often. The terms are those of search_tokens(content), and the date''s.';
comment on column search_postings.term is 'A word, folded and stemmed, or a pair of characters.';
comment on column search_postings.turn_id is 'The turn.';
comment on column search_postings.tf is 'How often.';
