{#
  How a belief changes. Takes the temp table `candidates` (what was said) and brings `facts` and `history` up to date.
  Every rule is one step; a reader who knows no Python can follow them in order. docs/beliefs.md has the picture.

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
        agent_id, user_id,
        coalesce(session_id, '') as said_in,
        snake_case(category) as category,
        snake_case(fact_key) as fact_key,
        tidy(fact_value) as fact_value,
        if(isnan(confidence), null, least(1.0, greatest(0.0, coalesce(confidence, 0.7)))) as confidence,
        upper(coalesce(kind, 'KNOWLEDGE')) as kind,
        lower(coalesce(op, 'assert')) as op,
        upper(source) as source,
        observed_at::timestamptz as observed_at,
        source_turn_id,
        tidy(evidence) as evidence,
        lower(tidy(replaces)) as replaces
    from candidates
)
select
    t.*, s.trust, s.may_set_rules,
    case
        when agent_id is null then 'agent_id is missing'
        when user_id is null then 'user_id is missing'
        when coalesce(category, '') = '' then 'category is missing'
        when coalesce(fact_key, '') = '' then 'fact_key is missing'
        when fact_value is null and op = 'assert' then 'fact_value is missing'
        when confidence is null then 'confidence is not a number'
        when kind not in ('KNOWLEDGE', 'RULE', 'PREFERENCE') then 'unknown kind ' || kind
        when op not in ('assert', 'retract') then 'unknown op ' || op
        when s.trust is null then 'unknown source ' || coalesce(t.source, 'NULL')
        when observed_at is null then 'observed_at is missing'
    end as problem
from tidied as t
left join recall_sql.main.source_trust as s on s.source = t.source;

{% include "conversation_memory/_hand_edits.sql" %}

-- step: place
-- Rule 3, first half. The vocabulary says which slot a key competes for and whether it holds for the user or for this
-- session; the most specific line wins. A key it doesn't know has a slot of its own and goes where its category goes.
create or replace temp table placed as
with distinct_keys as (
    select distinct category, fact_key from normalised where problem is null
),
known_keys as (
    select
        k.category, k.fact_key, v.scope, contains(v.fact_key, '*') as is_open,
        slot_in_vocabulary(v.exclusive, v.slot, v.fact_key, k.category, k.fact_key) as slot
    from distinct_keys as k
    join recall_sql.main.fact_keys as v on v.category = k.category and american(k.fact_key) glob v.fact_key
    qualify row_number() over (partition by k.category, k.fact_key order by is_open, length(v.fact_key) desc) = 1
),
category_scopes as (
    select category, if(bool_and(scope = 'session'), 'session', 'user') as scope
    from recall_sql.main.fact_keys
    group by category
),
homes as (
    select
        d.category, d.fact_key,
        coalesce(nullif({{ fact_scope }}, 'auto'), k.scope, c.scope, 'user') as scope,
        coalesce(k.slot, own_slot(d.category, d.fact_key)) as vocabulary_slot,
        coalesce(k.is_open, true) as is_open,
        d.category || '/' || plain_form(d.fact_key) as says
    from distinct_keys as d
    left join known_keys as k using (category, fact_key)
    left join category_scopes as c using (category)
)
select
    n.* exclude (problem),
    if(h.scope = 'session', n.said_in, '') as home,
    h.vocabulary_slot, h.is_open, h.says
from normalised as n
join homes as h using (category, fact_key)
where n.problem is null;

-- step: hear_once
-- The same turn saying the same thing is one piece of evidence, however often it is read.
create or replace temp table unheard as
with once as (
    from placed
    qualify row_number() over (
        partition by agent_id, user_id, source_turn_id, if(source_turn_id is null, home, ''), category, fact_key, fact_value, op, source, observed_at
        order by confidence desc, candidate_no
    ) = 1
)
from once as c
anti join {{ history | ident }} as h
    on h.agent_id = c.agent_id and h.user_id = c.user_id
    and h.category = c.category and h.fact_key = c.fact_key
    and coalesce(h.fact_value, '') = coalesce(c.fact_value, '')
    and h.op = c.op and h.source = c.source and h.observed_at = c.observed_at
    and coalesce(h.source_turn_id, -1) = coalesce(c.source_turn_id, -1)
    and if(h.source_turn_id is null, h.session_id, '') = if(c.source_turn_id is null, c.home, '');

