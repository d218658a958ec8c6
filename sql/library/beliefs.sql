-- Small words the rules of belief are written in. The rules themselves: recipes/conversation_memory/_believe.sql.

-- 'Prefers Rail' and 'prefersRail' are the key prefers_rail.
create or replace macro recall_sql.main.snake_case(words) as
    trim(
        regexp_replace(
            lower(regexp_replace(nfc_normalize(replace(words, chr(0), '')), '([\p{Ll}\p{N}])(\p{Lu})', '\1_\2', 'g')),
            '[^\p{L}\p{M}\p{N}]+', '_', 'g'
        ),
        '_'
    );

-- Text as it is stored: one Unicode form, no NUL, no blanks around it.
create or replace macro recall_sql.main.tidy(words) as
    nullif(trim(nfc_normalize(replace(words, chr(0), '')), E' \t\r\n'), '');

-- British spelling as American.
create or replace macro recall_sql.main.american(words) as
    regexp_replace(
        regexp_replace(
            regexp_replace(
                words,
                '(col|fav|flav|hum|lab|neighb|harb|hon|behavi|rum|sav|vap|arm|od|parl|tum|vig)our', '\1or', 'g'
            ),
            '([a-z]{3,}[a-rt-z])is(e|es|ed|er|ing|ation)(\b|_)', '\1iz\2\3', 'g'
        ),
        '(cent|theat|lit|fib|met|calib|somb)re(s?)(\b|_)', '\1er\2\3', 'g'
    );

-- The plural as the singular. A form to compare by, not always a word: 'movies' and 'movie' are both 'movy'.
create or replace macro recall_sql.main.singular(words) as
    regexp_replace(
        regexp_replace(
            regexp_replace(words, '\b([a-z]{2,})(?:ies|ie)\b', '\1y', 'g'),
            '\b([a-z]*(?:ss|sh|x|zz|tch|nch|rch|each|oach|wich|[bcnrpt]us|potato|tomato|mango|hero))es\b', '\1', 'g'
        ),
        '\b([a-z]{2,}[a-hj-rtv-z])s\b', '\1', 'g'
    );

