"""A person corrects the table with plain SQL; the next run respects it."""

from __future__ import annotations

import duckdb
import pytest

from recall_sql import run
from tests.beliefs.telling import at, beliefs, events, memory, said, taken_back

Con = duckdb.DuckDBPyConnection
STALE = (
    "select count(*) from chat_facts where embedding is distinct from embed(fact_text(category, fact_key, fact_value))"
)


def next_run(con: Con) -> None:
    run(con, "conversation_memory/land")


@pytest.fixture
def diet(con: Con) -> Con:
    memory(con).believe([said("dietary.vegetarian", when=1), said("pet.cat", "Mochi", when=1)])
    return con


def test_a_changed_value_is_noticed_and_its_vector_renewed(diet: Con) -> None:
    diet.execute("update chat_facts set fact_value = 'Momo' where category = 'pet'")
    next_run(diet)
    assert diet.execute(STALE).fetchall() == [(0,)]
    last = memory(diet).history()[-1]
    assert (last["event"], last["reason"], last["before_value"], last["after_value"]) == (
        "edited",
        "changed by hand",
        "Mochi",
        "Momo",
    )
    next_run(diet)
    assert len(events(diet)) == 3


def test_older_evidence_doesnt_overwrite_it_and_newer_does(diet: Con) -> None:
    diet.execute("update chat_facts set fact_value = 'Momo' where category = 'pet'")
    memory(diet).believe([said("pet.cat", "Luna", when=5)])
    assert beliefs(diet)["pet.cat"] == "Momo"
    memory(diet).remember("Luna", category="pet", fact_key="cat")
    assert beliefs(diet)["pet.cat"] == "Luna"


def test_a_correction_of_a_document_counts_as_the_users_word(con: Con) -> None:
    memory(con).believe([said("pet.cat", "Mochi", when=1, source="DOCUMENT")])
    con.execute("update chat_facts set fact_value = 'Momo'")
    memory(con).believe([said("pet.cat", "Luna", when=5, source="AGENT")])
    assert beliefs(con) == {"pet.cat": "Momo"}


def test_a_moment_the_person_wrote_is_kept(diet: Con) -> None:
    diet.execute("update chat_facts set fact_value = 'Momo', observed_at = ? where category = 'pet'", [at(3)])
    memory(diet).believe([said("pet.cat", "Luna", when=5)])
    assert beliefs(diet)["pet.cat"] == "Luna"


def test_a_removed_belief_doesnt_come_back_by_older_evidence(diet: Con) -> None:
    diet.execute("delete from chat_facts where category = 'pet'")
    memory(diet).believe([said("pet.cat", "Mochi", when=2), said("pet.cats", "Luna", when=3)])
    assert beliefs(diet) == {"dietary.vegetarian": "true"}
    assert events(diet)[2:] == ["forgotten", "rejected_stale", "rejected_stale"]


def test_a_renamed_belief_competes_where_it_belongs_now(diet: Con) -> None:
    diet.execute(
        "update chat_facts set category = 'dietary', fact_key = 'keto', fact_value = 'true' where category = 'pet'"
    )
    memory(diet).believe([said("pet.cat", "Luna", when=2)])
    assert beliefs(diet) == {"dietary.keto": "true", "dietary.vegetarian": "true", "pet.cat": "Luna"}
    memory(diet).remember("true", category="dietary", fact_key="paleo")
    assert beliefs(diet) == {"dietary.paleo": "true", "dietary.vegetarian": "true", "pet.cat": "Luna"}


def test_a_row_written_by_hand_gets_its_slot_and_vector(diet: Con) -> None:
    diet.execute(
        "insert into chat_facts (user_id, category, fact_key, fact_value, confidence, observed_at)"
        " values ('u1', 'likes', 'trains', 'trains', 1, '2026-01-01'),"
        " ('u1', 'dietary', 'vegan', 'true', 1, '2026-01-01')"
    )
    next_run(diet)
    slots = dict(
        diet.execute("select category || '.' || fact_key, slot from chat_facts where fact_key <> 'cat'").fetchall()
    )
    assert slots["likes.trains"] == "taste/train"
    assert slots["dietary.vegetarian"] == "dietary/diet"
    assert slots["dietary.vegan"].startswith("dietary/vegan")  # what a person left standing stays
    assert diet.execute(STALE).fetchall() == [(0,)]
    memory(diet).believe([taken_back("dietary.vegetarian", when=3)])
    assert "dietary.vegan" in beliefs(diet)


def test_a_copied_row_becomes_a_fact_of_its_own(diet: Con) -> None:
    diet.execute("insert into chat_facts select * replace ('u2' as user_id) from chat_facts")
    next_run(diet)
    assert diet.execute("select count(distinct fact_id), count(*) from chat_facts").fetchall() == [(4, 4)]
    assert beliefs(diet, "u2") == beliefs(diet)


def test_a_vector_that_was_lost_is_made_again(diet: Con) -> None:
    diet.execute("update chat_facts set fact_value = 'Momo', embedding = null where category = 'pet'")
    next_run(diet)
    assert diet.execute(STALE).fetchall() == [(0,)]