{% include "conversation_memory/_near_duplicates.sql" %}

-- step: settle_slots
-- Rule 3, second half. A key that is believed stays in its slot, and a slot that is held is the slot of its keys. Else the
-- extractor's word counts: a candidate that names the belief it replaces (by fact_id, or its first eight letters) takes
-- that one's place. A reference to a belief that isn't there is ignored and noted.
create or replace temp table settled as
with referred as (
    select c.candidate_no, f.fact_id, f.session_id, f.slot, f.category, f.fact_key, f.fact_value
    from in_one_name as c
    join {{ facts | ident }} as f
        on f.agent_id = c.agent_id and f.user_id = c.user_id and f.session_id in ('', c.said_in)
        and starts_with(f.fact_id::varchar, c.replaces)
    where length(c.replaces) >= 8
    qualify count(*) over (partition by c.candidate_no) = 1
    union all
    from near_duplicates
),
understood as (
    select
        c.*, r.session_id as named_session, r.slot as named_slot, r.category as named_category, r.fact_key as named_key,
        -- taking back or confirming a belief by its alias means that belief, whatever key it is given now; who names the
        -- whole fact_id with another key renames it
        r.fact_id is not null
            and coalesce(
                c.op = 'retract'
                or c.replaces is null
                or (same_value(r.fact_value, c.fact_value) and r.category = c.category and length(c.replaces) < 36), false
            ) as means_named,
        if(at_home.slot is null, coalesce(r.session_id, c.home), c.home) as session_id
    from in_one_name as c
    left join referred as r using (candidate_no)
    left join {{ facts | ident }} as at_home
        on at_home.agent_id = c.agent_id and at_home.user_id = c.user_id and at_home.session_id = c.home
        and at_home.category = c.category and at_home.fact_key = c.fact_key
),
at_home as (
    select
        c.* exclude (category, fact_key, says),
        means_named and own.slot is null as by_alias,
        own.slot is not null or holder.slot is not null as is_held,
        case
            when own.slot is not null then own.slot
            when means_named then named_slot
            else c.vocabulary_slot
        end as natural_slot,
        if(by_alias, named_category, c.category) as category,
        if(by_alias, named_key, c.fact_key) as fact_key,
        if(by_alias, named_category || '/' || plain_form(named_key), c.says) as says,
        coalesce(means_named, false) as is_pointed_out
    from understood as c
    left join {{ facts | ident }} as own
        on own.agent_id = c.agent_id and own.user_id = c.user_id and own.session_id = c.session_id
        and own.category = c.category and own.fact_key = c.fact_key
    left join {{ facts | ident }} as holder
        on holder.agent_id = c.agent_id and holder.user_id = c.user_id and holder.session_id = c.session_id
        and holder.slot = c.vocabulary_slot
)
select
    * exclude (home, is_open, is_held, is_renamed, by_alias),
    if(
        is_held, natural_slot,
        -- one place for all that compete for a slot: within a batch the first to name one decides
        coalesce(
            first_value(named_slot ignore nulls) over (
                partition by agent_id, user_id, session_id, natural_slot, is_held
                order by observed_at, candidate_no
                rows between unbounded preceding and unbounded following
            ),
            natural_slot
        )
    ) as slot,
    case
        when replaces is not null and named_slot is null then 'it names ' || replaces || ', which is not a known belief'
        when replaces is null and named_slot is not null then 'the same as ' || named_category || '.' || named_key
        when said_key <> fact_key then 'the same as ' || category || '.' || fact_key
    end as note
from at_home;

-- step: put_in_order
-- Rule 2. Evidence about one slot is heard in the order it was said: earliest first, so that the latest has the last
-- word; of what was said at the same time, the most trusted, then the most confident has it.
create or replace temp table evidence_in_order as
with taken_along as (
    -- who replaces a belief that lives in another slot takes that one back as well
    select
        candidate_no, agent_id, user_id, named_session as session_id, named_slot as slot, named_slot as natural_slot,
        named_category as category, named_key as fact_key, named_category as said_category, named_key as said_key,
        null::varchar as fact_value, confidence, kind, 'retract' as op, source, trust, may_set_rules,
        observed_at, source_turn_id, evidence, named_category || '/' || plain_form(named_key) as says,
        'replaced by ' || category || '.' || fact_key as note, true as is_pointed_out
    from settled
    where named_slot is not null and (named_session, named_slot) <> (session_id, slot)
),
all_evidence as (
    select
        candidate_no, agent_id, user_id, session_id, slot, natural_slot, category, fact_key, said_category, said_key,
        fact_value, confidence, kind, op, source, trust, may_set_rules, observed_at, source_turn_id, evidence, says, note,
        is_pointed_out
    from settled
    union all by name
    from taken_along
)
select
    *,
    plain_form(fact_value) as value_form,
    dense_rank() over (order by agent_id, user_id, session_id, slot) as slot_no,
    row_number() over (
        partition by agent_id, user_id, session_id, slot
        order by observed_at, trust, confidence, fact_value, candidate_no, op
    ) as nth
