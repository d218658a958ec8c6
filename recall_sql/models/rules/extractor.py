"""The rules backend of EXTRACT_FACTS: text in, facts about the speaker out. Puts the other modules in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

import regex as re

from recall_sql.facts import Fact
from recall_sql.models.rules import corrections, denials, engine, guards, naming
from recall_sql.models.rules.text import Clause, Sentence, clean, sentences
from recall_sql.models.rules.values import Moment

Read = tuple[tuple[Clause, list[Fact]], ...]  # the believable clauses of a sentence, each with its facts

# Patterns are English: a text without a Latin letter has nothing for them.
_LATIN = re.compile(r"[A-Za-z]")
_NEGATION = re.compile(r"(?i)^((?:I|we)\s+(?:am|are|have))\s+not\s+|^((?:I|we))\s+(?:do|can)\s*not\s+")


class RulesExtractor:
    """Deterministic English extractor (protocol `Extractor`). Holds no state; patterns are compiled on first use."""

    provider = "rules"
    model = "english-1"

    def extract(
        self,
        text: str,
        *,
        now: datetime | None = None,
        categories: Sequence[str] | None = None,
        known: Sequence[dict[str, Any]] = (),
    ) -> list[Fact]:
        """The facts that `text`, said by the user at `now`, states about the user.

        now: base of relative dates; without it they stay as said. categories: the only ones wanted, or None for all.
        known: facts already held (dicts with category, fact_key, fact_value and, perhaps, alias or fact_id), used for
        corrections and retractions. Later statements on the same key win. Deterministic.
        """
        if not _LATIN.search(text):
            return []
        found = _facts(clean(text), now)
        fix = corrections.corrected(text.replace("\u0000", ""), known)
        if fix:
            found = [f for f in found if f.category not in ("identity", fix.category)] + [fix]
        found = [corrections.aimed(f, known) if f.op == "retract" else f for f in found]
        wanted = set(categories) if categories is not None else None
        return _last_per_key(f for f in found if wanted is None or f.category in wanted)


def _facts(text: str, now: datetime | None) -> list[Fact]:
    told: list[list[Fact]] = []  # per sentence
    seen: dict[Sentence, Read] = {}
    thread = naming.Thread()
    for sentence in sentences(text):
        if guards.sentence_blocks_rest(sentence) or guards.is_paste_header(sentence):
            break
        if guards.is_joke(sentence.text):
            del told[-1:]  # "I'm the Pope. Just kidding."
            continue
        if sentence not in seen:  # pasted text repeats itself
            whenever = _timeless(sentence)
            seen[sentence] = _read(sentence, Moment(now)) if whenever is None else whenever
        told.append([fact for clause, facts in seen[sentence] for fact in thread.follow(clause, facts)])
    return [fact for facts in told for fact in facts if id(fact) not in thread.dropped]


@lru_cache(maxsize=16_384)
def _timeless(sentence: Sentence) -> Read | None:
    """What a sentence says whenever it is said; None if that depends on when. People say the same again and again."""
    moment = Moment(None)
    read = _read(sentence, moment)
    return None if moment.asked else read


def _read(sentence: Sentence, moment: Moment) -> Read:
    return tuple((clause, _clause_facts(clause, sentence, moment)) for clause in guards.believable(sentence))


def _clause_facts(clause: Clause, sentence: Sentence, moment: Moment) -> list[Fact]:
    """The facts of a clause; "any more" or a plain denial retracts, unless its negative form is itself a fact."""
    if not clause.text:
        return []
    facts = engine.matches(clause, moment)
    if facts:
        return facts
    if not clause.anymore:
        for denied in denials.positives(clause, sentence):
            facts = denials.taken_back(engine.matches(denied, moment), denied)
            if facts:
                break
        return facts
    positive = _NEGATION.sub(lambda m: f"{m.group(1) or m.group(2)} ", clause.text, count=1)
    if positive == clause.text:
        return []
    return [f.model_copy(update={"op": "retract"}) for f in engine.matches(replace(clause, text=positive), moment)]


def _last_per_key(facts: Iterable[Fact]) -> list[Fact]:
    by_key: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        earlier = by_key.get((fact.category, fact.fact_key))
        if earlier and fact.op == "retract" and not denials.same_value(fact.fact_value, earlier.fact_value):
            continue  # "I live in Bern, I don't live in Berlin"
        by_key.pop((fact.category, fact.fact_key), None)
        by_key[(fact.category, fact.fact_key)] = fact
    return list(by_key.values())
