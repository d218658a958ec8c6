{#
  Takes the temp table `unheard` and makes `in_one_name` of it, where candidates that say the same under several keys have
  one, and `near_duplicates`: which of them say what is believed already under another key.
#}
-- step: merge_near_duplicates
-- The same belief under another key (cat = Mochi, cat_mochi = Mochi) is heard as that belief, if the vocabulary doesn't
-- know the key as one of its own and nothing is believed under it.
create or replace temp table in_one_name as
with worded as (
    select
        *,
        if(
            is_open and op = 'assert' and replaces is null
                and count(*) over (partition by agent_id, user_id, home, category) > 1,
            belief_words(fact_key, fact_value), [candidate_no::varchar]
        ) as words
    from unheard
),
first_named as (
    select
        *,
        first_value({'fact_key': fact_key, 'vocabulary_slot': vocabulary_slot, 'says': says}) over (
            partition by agent_id, user_id, home, category, words
            order by observed_at, candidate_no
        ) as named_first
    from worded
)
select
    * exclude (words, named_first, fact_key, says, vocabulary_slot),
    category as said_category, fact_key as said_key,
    -- variants of one key share a slot already
    named_first.vocabulary_slot <> vocabulary_slot as is_renamed,
    if(is_renamed, named_first.fact_key, fact_key) as fact_key,
    if(is_renamed, named_first.says, says) as says,
    if(is_renamed, named_first.vocabulary_slot, vocabulary_slot) as vocabulary_slot
from first_named;

create or replace temp table near_duplicates as
with under_new_keys as (
    select c.*
    from in_one_name as c
    anti join {{ facts | ident }} as f
        on f.agent_id = c.agent_id and f.user_id = c.user_id and f.session_id = c.home and f.slot = c.vocabulary_slot
    where c.is_open and c.op = 'assert' and c.replaces is null
)
select c.candidate_no, f.fact_id, f.session_id, f.slot, f.category, f.fact_key, f.fact_value
from under_new_keys as c
join {{ facts | ident }} as f
    on f.agent_id = c.agent_id and f.user_id = c.user_id and f.session_id = c.home and f.category = c.category
where f.fact_key <> c.fact_key
  -- spares most pairs the comparison
  and (left(f.fact_key, 1) = left(c.fact_key, 1) or lower(left(f.fact_value, 1)) = lower(left(c.fact_value, 1)))
  and near_duplicates(f.fact_key, f.fact_value, c.fact_key, c.fact_value)
qualify row_number() over (partition by c.candidate_no order by f.observed_at, f.fact_id) = 1;