from all_evidence;

-- step: held_before
-- What each of these slots holds now: a belief, and the memory of what was taken back.
create or replace temp table held as
with slots as (
    select distinct slot_no, agent_id, user_id, session_id, slot from evidence_in_order
),
taken_back as (
    select
        s.slot_no,
        list({
            'says': h.category || '/' || plain_form(h.fact_key),
            'value_form': plain_form(h.fact_value),
            'trust': t.trust,
            'at': h.observed_at,
            'held_trust': case h.event when 'retracted' then b.trust when 'forgotten' then 1000 else -1 end,
            'held_since': h.before_observed_at
        }) as gone
    from (select distinct slot_no, agent_id, user_id, session_id, unnest([slot, natural_slot]) as slot from evidence_in_order) as s
    join {{ history | ident }} as h using (agent_id, user_id, session_id, slot)
    join recall_sql.main.source_trust as t on t.source = h.source
    left join recall_sql.main.source_trust as b on b.source = h.before_source
    where h.op = 'retract' and h.event in ('retracted', 'nothing_to_retract', 'rejected_stale', 'forgotten')
    group by s.slot_no
)
select
    s.slot_no, s.agent_id, s.user_id, s.session_id, s.slot, s.slot as whole_slot,
    if(f.fact_id is null, null, {
        'fact_id': f.fact_id, 'category': f.category, 'fact_key': f.fact_key, 'fact_value': f.fact_value, 'kind': f.kind,
        'source': f.source, 'trust': t.trust, 'confidence': f.confidence, 'observed_at': f.observed_at,
        'source_turn_id': f.source_turn_id, 'evidence': f.evidence, 'slot': f.slot,
        'says': f.category || '/' || plain_form(f.fact_key), 'value_form': plain_form(f.fact_value)
    }) as belief,
    coalesce(g.gone, []) as gone
from slots as s
left join {{ facts | ident }} as f using (agent_id, user_id, session_id, slot)
left join recall_sql.main.source_trust as t on t.source = f.source
left join taken_back as g using (slot_no);

