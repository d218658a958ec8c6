"""The same belief under another key merges; what is different stays apart."""

from __future__ import annotations

import duckdb

from tests.beliefs import near_duplicates
from tests.beliefs.telling import beliefs, events, memory, said

Con = duckdb.DuckDBPyConnection


def test_nothing_different_is_merged_and_most_of_the_same_is(con: Con) -> None:
    near_duplicates.load(con)
    precision, recall = near_duplicates.figures(con, "same_belief", 1.0)
    assert precision == 1.0
    assert recall >= 0.9


def test_another_key_for_the_same_belief_confirms_it(con: Con) -> None:
    memory(con).believe([said("pet.cat", "Mochi", when=1, confidence=0.5, source_turn_id=1)])
    memory(con).believe([said("pet.cat_mochi", "Mochi", when=2, confidence=0.5, source_turn_id=2)])
    assert beliefs(con) == {"pet.cat": "Mochi"}
    last = memory(con).history()[-1]
    assert (last["event"], last["fact_key"], last["after_confidence"]) == ("confirmed", "cat_mochi", 0.75)
    assert last["reason"] == "the same as pet.cat"
    assert memory(con).believe([said("pet.cat_mochi", "Mochi", when=2, confidence=0.5, source_turn_id=2)]) == {}


def test_plural_case_and_spelling_are_one_belief_within_a_batch(con: Con) -> None:
    memory(con).believe(
        [
            said("likes.trains", "trains", when=1),
            said("likes.Train", "Train", when=2),
            said("hobby.organising", "organising", when=1),
            said("hobby.organizing", "organizing", when=2),
        ]
    )
    assert beliefs(con) == {"hobby.organizing": "organizing", "likes.train": "Train"}
    assert sorted(events(con)) == ["confirmed", "confirmed", "created", "created"]


def test_other_keys_for_one_belief_merge_within_a_batch_too(con: Con) -> None:
    memory(con).believe(
        [said("pet.cat_mochi", "Mochi", when=1), said("pet.cat", "Mochi", when=2), said("pet.cat_luna", "Luna")]
    )
    assert beliefs(con) == {"pet.cat_luna": "Luna", "pet.cat_mochi": "Mochi"}
    assert memory(con).history(event="confirmed")[0]["fact_key"] == "cat"


def test_what_is_different_stays_side_by_side(con: Con) -> None:
    pairs = [
        ("pet.cat_mochi", "Mochi"),
        ("pet.dog_biscuit", "Biscuit"),
        ("likes.jazz", "jazz"),
        ("likes.jazz_dance", "jazz dance"),
    ]
    for when, (name, value) in enumerate(pairs):
        memory(con).believe([said(name, value, when=when)])
    assert beliefs(con) == dict(pairs)
