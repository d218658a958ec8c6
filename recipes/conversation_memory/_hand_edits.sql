{#
  A person may correct the fact table with plain UPDATE, INSERT and DELETE. What the table holds is compared with what
  history says about each fact; a difference is somebody's hand, and becomes an event like any other.

  whose: 'everyone', or 'person' for {{ '{{ agent_id }}' }} and {{ '{{ user_id }}' }} alone.
#}
-- step: notice_hand_edits
-- Rule 9. A belief changed by hand is from now on what the user said now: older evidence doesn't overwrite it.
create or replace temp table hand_edits as
with last_events as (
    select fact_id, max(event_id) as event_id
    from {{ history | ident }}
    where fact_id is not null
    {% if whose == 'person' %} and agent_id = {{ agent_id }} and user_id = {{ user_id }} {% endif %}
    group by fact_id
),
known as (
    select
        1::bigint as copy_no, h.fact_id, h.agent_id, h.user_id, h.session_id, h.slot, h.after_category, h.after_key,
        h.after_value, h.after_kind, h.after_source, h.after_confidence, h.after_observed_at, h.after_turn_id
    from {{ history | ident }} as h
    semi join last_events as l using (event_id)
),
people as (
    select
        fact_id, agent_id, user_id, session_id, category, fact_key, fact_value, slot, kind, source, confidence,
        observed_at, source_turn_id, evidence, embedding is null as has_no_vector
    from {{ facts | ident }}
    {% if whose == 'person' %} where agent_id = {{ agent_id }} and user_id = {{ user_id }} {% endif %}
),
copies as (
    select
        fact_id, agent_id, user_id, session_id, category, fact_key,
        row_number() over (partition by fact_id order by agent_id, user_id, session_id, category, fact_key) as copy_no
    from people
    semi join (select fact_id from people group by fact_id having count(*) > 1) using (fact_id)
),
standing as (
    select p.*, coalesce(c.copy_no, 1) as copy_no
    from people as p
    left join copies as c using (fact_id, agent_id, user_id, session_id, category, fact_key)
)
select
    if(f.copy_no > 1, uuid(), coalesce(f.fact_id, h.fact_id)) as fact_id,
    f.fact_id as found_as,
    coalesce(f.agent_id, h.agent_id) as agent_id,
    coalesce(f.user_id, h.user_id) as user_id,
    coalesce(f.session_id, h.session_id) as session_id,
    case
        when f.fact_key is null then 'forgotten'
        when h.after_key is null or f.copy_no > 1 then 'created'
        else 'edited'
    end as event,
    coalesce(f.slot, h.slot) as slot,
    f.category, f.fact_key, f.fact_value, f.kind, f.confidence, f.source_turn_id, f.evidence,
    -- a correction counts as the user's word at least, spoken now unless the person wrote when
    case
        when f.source is distinct from h.after_source then f.source
        when trust_of(f.source) < trust_of('USER') then 'USER'
        else f.source
    end as source,
    case
        when h.after_key is null then f.observed_at
        when f.observed_at is distinct from h.after_observed_at then f.observed_at
        else current_timestamp
    end as observed_at,
    (f.category, f.fact_key) is distinct from (h.after_category, h.after_key) as named_differently,
    f.has_no_vector or (f.category, f.fact_key, f.fact_value) is distinct from (h.after_category, h.after_key, h.after_value)
        as reads_differently,
    h.after_category as before_category, h.after_key as before_key, h.after_value as before_value,
    h.after_kind as before_kind, h.after_source as before_source, h.after_confidence as before_confidence,
    h.after_observed_at as before_observed_at, h.after_turn_id as before_turn_id
from standing as f
full join known as h on h.fact_id = f.fact_id and h.copy_no = f.copy_no
where f.fact_id is null and h.after_key is not null
   or f.fact_id is not null and h.after_key is null
   or f.fact_value is distinct from h.after_value or f.fact_key is distinct from h.after_key
   or f.category is distinct from h.after_category
   or f.fact_id is not null and (
      f.slot is distinct from h.slot or f.kind <> h.after_kind or f.source <> h.after_source
      or f.confidence <> h.after_confidence or f.observed_at <> h.after_observed_at
      or f.user_id <> h.user_id or f.agent_id <> h.agent_id or f.session_id <> h.session_id
   );

-- step: place_hand_edits
-- A belief that was renamed or written by hand goes into the slot of its key. Where another belief has that slot, it
-- gets one of its own: what a person left standing stays.
create or replace temp table hand_slots as
with wanted as (
    select e.*, coalesce(v.slot, own_slot(e.category, e.fact_key)) as wanted_slot
    from hand_edits as e
    left join (
        select distinct on (e.category, e.fact_key) e.category, e.fact_key, slot_in_vocabulary(v.exclusive, v.slot, v.fact_key, e.category, e.fact_key) as slot
        from hand_edits as e
        join recall_sql.main.fact_keys as v on v.category = e.category and american(e.fact_key) glob v.fact_key
        order by e.category, e.fact_key, v.fact_key like '%*%', length(v.fact_key) desc
    ) as v using (category, fact_key)
    where e.event <> 'forgotten'
),
free as (
    select
        w.*,
        not exists (
            from {{ facts | ident }} as f
            where f.agent_id = w.agent_id and f.user_id = w.user_id and f.session_id = w.session_id
              and f.slot = w.wanted_slot and (f.category, f.fact_key) <> (w.category, w.fact_key)
        ) and row_number() over (partition by agent_id, user_id, session_id, wanted_slot order by fact_id) = 1 as is_free
    from wanted as w
)
select
    * exclude (wanted_slot, slot),
    case
        when slot is not null and not named_differently and event = 'edited' then slot
        when is_free then wanted_slot
        else own_slot(category, fact_key) || '/' || left(fact_id::varchar, 8)
    end as slot
from free;

update {{ facts | ident }} as f
set fact_id = e.fact_id, slot = e.slot, source = e.source, observed_at = e.observed_at, updated_at = current_timestamp
from hand_slots as e
where f.agent_id = e.agent_id and f.user_id = e.user_id and f.session_id = e.session_id
  and f.category = e.category and f.fact_key = e.fact_key;

update {{ facts | ident }} as f
set embedding = e.embedding
from (
    select agent_id, user_id, session_id, category, fact_key, embed(fact_text(category, fact_key, fact_value)) as embedding
    from hand_slots
    where reads_differently
) as e
where f.agent_id = e.agent_id and f.user_id = e.user_id and f.session_id = e.session_id
  and f.category = e.category and f.fact_key = e.fact_key;

-- step: record_hand_edits
insert into {{ history | ident }} (
    event_id, run_id, fact_id, agent_id, user_id, session_id, slot, event, reason, op,
    category, fact_key, fact_value, kind, source, confidence, observed_at, evidence, source_turn_id,
    before_category, before_key, before_value, before_kind, before_source, before_confidence, before_observed_at, before_turn_id,
    after_category, after_key, after_value, after_kind, after_source, after_confidence, after_observed_at,
    after_turn_id, after_evidence, recorded_at
)
select
    nextval('chat_fact_event_ids'), {{ run_id }}, fact_id, agent_id, user_id, session_id, slot, event,
    if(event = 'created', 'written by hand', 'changed by hand'), 'assert',
    category, fact_key, fact_value, kind, source, confidence, observed_at, evidence, source_turn_id,
    before_category, before_key, before_value, before_kind, before_source, before_confidence, before_observed_at, before_turn_id,
    category, fact_key, fact_value, kind, source, confidence, observed_at,
    source_turn_id, evidence, current_timestamp
from hand_slots;

insert into {{ history | ident }} (
    event_id, run_id, fact_id, agent_id, user_id, session_id, slot, event, reason, op, category, fact_key, source, observed_at,
    before_category, before_key, before_value, before_kind, before_source, before_confidence, before_observed_at, before_turn_id,
    recorded_at
)
select
    nextval('chat_fact_event_ids'), {{ run_id }}, fact_id, agent_id, user_id, session_id, slot, event,
    'removed by hand', 'retract', before_category, before_key, 'USER', current_timestamp,
    before_category, before_key, before_value, before_kind, before_source, before_confidence, before_observed_at, before_turn_id,
    current_timestamp
from hand_edits
where event = 'forgotten';
