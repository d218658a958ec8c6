"""The rules of "How a belief changes", one by one."""

from __future__ import annotations

import duckdb
import pytest

from tests.beliefs.telling import at, beliefs, events, memory, said, taken_back

Con = duckdb.DuckDBPyConnection


def one(con: Con, query: str) -> tuple:
    rows = con.execute(query).fetchall()
    assert len(rows) == 1
    return rows[0]


# --- 1 normalise ------------------------------------------------------------------------------------------------------


def test_keys_become_snake_case_and_text_one_unicode_form(con: Con) -> None:
    memory(con).believe([said("Travel Mode.prefersRail", "  Cafe\u0301\x00 cars ", confidence=7.0)])
    found = one(con, "select category, fact_key, fact_value, confidence from chat_facts")
    assert found == ("travel_mode", "prefers_rail", "Caf\u00e9 cars", 1.0)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"fact_key": None}, "fact_key is missing"),
        ({"category": "  "}, "category is missing"),
        ({"fact_value": "\x00"}, "fact_value is missing"),
        ({"confidence": float("nan")}, "confidence is not a number"),
        ({"kind": "HUNCH"}, "unknown kind HUNCH"),
        ({"op": "guess"}, "unknown op guess"),
        ({"source": "GOSSIP"}, "unknown source GOSSIP"),
        ({"observed_at": None}, "observed_at is missing"),
    ],
)
def test_what_cant_be_normalised_is_noted_and_stops_nothing(con: Con, wrong: dict, reason: str) -> None:
    batch = [said("pet.cat", "Mochi") | wrong, said("pet.dog", "Biscuit")]
    assert memory(con).believe(batch) == {"created": 1, "rejected_invalid": 1}
    assert one(con, "select reason from chat_fact_history where event = 'rejected_invalid'") == (reason,)
    assert memory(con).believe(batch) == {}


# --- 2 one candidate per key ------------------------------------------------------------------------------------------


def test_within_a_batch_the_latest_then_the_most_trusted_then_the_most_confident_has_the_last_word(con: Con) -> None:
    memory(con).believe(
        [
            said("location.home_city", "Rome", when=5, confidence=0.9),
            said("location.home_city", "Oslo", when=5, confidence=0.4),
            said("location.home_city", "Bonn", when=9, source="TOOL"),
            said("location.home_city", "Lyon", when=1),
        ]
    )
    assert beliefs(con) == {"location.home_city": "Rome"}
    assert events(con) == ["created", "superseded", "superseded", "rejected_trust"]


# --- 3 slots ----------------------------------------------------------------------------------------------------------


def test_keys_that_exclude_each_other_share_a_row(con: Con) -> None:
    memory(con).believe([said("dietary.vegetarian", when=1)])
    before = one(con, "select fact_id, embedding from chat_facts")
    memory(con).believe([said("dietary.pescatarian", when=2), said("allergy.allergy_peanut", "peanuts", when=2)])
    assert beliefs(con) == {"allergy.allergy_peanut": "peanuts", "dietary.pescatarian": "true"}
    after = one(con, "select fact_id, embedding from chat_facts where category = 'dietary'")
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_the_model_may_name_the_belief_it_replaces(con: Con) -> None:
    memory(con).believe([said("habit.runs", "at dawn", when=1)])
    (alias,) = one(con, "select left(fact_id::varchar, 8) from chat_facts")
    memory(con).believe([said("habit.swims", "at noon", when=2, replaces=alias)])
    assert beliefs(con) == {"habit.swims": "at noon"}
    assert events(con) == ["created", "superseded"]


def test_what_it_replaces_is_taken_back_when_the_new_key_is_believed_already(con: Con) -> None:
    memory(con).believe([said("habit.runs", "at dawn", when=1), said("habit.swims", "at noon", when=1)])
    (alias,) = one(con, "select left(fact_id::varchar, 8) from chat_facts where fact_key = 'runs'")
    memory(con).believe([said("habit.swims", "at dawn", when=2, replaces=alias)])
    assert beliefs(con) == {"habit.swims": "at dawn"}
    assert one(con, "select event, reason from chat_fact_history where op = 'retract'") == (
        "retracted",
        "replaced by habit.swims",
    )


