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

-- Two values say the same when only case, blanks or a final stop differ.
create or replace macro recall_sql.main.same_value(a, b) as
    rtrim(regexp_replace(lower(strip_accents(a)), '\s+', ' ', 'g'), '.') = rtrim(regexp_replace(lower(strip_accents(b)), '\s+', ' ', 'g'), '.');

-- How far a source is trusted, from vocabulary/source_trust.csv.
create or replace macro recall_sql.main.trust_of(who) as
    (select known.trust from recall_sql.main.source_trust as known where known.source = who);

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
        '(?i)\b(typo|i meant|i mean|correction|misspel\w+|misspoke|mistake|scratch that|scrap that|actually|sorry|not .{1,30} but|it''s .{1,30} not)\b'
    );