-- step: weigh
-- Rules 4 to 7. Belief is a fold over evidence: each piece in turn meets what is held after the one before it.
create or replace temp table events as
with recursive heard as (
    select slot_no, 0::bigint as nth, whole_slot, belief, gone, null::varchar as event, belief as before
    from held
    union all
    select
        slot_no, nth, whole_slot,
        case
            when event = 'retracted' then null
            when event in ('created', 'superseded') or (event = 'confirmed' and is_fresher) then {
                'fact_id': coalesce(belief.fact_id, uuid()),
                'category': said.category, 'fact_key': said.fact_key, 'fact_value': said.fact_value, 'kind': said.kind,
                'source': said.source, 'trust': said.trust,
                'confidence': if(event = 'confirmed', confirmed(belief.confidence, said.confidence), said.confidence),
                'observed_at': said.observed_at, 'source_turn_id': said.source_turn_id, 'evidence': said.evidence,
                'slot': said.natural_slot, 'says': said.says, 'value_form': said.value_form
            }
            -- Rule 6. Agreement raises confidence; a contradiction of equal standing lowers it.
            when event = 'confirmed' then struct_update(belief, confidence := confirmed(belief.confidence, said.confidence))
            when event = 'rejected_conflict' then struct_update(belief, confidence := doubted(belief.confidence, said.confidence))
            else belief
        end,
        if(
            said.op = 'retract' and event <> 'rejected_trust',
            list_append(gone, {
                'says': said.says, 'value_form': said.value_form,
                'trust': said.trust, 'at': said.observed_at,
                'held_trust': if(event = 'retracted', belief.trust, -1), 'held_since': belief.observed_at
            }),
            gone
        ),
        event, belief
    from (
        select
            *,
            case
                -- Rule 4. A text that was read can't give the bot a rule to follow; nothing changes a SYSTEM fact; a
                -- source changes only what an equal or lower one said.
                when said.kind = 'RULE' and said.op = 'assert' and not said.may_set_rules then 'rejected_trust'
                -- Rule 7. Only what is believed can be taken back.
                when said.op = 'retract' and (belief is null or not is_about_it) then 'nothing_to_retract'
                when belief is not null and (belief.source = 'SYSTEM' or said.trust < belief.trust) then 'rejected_trust'
                -- Rule 5. Of two equally trusted, the one who spoke last is right, whoever was heard last.
                when said.op = 'retract' and said.observed_at < belief.observed_at then 'rejected_stale'
                when said.op = 'retract' then 'retracted'
                when was_taken_back_since then 'rejected_stale'
                when belief is null then 'created'
                when said.says = belief.says and said.value_form = belief.value_form then 'confirmed'
                when said.trust = belief.trust and said.observed_at < belief.observed_at then 'rejected_stale'
                when said.trust = belief.trust and said.observed_at = belief.observed_at
                    and (said.confidence, said.fact_value) < (belief.confidence, belief.fact_value) then 'rejected_conflict'
                else 'superseded'
            end as event
        from (
            select
                h.slot_no, h.whole_slot, h.belief, h.gone, e as said, e.nth,
                -- who doesn't live in Berlin takes nothing back where Bern is believed
                if(
                    e.says = h.belief.says, e.is_pointed_out or takes_back(e.value_form, h.belief.value_form),
                    replace(e.says, ' ', '_') = h.whole_slot
                ) as is_about_it,
                -- the more trusted, or the later, of two who agree stands for the belief
                e.trust > h.belief.trust or e.observed_at >= h.belief.observed_at as is_fresher,
                -- evidence of what was taken back later, or of less than what was then believed, comes too late
                list_bool_or(list_transform(h.gone, lambda g:
                    e.observed_at < g.at and (
                        (e.trust <= g.trust and if(e.says = g.says, takes_back(g.value_form, e.value_form), replace(g.says, ' ', '_') = h.whole_slot))
                        or e.trust < g.held_trust
                        or (e.trust = g.held_trust and e.observed_at < g.held_since)
                    )
                )) as was_taken_back_since
            from heard as h
            join evidence_in_order as e on e.slot_no = h.slot_no and e.nth = h.nth + 1
        )
    )
)
from heard;

-- step: record
-- Every event becomes a row of history, the refused ones too.
create or replace temp table event_numbers as
with numbers as (
    select nextval('chat_fact_event_ids') as event_id from events where nth > 0
)
select event_id, row_number() over (order by event_id) as place from numbers;

insert into {{ history | ident }} (
    event_id, run_id, fact_id, agent_id, user_id, session_id, slot, event, reason, op,
    category, fact_key, fact_value, kind, source, confidence, observed_at, evidence, source_turn_id,
    before_category, before_key, before_value, before_kind, before_source, before_confidence, before_observed_at, before_turn_id,
    after_category, after_key, after_value, after_kind, after_source, after_confidence, after_observed_at,
    after_turn_id, after_evidence, recorded_at
)
with in_order as (
    select
        row_number() over (order by e.observed_at, v.slot_no, v.nth) as place,
        e.*, v.event, v.before, v.belief,
        case v.event
            when 'rejected_trust' then
                if(e.kind = 'RULE' and e.op = 'assert' and not e.may_set_rules,
                    e.source || ' may not set a RULE', e.source || ' may not change what ' || v.before.source || ' said')
            when 'rejected_stale' then
                if(v.before.observed_at > e.observed_at, 'said before ' || v.before.observed_at, 'said before it was taken back')
            when 'rejected_conflict' then 'contradicts what was said at the same time with more confidence'
            when 'nothing_to_retract' then 'nothing like it is believed'
        end as why
    from events as v
    join evidence_in_order as e on e.slot_no = v.slot_no and e.nth = v.nth
)
select
    n.event_id, {{ run_id }}, coalesce(o.belief.fact_id, o.before.fact_id), o.agent_id, o.user_id, o.session_id,
    coalesce(o.belief.slot, o.before.slot, o.natural_slot),
    o.event, nullif(concat_ws('; ', o.why, o.note), ''), o.op,
    o.said_category, o.said_key, o.fact_value, o.kind, o.source, o.confidence, o.observed_at, o.evidence, o.source_turn_id,
    o.before.category, o.before.fact_key, o.before.fact_value, o.before.kind, o.before.source, o.before.confidence, o.before.observed_at,
    o.before.source_turn_id,
    o.belief.category, o.belief.fact_key, o.belief.fact_value, o.belief.kind, o.belief.source, o.belief.confidence,
    o.belief.observed_at, o.belief.source_turn_id, o.belief.evidence, current_timestamp