def test_the_model_may_take_back_or_confirm_by_alias_under_another_key(con: Con) -> None:
    memory(con).believe([said("habit.runs", "at dawn", when=1, confidence=0.5), said("pet.cat", "Mochi", when=1)])
    aliases = dict(con.execute("select category, left(fact_id::varchar, 8) from chat_facts").fetchall())
    memory(con).believe(
        [
            said("habit.morning_run", "at dawn", when=2, confidence=0.5, replaces=aliases["habit"]),
            taken_back("pet.the_cat", when=2, replaces=aliases["pet"]),
        ]
    )
    assert sorted(events(con)[2:]) == ["confirmed", "retracted"]
    assert one(con, "select fact_value, confidence from chat_facts") == ("at dawn", 0.75)


@pytest.mark.parametrize("first_names_it", [True, False])
def test_one_key_has_one_slot_whatever_a_batch_says(con: Con, first_names_it: bool) -> None:
    memory(con).believe([said("habit.runs", when=1)])
    (alias,) = one(con, "select left(fact_id::varchar, 8) from chat_facts")
    batch = [said("habit.swims", "a", when=2, replaces=alias), said("habit.swims", "b", when=3)]
    memory(con).believe(batch if first_names_it else batch[::-1])
    assert beliefs(con) == {"habit.swims": "b"}


def test_another_persons_belief_cant_be_named(con: Con) -> None:
    memory(con, "u2").believe([said("habit.runs", when=1)])
    (alias,) = one(con, "select left(fact_id::varchar, 8) from chat_facts")
    memory(con).believe([said("habit.swims", when=2, replaces=alias)])
    assert (beliefs(con, "u2"), beliefs(con)) == ({"habit.runs": "true"}, {"habit.swims": "true"})


def test_a_fact_of_this_trip_stays_in_its_conversation(con: Con) -> None:
    memory(con).believe([said("budget.max_usd", "3000", session_id="s1"), said("pet.cat", "Mochi", session_id="s1")])
    found = con.execute("select category, session_id from chat_facts order by all").fetchall()
    assert found == [("budget", "s1"), ("pet", "")]
    memory(con).believe([said("pet.dog", "Biscuit", session_id="s1")], fact_scope="session")
    assert one(con, "select session_id from chat_facts where fact_key = 'dog'") == ("s1",)


# --- 5 time -----------------------------------------------------------------------------------------------------------


def test_the_later_statement_wins_whichever_is_heard_first(con: Con) -> None:
    memory(con).believe([said("location.home_city", "Oslo", when=9)])
    memory(con).believe([said("location.home_city", "Rome", when=1)])
    assert beliefs(con) == {"location.home_city": "Oslo"}
    assert events(con) == ["created", "rejected_stale"]


# --- 6 confidence -----------------------------------------------------------------------------------------------------


def test_agreement_raises_confidence_once_per_turn(con: Con) -> None:
    for turn in (1, 2, 2, 1):
        memory(con).believe([said("pet.cat", "Mochi", when=turn, confidence=0.5, source_turn_id=turn)])
    assert one(con, "select confidence from chat_facts") == (0.75,)
    assert events(con) == ["created", "confirmed"]


def test_confidence_never_reaches_certainty_by_agreement(con: Con) -> None:
    memory(con).believe([said("pet.cat", "Mochi", when=n, confidence=0.9, source_turn_id=n) for n in range(6)])
    assert one(con, "select confidence from chat_facts") == (0.99,)


def test_a_refused_contradiction_of_equal_standing_lowers_it(con: Con) -> None:
    memory(con).believe([said("pet.cat", "Mochi", when=1, confidence=0.8)])
    memory(con).believe([said("pet.cat", "Luna", when=1, confidence=0.4)])
    assert beliefs(con) == {"pet.cat": "Mochi"}
    assert one(con, "select round(confidence, 6) from chat_facts") == (0.72,)
    assert events(con) == ["created", "rejected_conflict"]


