{#
  How a belief changes. Takes the temp table `candidates` (what was said) and brings `facts` and `history` up to date.
  Every rule is one step; a reader who knows no Python can follow them in order.

  candidates: agent_id, user_id, session_id, category, fact_key, fact_value, confidence, kind, op, source, observed_at,
  source_turn_id, evidence, replaces.
#}
-- step: normalise
-- Rule 1. One Unicode form, no NUL, snake_case keys, confidence between 0 and 1. What can't be normalised is noted in
-- history with the reason and goes no further; it never stops the rest.
create or replace temp table normalised as
with tidied as (
    select
        row_number() over () as candidate_no,
        agent_id, user_id, session_id,
        snake_case(category) as category,
        snake_case(fact_key) as fact_key,
        tidy(fact_value) as fact_value,
        if(isnan(confidence), null, least(1.0, greatest(0.0, coalesce(confidence, 0.7)))) as confidence,
        upper(coalesce(kind, 'KNOWLEDGE')) as kind,
        lower(coalesce(op, 'assert')) as op,
        upper(source) as source,
        observed_at, source_turn_id, tidy(evidence) as evidence, tidy(replaces) as replaces
    from candidates
)
select
    *,
    case
        when coalesce(category, '') = '' then 'category is missing'
        when coalesce(fact_key, '') = '' then 'fact_key is missing'
        when fact_value is null and op = 'assert' then 'fact_value is missing'
        when confidence is null then 'confidence is not a number'
        when kind not in ('KNOWLEDGE', 'RULE', 'PREFERENCE') then 'unknown kind ' || kind
        when op not in ('assert', 'retract') then 'unknown op ' || op
        when trust_of(source) is null then 'unknown source ' || coalesce(source, 'NULL')
        when observed_at is null then 'observed_at is missing'
    end as problem
from tidied;

-- step: place
-- Rule 3, first half. The vocabulary says which slot a key competes for and whether it holds for the user or for this
-- session; the most specific line wins. A key it doesn't know is a slot of its own and goes where its category goes.
create or replace temp table placed as
with matches as (
    select
        c.candidate_no, v.slot, v.scope, v.exclusive,
        regexp_extract(c.fact_key, '^' || replace(v.fact_key, '*', '(.*)') || '$', 1) as star
    from normalised as c
    join recall_sql.main.fact_keys as v on v.category = c.category and c.fact_key glob v.fact_key
    where c.problem is null
    qualify row_number() over (partition by c.candidate_no order by v.fact_key like '%*%', length(v.fact_key) desc) = 1
),
category_scopes as (
    select category, if(bool_and(scope = 'session'), 'session', 'user') as scope
    from recall_sql.main.fact_keys
    group by category
)
select
    c.* exclude (session_id),
    c.session_id as said_in,
    case coalesce(nullif({{ fact_scope }}, 'auto'), m.scope, k.scope, 'user')
        when 'session' then c.session_id
        else ''
    end as session_id,
    case
        when m.exclusive = 'true' then c.category
        else coalesce(replace(m.slot, '*', m.star), c.category || '/' || c.fact_key)
    end as vocabulary_slot
from normalised as c
left join matches as m using (candidate_no)
left join category_scopes as k on k.category = c.category
where c.problem is null;

-- step: settle_slots
-- Rule 3, second half. A key that is believed already stays in its slot. Else the extractor's word counts: a candidate
-- that names the belief it replaces (by fact_id, or by the first letters of it) takes that one's slot.
-- A reference to a belief that isn't there is ignored and noted.
create or replace temp table settled as
with referred as (
    select p.candidate_no, any_value(f.slot) as slot, any_value(f.session_id) as session_id
    from placed as p
    join {{ facts | ident }} as f
        on f.agent_id = p.agent_id and f.user_id = p.user_id and f.session_id in ('', p.said_in)
        and starts_with(f.fact_id::varchar, lower(p.replaces))
    group by p.candidate_no
    having count(*) = 1
)
select
    p.*exclude (session_id),
    if(own.slot is null, coalesce(r.session_id, p.session_id), p.session_id) as session_id,
    coalesce(own.slot, r.slot, p.vocabulary_slot) as slot,
    if(p.replaces is not null and r.slot is null, 'it says it replaces ' || p.replaces || ', which is not a known belief', null) as note
from placed as p
left join referred as r using (candidate_no)
left join {{ facts | ident }} as own
    on own.agent_id = p.agent_id and own.user_id = p.user_id and own.session_id = p.session_id
    and own.category = p.category and own.fact_key = p.fact_key;

-- step: put_in_order
-- Rule 2. Evidence about one slot is heard in the order it was said: earliest first, so that the latest has the last
-- word; of what was said at the same time, the most trusted, then the most confident has it.
-- Evidence that history has heard already (the same turn saying the same thing) is not heard again.
create or replace temp table evidence_in_order as
with once_a_turn as (
    select *
    from settled
    qualify row_number() over (
        partition by agent_id, user_id, session_id, slot, category, fact_key, lower(fact_value), op, source, source_turn_id, observed_at
        order by confidence desc, candidate_no
    ) = 1
),
unheard as (
    select c.*
    from once_a_turn as c
    anti join {{ history | ident }} as h
        on h.agent_id = c.agent_id and h.user_id = c.user_id and h.session_id = c.session_id
        and h.category = c.category and h.fact_key = c.fact_key
        and h.fact_value is not distinct from c.fact_value
        and h.op = c.op
        and h.source = c.source
        and h.source_turn_id is not distinct from c.source_turn_id
        and h.observed_at = c.observed_at
)
select
    *,
    trust_of(source) as trust,
    dense_rank() over (order by agent_id, user_id, session_id, slot) as slot_no,
    row_number() over (
        partition by agent_id, user_id, session_id, slot
        order by observed_at, trust_of(source), confidence, fact_value, candidate_no
    ) as nth
from unheard;

-- step: held_before
-- What each of these slots holds now: a belief, or the memory of the last one that was taken back.
create or replace temp table held as
with slots as (
    select distinct slot_no, agent_id, user_id, session_id, slot from evidence_in_order
),
last_retraction as (
    select s.slot_no, h.fact_key, h.observed_at
    from slots as s
    join {{ history | ident }} as h using (agent_id, user_id, session_id, slot)
    where h.op = 'retract' and h.event in ('retracted', 'nothing_to_retract')
    qualify row_number() over (partition by s.slot_no order by h.observed_at desc, h.event_id desc) = 1
)
select
    s.slot_no, s.agent_id, s.user_id, s.session_id, s.slot,
    f.fact_id, f.category, f.fact_key, f.fact_value, f.kind, f.source, f.confidence, f.observed_at,
    f.source_turn_id, f.evidence,
    gone.fact_key as gone_key,
    gone.observed_at as gone_at
from slots as s
left join {{ facts | ident }} as f using (agent_id, user_id, session_id, slot)
left join last_retraction as gone using (slot_no);

-- step: weigh
-- Rules 4 to 7. Belief is a fold over evidence: each piece in turn meets what is held after the one before it.
create or replace temp table events as
with recursive believed as (
    select
        slot_no, 0::bigint as nth, fact_id, category, fact_key, fact_value, kind, source, confidence, observed_at,
        source_turn_id, evidence, gone_key, gone_at,
        null::bigint as candidate_no, null::varchar as event,
        null::varchar as before_category, null::varchar as before_key, null::varchar as before_value,
        null::varchar as before_kind, null::varchar as before_source, null::double as before_confidence,
        null::timestamptz as before_observed_at
    from held
    union all
    select
        slot_no, nth,
        case when event = 'created' then uuid() else fact_id end,
        case when event = 'retracted' then null when event in ('created', 'superseded') then said_category else category end,
        case when event = 'retracted' then null when event in ('created', 'superseded') then said_key else fact_key end,
        case when event = 'retracted' then null when event in ('created', 'superseded') then said_value else fact_value end,
        case when event = 'retracted' then null when event in ('created', 'superseded') then said_kind else kind end,
        -- the more trusted of two who agree stands for the belief
        case
            when event = 'retracted' then null
            when event in ('created', 'superseded', 'confirmed') then said_by
            else source
        end,
        -- Rule 6. Agreement raises confidence; a contradiction of equal standing lowers it; a new value brings its own.
        case event
            when 'retracted' then null
            when 'created' then said_confidence
            when 'superseded' then said_confidence
            when 'confirmed' then confirmed(confidence, said_confidence)
            when 'rejected_conflict' then doubted(confidence, said_confidence)
            else confidence
        end,
        case
            when event = 'retracted' then null
            when event in ('created', 'superseded') then said_at
            when event = 'confirmed' then greatest(observed_at, said_at)
            else observed_at
        end,
        case when event = 'retracted' then null when event in ('created', 'superseded') then said_turn else source_turn_id end,
        case when event = 'retracted' then null when event in ('created', 'superseded') then said_words else evidence end,
        case when event in ('retracted', 'nothing_to_retract') and (gone_at is null or said_at >= gone_at) then said_key else gone_key end,
        case when event in ('retracted', 'nothing_to_retract') and (gone_at is null or said_at >= gone_at) then said_at else gone_at end,
        said_no, event,
        category, fact_key, fact_value, kind, source, confidence, observed_at
    from (
        select
            b.* exclude (nth, candidate_no, event, before_category, before_key, before_value, before_kind, before_source, before_confidence, before_observed_at),
            e.nth, e.candidate_no as said_no, e.category as said_category, e.fact_key as said_key,
            e.fact_value as said_value, e.kind as said_kind, e.source as said_by, e.confidence as said_confidence,
            e.observed_at as said_at, e.source_turn_id as said_turn, e.evidence as said_words,
            case
                -- Rule 7. Taking back: only what is believed can be taken back.
                when b.category is null and e.op = 'retract' then 'nothing_to_retract'
                when b.category is not null and e.op = 'retract'
                    and e.fact_key <> b.fact_key and e.category || '/' || e.fact_key <> e.slot then 'nothing_to_retract'
                -- said before it was taken back, heard after
                when b.category is null and b.gone_key = e.fact_key and e.observed_at < b.gone_at then 'rejected_stale'
                -- a text that was read can't give the bot a rule to follow
                when e.kind = 'RULE' and e.op = 'assert' and e.trust < trust_of('TOOL') then 'rejected_trust'
                when b.category is null then 'created'
                -- Rule 4. Trust: nothing changes a SYSTEM fact; a source changes only what an equal or lower one said.
                when b.source = 'SYSTEM' or e.trust < trust_of(b.source) then 'rejected_trust'
                -- Rule 5. Time: of two equally trusted, the one who spoke last is right, whoever was heard last.
                when e.op = 'retract' and e.trust = trust_of(b.source) and e.observed_at < b.observed_at then 'rejected_stale'
                when e.op = 'retract' then 'retracted'
                when e.category = b.category and e.fact_key = b.fact_key and same_value(e.fact_value, b.fact_value) then 'confirmed'
                when e.trust = trust_of(b.source) and e.observed_at < b.observed_at then 'rejected_stale'
                when e.trust = trust_of(b.source) and e.observed_at = b.observed_at
                    and (e.confidence, e.fact_value) < (b.confidence, b.fact_value) then 'rejected_conflict'
                else 'superseded'
            end as event
        from believed as b
        join evidence_in_order as e on e.slot_no = b.slot_no and e.nth = b.nth + 1
    )
)
from believed;

-- step: record
-- Every event becomes a row of history, the refused ones too.
insert into {{ history | ident }} (
    run_id, fact_id, agent_id, user_id, session_id, slot, event, reason, op,
    category, fact_key, fact_value, kind, source, confidence, observed_at, evidence, source_turn_id,
    before_category, before_key, before_value, before_kind, before_source, before_confidence, before_observed_at,
    after_category, after_key, after_value, after_kind, after_source, after_confidence, after_observed_at
)
select
    {{ run_id }}, v.fact_id, e.agent_id, e.user_id, e.session_id, e.slot, v.event,
    concat_ws('; ',
        case v.event
            when 'rejected_trust' then
                if(v.before_source is null or (e.kind = 'RULE' and e.trust < trust_of('TOOL')),
                    e.source || ' may not set a RULE', e.source || ' may not change what ' || v.before_source || ' said')
            when 'rejected_stale' then 'said before ' || coalesce(v.before_observed_at, v.gone_at)::varchar
            when 'rejected_conflict' then 'contradicts what was said at the same time with more confidence'
            when 'nothing_to_retract' then 'nothing like it is believed'
        end,
        e.note
    ),
    e.op, e.category, e.fact_key, e.fact_value, e.kind, e.source, e.confidence, e.observed_at, e.evidence, e.source_turn_id,
    v.before_category, v.before_key, v.before_value, v.before_kind, v.before_source, v.before_confidence, v.before_observed_at,
    v.category, v.fact_key, v.fact_value, v.kind, v.source, v.confidence, v.observed_at
from events as v
join evidence_in_order as e using (slot_no, nth)
order by e.observed_at, e.candidate_no;

insert into {{ history | ident }} (
    run_id, agent_id, user_id, session_id, event, reason, op,
    category, fact_key, fact_value, kind, source, observed_at, evidence, source_turn_id
)
select
    {{ run_id }}, agent_id, user_id, session_id, 'rejected_invalid', problem, op,
    category, fact_key, fact_value, kind, source, observed_at, evidence, source_turn_id
from normalised
where problem is not null;

-- step: believe
-- The last state of each slot is what is believed now: in place, with the same fact_id. Rule 8: the embedding is made
-- anew exactly when category, key or value changed.
create or replace temp table outcomes as
with last_state as (
    from events
    qualify row_number() over (partition by slot_no order by nth desc) = 1
)
select
    h.agent_id, h.user_id, h.session_id, h.slot,
    n.fact_id, n.category, n.fact_key, n.fact_value, n.kind, n.source, n.confidence, n.observed_at, n.source_turn_id, n.evidence,
    h.fact_id is not null as was_held,
    n.category is not null as is_held,
    (n.category, n.fact_key, n.fact_value) is distinct from (h.category, h.fact_key, h.fact_value) as reads_differently,
    (n.kind, n.source, n.confidence, n.observed_at) is distinct from (h.kind, h.source, h.confidence, h.observed_at) as stands_differently
from last_state as n
join held as h using (slot_no);

merge into {{ facts | ident }} as f
using (
    select
        * exclude (was_held),
        embed(case when is_held and reads_differently then fact_text(category, fact_key, fact_value) end) as embedding
    from outcomes
    where (was_held or is_held) and (reads_differently or stands_differently)
) as o
on f.agent_id = o.agent_id and f.user_id = o.user_id and f.session_id = o.session_id and f.slot = o.slot
when matched and not o.is_held then delete
when matched and o.reads_differently then update set
    fact_id = o.fact_id, category = o.category, fact_key = o.fact_key, fact_value = o.fact_value, kind = o.kind,
    source = o.source, confidence = o.confidence, observed_at = o.observed_at, updated_at = {{ run_started_at }},
    source_turn_id = o.source_turn_id, evidence = o.evidence, embedding = o.embedding
when matched then update set
    kind = o.kind, source = o.source, confidence = o.confidence, observed_at = o.observed_at, updated_at = {{ run_started_at }}
when not matched and o.is_held then insert (
    fact_id, agent_id, user_id, session_id, category, fact_key, fact_value, slot, kind, source, confidence,
    observed_at, updated_at, source_turn_id, evidence, embedding
) values (
    o.fact_id, o.agent_id, o.user_id, o.session_id, o.category, o.fact_key, o.fact_value, o.slot, o.kind, o.source,
    o.confidence, o.observed_at, {{ run_started_at }}, o.source_turn_id, o.evidence, o.embedding
);
