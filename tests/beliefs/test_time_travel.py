"""History replays to the fact table, at every moment."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb

from tests.beliefs.telling import memory, said, taken_back

Con = duckdb.DuckDBPyConnection
COLUMNS = (
    "fact_id, agent_id, user_id, session_id, category, fact_key, fact_value, slot, kind, source, confidence,"
    " observed_at, updated_at, source_turn_id, evidence"
)


def table(con: Con) -> list[tuple]:
    return con.execute(f"select {COLUMNS} from chat_facts order by all").fetchall()


def as_of(con: Con, moment: datetime) -> list[tuple]:
    return con.execute(f"select {COLUMNS} from facts_as_of(?::timestamptz) order by all", [moment]).fetchall()


def test_facts_as_of_equals_what_the_table_held(con: Con) -> None:
    batches = [
        [said("dietary.vegetarian", when=1, source_turn_id=1, evidence="a"), said("pet.cat", "Mochi", when=1)],
        [said("dietary.pescatarian", when=2, source_turn_id=2), said("pet.cat", "mochi.", when=2, kind="PREFERENCE")],
        [taken_back("pet.cat", when=3), said("dietary.vegan", when=1)],
        [said("pet.cat", "Luna", when=4), said("dietary.vegan", when=9, source="CODE"), said("pet", "?")],
        [said("pet.cat", "Luna", when=4, confidence=0.3, source_turn_id=9)],
    ]
    held = [(datetime.now(UTC), table(con))]
    for batch in batches:
        memory(con).believe(batch)
        held.append((datetime.now(UTC), table(con)))
    assert len({str(rows) for _, rows in held}) == 6
    for moment, rows in held:
        assert as_of(con, moment) == rows


def test_hand_edits_are_in_it_from_when_they_were_noticed(con: Con) -> None:
    m = memory(con)
    m.remember("Mochi", category="pet", fact_key="cat")
    m.remember("Biscuit", category="pet", fact_key="dog")
    con.execute("update chat_facts set fact_value = 'Luna' where fact_key = 'cat'")
    con.execute("delete from chat_facts where fact_key = 'dog'")
    con.execute(
        "insert into chat_facts (user_id, category, fact_key, fact_value, confidence, observed_at)"
        " values ('u1', 'a', 'b', 'c', 1, now())"
    )
    m.remember("x")
    assert as_of(con, datetime.now(UTC)) == table(con)


def test_from_a_cursor_and_from_python(con: Con) -> None:
    m = memory(con)
    before = datetime.now(UTC)
    m.remember("Mochi", category="pet", fact_key="cat")
    query = "select count(*) from recall_sql.main.facts_as_of(now())"
    assert con.cursor().execute(query).fetchall() == [(1,)]
    assert (m.facts(as_of=before), len(m.facts(as_of=datetime.now(UTC)))) == ([], 1)