def test_a_new_value_brings_its_own_confidence(con: Con) -> None:
    memory(con).believe([said("pet.cat", "Mochi", when=1, confidence=0.95)])
    memory(con).believe([said("pet.cat", "Luna", when=2, confidence=0.3)])
    assert one(con, "select fact_value, confidence from chat_facts") == ("Luna", 0.3)


# --- 7 retraction -----------------------------------------------------------------------------------------------------


def test_taking_back_removes_the_row_and_leaves_history(con: Con) -> None:
    memory(con).believe([said("dietary.vegetarian", when=1)])
    memory(con).believe([taken_back("dietary.vegetarian", when=2)])
    assert beliefs(con) == {}
    history = one(con, "select before_key, before_value, after_key from chat_fact_history where event = 'retracted'")
    assert history == ("vegetarian", "true", None)


def test_what_was_taken_back_later_isnt_believed_when_it_is_heard_after(con: Con) -> None:
    memory(con).believe([taken_back("dietary.vegetarian", when=5)])
    memory(con).believe([said("dietary.vegetarian", when=1)])
    assert beliefs(con) == {}
    memory(con).believe([said("dietary.vegetarian", when=9)])
    assert beliefs(con) == {"dietary.vegetarian": "true"}


def test_only_what_is_believed_can_be_taken_back(con: Con) -> None:
    memory(con).believe([said("dietary.vegan", when=1), taken_back("dietary.vegetarian", when=2)])
    assert beliefs(con) == {"dietary.vegan": "true"}
    memory(con).believe([taken_back("dietary.diet", when=3)])
    assert beliefs(con) == {}
    assert events(con) == ["created", "nothing_to_retract", "retracted"]


# --- 8 embedding ------------------------------------------------------------------------------------------------------


def test_the_vector_is_renewed_exactly_when_the_text_changed(con: Con) -> None:
    stale = "select embedding <> embed(fact_text(category, fact_key, fact_value)) from chat_facts"
    memory(con).believe([said("pet.cat", "Mochi", when=1, source_turn_id=1)])
    assert one(con, stale) == (False,)
    con.execute("update chat_facts set embedding = list_value(0.5)::float[] || embedding[2:]")
    marked = one(con, "select embedding from chat_facts")
    memory(con).believe([said("pet.cat", "Mochi", when=2, source_turn_id=2)])
    assert one(con, "select embedding from chat_facts") == marked
    memory(con).believe([said("pet.cat", "Luna", when=3, source_turn_id=3)])
    assert one(con, stale) == (False,)


# --- all of them ------------------------------------------------------------------------------------------------------


def test_a_rerun_of_the_same_input_changes_nothing(con: Con) -> None:
    batch = [
        said("dietary.vegetarian", when=1, source_turn_id=1),
        said("dietary.vegan", when=2, source_turn_id=2),
        said("likes.jazz", "jazz", when=2, source_turn_id=2),
        taken_back("likes.jazz", when=3, source_turn_id=3),
        said("likes.jazz", "jazz", when=2, source_turn_id=2),
        said("dietary.keto", when=2, source="CODE", kind="RULE"),
        said("x", "y", when=1),
    ]
    memory(con).believe(batch)
    tables = ["from chat_facts order by all", "from chat_fact_history order by all"]
    before = [con.execute(table).fetchall() for table in tables]
    assert memory(con).believe(batch) == {}
    assert memory(con).believe(batch[::-1]) == {}
    assert [con.execute(table).fetchall() for table in tables] == before


def test_every_event_says_what_was_said_what_was_believed_and_why(con: Con) -> None:
    memory(con).believe([said("dietary.vegan", when=1, evidence="I'm vegan", source_turn_id=7)])
    memory(con).believe(
        [said("dietary.vegetarian", when=2, source="DOCUMENT", evidence="likes salad", source_turn_id=8)]
    )
    row = memory(con).history()[-1]
    assert row["event"] == "rejected_trust"
    assert row["reason"] == "DOCUMENT may not change what USER said"
    assert (row["evidence"], row["source_turn_id"], row["observed_at"]) == ("likes salad", 8, at(2))
    assert (row["before_key"], row["after_key"]) == ("vegan", "vegan")
    assert con.execute("select count(*) from recall_runs where run_id = ?", [row["run_id"]]).fetchall() == [(1,)]