from in_order as o
join event_numbers as n using (place);

insert into {{ history | ident }} (
    event_id, run_id, agent_id, user_id, session_id, event, reason, op,
    category, fact_key, fact_value, kind, source, confidence, observed_at, evidence, source_turn_id, recorded_at
)
select
    nextval('chat_fact_event_ids'), {{ run_id }}, coalesce(agent_id, ''), coalesce(user_id, ''), said_in, 'rejected_invalid', problem, op,
    category, fact_key, fact_value, kind, source, confidence, observed_at, evidence, source_turn_id, current_timestamp
from normalised as n
where problem is not null and not exists (
    from {{ history | ident }} as h
    where h.event = 'rejected_invalid' and h.agent_id = coalesce(n.agent_id, '') and h.user_id = coalesce(n.user_id, '')
      and h.session_id = n.said_in and h.reason = n.problem
      and (h.category, h.fact_key, h.fact_value, h.op, h.observed_at, h.source_turn_id)
        is not distinct from (n.category, n.fact_key, n.fact_value, n.op, n.observed_at, n.source_turn_id)
);

-- step: believe
-- The last state of each slot is what is believed now: in place, with the same fact_id; a belief that took the place of
-- another moves to the slot of its own key. Rule 8: the embedding is made anew exactly when category, key or value changed.
create or replace temp table outcomes as
with last_states as (
    select slot_no, belief as now
    from events
    qualify row_number() over (partition by slot_no order by nth desc) = 1
)
select
    h.agent_id, h.user_id, h.session_id, h.slot as held_slot, l.now,
    l.now is not null as is_held,
    (l.now.category, l.now.fact_key, l.now.fact_value) is distinct from (h.belief.category, h.belief.fact_key, h.belief.fact_value)
        as reads_differently,
    l.now is distinct from h.belief as stands_differently
from last_states as l
join held as h using (slot_no);

merge into {{ facts | ident }} as f
using (
    select
        agent_id, user_id, session_id, held_slot, is_held, reads_differently, stands_differently, unnest(now),
        embed(case when is_held and reads_differently then fact_text(now.category, now.fact_key, now.fact_value) end) as embedding
    from outcomes
) as o
on f.agent_id = o.agent_id and f.user_id = o.user_id and f.session_id = o.session_id and f.slot = o.held_slot
when matched and not o.is_held then delete
when matched and o.reads_differently then update set
    fact_id = o.fact_id, category = o.category, fact_key = o.fact_key, fact_value = o.fact_value, slot = o.slot, kind = o.kind,
    source = o.source, confidence = o.confidence, observed_at = o.observed_at, updated_at = current_timestamp,
    source_turn_id = o.source_turn_id, evidence = o.evidence, embedding = o.embedding
when matched and o.stands_differently then update set
    fact_id = o.fact_id, slot = o.slot, kind = o.kind, source = o.source, confidence = o.confidence, observed_at = o.observed_at,
    updated_at = current_timestamp, source_turn_id = o.source_turn_id, evidence = o.evidence
-- What was weighed and left as it is, is written as well: of two runs that weigh it at once, one must do it again. (DuckDB
-- sees a conflict for sure only where a column with an index is set.)
when matched then update set slot = f.slot
when not matched and o.is_held then insert (
    fact_id, agent_id, user_id, session_id, category, fact_key, fact_value, slot, kind, source, confidence,
    observed_at, updated_at, source_turn_id, evidence, embedding
) values (
    o.fact_id, o.agent_id, o.user_id, o.session_id, o.category, o.fact_key, o.fact_value, o.slot, o.kind, o.source,
    o.confidence, o.observed_at, current_timestamp, o.source_turn_id, o.evidence, o.embedding
);
