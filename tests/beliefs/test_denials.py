"""Denials end to end, as the rules read them and the beliefs take them: said, denied, and what is left."""

from __future__ import annotations

import duckdb
import pytest

from recall_sql import run
from tests.beliefs.telling import at, beliefs, events, memory, said, taken_back

Con = duckdb.DuckDBPyConnection

# what was told, how it is denied, what is left
TOLD = [
    ("I'm allergic to walnuts.", "I'm not allergic to walnuts.", {}),
    ("I'm allergic to walnuts.", "I was wrong, I am not allergic to walnuts after all", {}),
    ("I'm allergic to walnuts.", "It turns out I'm not allergic to walnuts", {}),
    ("I'm allergic to walnuts.", "I don't have a walnut allergy", {}),
    ("I'm allergic to walnuts.", "Forget that I'm allergic to walnuts", {}),
    ("I'm allergic to walnuts.", "I'm not allergic to walnuts, but to peanuts", {"allergy.allergy_peanut": "peanuts"}),
    ("I'm allergic to walnuts.", "I'm not allergic to walnuts, am I?", {"allergy.allergy_walnut": "walnuts"}),
    ("I'm vegan.", "I'm not vegan", {}),
    ("I'm vegan.", "I'm not vegetarian", {"dietary.vegan": "true"}),
    ("I have a dog.", "I don't have a dog", {}),
    ("I have a dog called Rex.", "I don't have a dog", {}),
    ("I have a dog called Rex.", "I don’t have a cat", {"pet.dog_rex": "dog Rex"}),
    ("I live in Berlin.", "I don't live in Berlin", {}),
    ("I live in Berlin.", "I don't live in Bern", {"location.home_city": "Berlin"}),
    ("I live in Berlin.", "I no longer live in Bern", {"location.home_city": "Berlin"}),
    ("I live in Berlin.", "I don't live in Berlin, I live in Bern", {"location.home_city": "Bern"}),
    ("I live in Berlin.", "I live in Bern, I don't live in Berlin", {"location.home_city": "Bern"}),
    ("I work at Siemens.", "I don't work at Siemens", {}),
    ("I work at Siemens.", "I don't work at Bosch", {"work.employer": "Siemens"}),
    ("I speak Danish.", "I don't speak Danish", {}),
    ("I don't drink alcohol.", "I drink alcohol again", {}),
    ("I like tea.", "I'm not vegetarian any more", {"likes.tea": "tea"}),
    ("I like tea.", "I'm not vegan", {"likes.tea": "tea"}),
]


@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_denied_is_taken_back(con: Con, at_once: bool) -> None:
    told = {f"u{nth}": (first, denial) for nth, (first, denial, _) in enumerate(TOLD)}
    for position in (0, 1):
        for user, texts in told.items():
            memory(con, user).add("s1", "user", texts[position], created_at=at(position))
        if not at_once or position == 1:
            run(con, "conversation_memory/all")
    left = {(first, denial): beliefs(con, user) for user, (first, denial) in told.items()}
    assert left == {(first, denial): expected for first, denial, expected in TOLD}


def test_denying_what_isnt_believed_leaves_nothing_but_a_line_of_history(con: Con) -> None:
    memory(con).add("s1", "user", "I'm not vegan.", created_at=at(0))
    run(con, "conversation_memory/all")
    assert (beliefs(con), events(con)) == ({}, ["nothing_to_retract"])


def test_only_the_value_that_is_denied_is_taken_back_whenever_it_is_heard(con: Con) -> None:
    memory(con).believe([said("location.home_city", "Berlin", when=1)])
    memory(con).believe([said("location.home_city", "Bern", op="retract", when=5)])
    assert (beliefs(con), events(con)[-1]) == ({"location.home_city": "Berlin"}, "nothing_to_retract")
    memory(con).believe([said("location.home_city", "Bern", when=3)])
    assert (beliefs(con), events(con)[-1]) == ({"location.home_city": "Berlin"}, "rejected_stale")
    memory(con).believe([said("location.home_city", "Oslo", when=4)])
    assert beliefs(con) == {"location.home_city": "Oslo"}
    memory(con).believe([taken_back("location.home_city", when=6)])
    assert beliefs(con) == {}