-- The form in which two texts are compared: case, accents, quotes, final stops, spelling variants and plural don't count.
create or replace macro recall_sql.main.plain_form(words) as
    case
        -- one short word without an s has one form already
        when length(words) < 5 and regexp_full_match(words, '[a-rt-z0-9]*') then words
        else recall_sql.main.singular(recall_sql.main.american(trim(regexp_replace(
            lower(strip_accents(translate(words, '''’‘"“”', ''))),
            '[.,;:!?…]+(?:\s+|$)|,([^0-9])|[-_]([a-z])|[_\s]+', ' \1\2', 'g'
        ))))
    end;

-- Two values say the same thing.
create or replace macro recall_sql.main.same_value(a, b) as
    recall_sql.main.plain_form(a) = recall_sql.main.plain_form(b);

-- Taking back the value `denied` is about a belief that says `held`: they are one, one is part of the other ('dog', 'dog Rex'),
-- or one of them is no value but a yes or no.
create or replace macro recall_sql.main.takes_back(denied, held) as
    coalesce(denied, '') in ('', 'true', 'false', 'yes', 'no', 'none', 'null') or held in ('true', 'false', 'yes', 'no')
    or contains(' ' || denied || ' ', ' ' || held || ' ') or contains(' ' || held || ' ', ' ' || denied || ' ');

-- What a belief says as a set of words, whichever of them are in its key and which in its value: cat = 'Mochi' and
-- cat_mochi = 'Mochi' are the same; so are "don't use emojis" and "do not use the emojis".
create or replace macro recall_sql.main.belief_words(fact_key, fact_value) as
    list_sort(list_distinct(list_filter(
        string_split(
            regexp_replace(
                recall_sql.main.plain_form(fact_key || ' ' || fact_value),
                '\b(do|does|is|are|was|were|have|has|would|could|should)nt\b', '\1 not', 'g'
            ),
            ' '
        ),
        lambda word: word not in ('', 'the', 'a', 'an', 'name', 'named', 'true')
    )));

-- The same letters where only blanks and doubled letters differ, for texts long enough not to meet by accident:
-- 'rockclimbing' and 'rock climbing', 'shelfish' and 'shellfish', but not 'desert' and 'dessert'.
create or replace macro recall_sql.main.squeezed(words) as
    regexp_replace(
        regexp_replace(
            replace(recall_sql.main.plain_form(words), ' ', ''),
            'b(b)|c(c)|d(d)|e(e)|f(f)|g(g)|k(k)|l(l)|m(m)', '\1\2\3\4\5\6\7\8\9', 'g'
        ),
        'n(n)|o(o)|p(p)|r(r)|s(s)|t(t)|z(z)', '\1\2\3\4\5\6\7', 'g'
    );

-- Two beliefs of one category are one: measured on tests/beliefs/near_duplicates.csv (python -m tests.beliefs.near_duplicates).
create or replace macro recall_sql.main.near_duplicates(key_a, value_a, key_b, value_b) as
    recall_sql.main.belief_words(key_a, value_a) = recall_sql.main.belief_words(key_b, value_b)
    or (
        length(recall_sql.main.squeezed(value_a)) >= 8
        and recall_sql.main.squeezed(value_a) = recall_sql.main.squeezed(value_b)
        and recall_sql.main.squeezed(key_a) = recall_sql.main.squeezed(key_b)
    );

-- The slot of a key that nothing else excludes.
create or replace macro recall_sql.main.own_slot(category, fact_key) as
    category || '/' || replace(recall_sql.main.plain_form(fact_key), ' ', '_');

-- The slot that a line of vocabulary/fact_keys.csv gives a key: its category if that is exclusive, the slot it names, or
-- one of the key's own. What the key has in place of a * goes in place of the slot's.
create or replace macro recall_sql.main.slot_in_vocabulary(exclusive, slot, pattern, category, fact_key) as
    case
        when exclusive = 'true' then category
        when slot is null and not contains(pattern, '*') then category || '/' || fact_key
        when slot is null then recall_sql.main.own_slot(category, fact_key)
        when contains(slot, '*') then
            replace(
                slot, '*',
                replace(recall_sql.main.plain_form(regexp_extract(recall_sql.main.american(fact_key), '^' || replace(pattern, '*', '(.*)') || '$', 1)), ' ', '_')
            )
        else slot
    end;

-- How far a source is trusted, from vocabulary/source_trust.csv. (The inner name differs so that trust_of(source) means the caller's column.)
create or replace macro recall_sql.main.trust_of(who) as
    (select known.trust from (select source as known_source, trust from recall_sql.main.source_trust) as known where known.known_source = who);

-- Two independent pieces of evidence for the same thing: at least one of them is right.
create or replace macro recall_sql.main.confirmed(confidence, again) as
    greatest(confidence, least(0.99, 1 - (1 - confidence) * (1 - again)));

-- Evidence of equal standing against it: believed less, by up to a quarter.
create or replace macro recall_sql.main.doubted(confidence, against) as confidence * (1 - against / 4);

-- What a fact is embedded as.
create or replace macro recall_sql.main.fact_text(category, fact_key, fact_value) as
    category || ': ' || fact_key || '=' || fact_value;

-- Words by which somebody takes back or corrects what was said just before; the extractor then needs to know what that was.
create or replace macro recall_sql.main.looks_like_correction(words) as
    regexp_matches(
        words,
        '(?i)\b(typo|i meant|i mean|correction|misspel\w+|misspoke|mistake|scratch that|scrap that|actually|sorry|not .{1,30} but|it''s .{1,30} not|(do not|don(''|’)?t|no longer) (have|own)|have no|haven(''|’)?t got)\b'
    );
