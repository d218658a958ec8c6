"""Who may change what: the whole matrix of sources, by the batch and directly."""

from __future__ import annotations

import itertools

import duckdb
import pytest

from recall_sql import RefusedError
from tests.beliefs.telling import beliefs, memory, said, taken_back

Con = duckdb.DuckDBPyConnection
TRUST = {"SYSTEM": 100, "USER": 80, "AGENT": 60, "TOOL": 40, "DOCUMENT": 20, "CODE": 10}
PAIRS = list(itertools.product(TRUST, TRUST))


def may_change(who: str, whose: str) -> bool:
    return whose != "SYSTEM" and TRUST[who] >= TRUST[whose]


def user_of(who: str, whose: str) -> str:
    return f"{who} of {whose}"


def test_the_sources_and_their_trust_are_the_vocabularys(con: Con) -> None:
    assert dict(con.execute("select source, trust from recall_sql.main.source_trust").fetchall()) == TRUST


@pytest.mark.parametrize("op", ["assert", "retract"])
def test_the_matrix_in_a_batch(con: Con, op: str) -> None:
    held = [said("diet.x", "old", when=1, source=whose, user_id=user_of(who, whose)) for who, whose in PAIRS]
    memory(con).believe(held)
    change = said("diet.x", "new", when=2) if op == "assert" else taken_back("diet.x", when=2)
    memory(con).believe([change | {"source": who, "user_id": user_of(who, whose)} for who, whose in PAIRS])
    after = {"diet.x": "new"} if op == "assert" else {}
    for who, whose in PAIRS:
        expected = after if may_change(who, whose) else {"diet.x": "old"}
        assert beliefs(con, user_of(who, whose)) == expected, (who, whose)
    refused = con.execute("select reason from chat_fact_history where event = 'rejected_trust'").fetchall()
    assert sorted(reason for (reason,) in refused) == sorted(
        f"{who} may not change what {whose} said" for who, whose in PAIRS if not may_change(who, whose)
    )


@pytest.mark.parametrize("whose", TRUST)
def test_the_matrix_of_direct_writes(con: Con, whose: str) -> None:
    for who in TRUST:
        m = memory(con, who)
        m.remember("old", category="diet", fact_key="x", source=whose)
        if may_change(who, whose):
            assert m.update_fact("diet.x", "new", source=who)["fact_value"] == "new"
            continue
        before = con.execute("select count(*) from chat_fact_history").fetchall()
        with pytest.raises(RefusedError, match=f"{who} may not change what {whose} said"):
            m.update_fact("diet.x", "new", source=who)
        assert beliefs(con, who) == {"diet.x": "old"}
        assert con.execute("select count(*) from chat_fact_history").fetchall() == before


@pytest.mark.parametrize("first", TRUST)
def test_the_more_trusted_stands_whichever_is_heard_first(con: Con, first: str) -> None:
    for who, whose in PAIRS:
        if first != "SYSTEM" and whose == first and TRUST[who] > TRUST[whose]:
            user = user_of(who, whose)
            memory(con, user).believe([said("diet.x", "late", when=5, source=whose)])
            memory(con, user).believe([said("diet.x", "early", when=1, source=who)])
            assert beliefs(con, user) == {"diet.x": "early"}


@pytest.mark.parametrize(("source", "may"), [(source, TRUST[source] >= 40) for source in TRUST])
def test_what_was_read_cant_set_a_rule(con: Con, source: str, may: bool) -> None:
    memory(con).believe([said("instruction.answer_language", "French", kind="RULE", source=source)])
    assert bool(beliefs(con)) is may


def test_a_less_trusted_source_confirms_nothing_and_a_more_trusted_one_takes_over(con: Con) -> None:
    m = memory(con)
    m.believe([said("pet.cat", "Mochi", when=1, source="TOOL", confidence=0.5)])
    m.believe([said("pet.cat", "Mochi", when=2, source="CODE", confidence=0.5)])
    assert (m.facts()[0]["confidence"], m.facts()[0]["source"]) == (0.5, "TOOL")
    m.believe([said("pet.cat", "Mochi", when=3, source="USER", confidence=0.5)])
    assert (m.facts()[0]["confidence"], m.facts()[0]["source"]) == (0.75, "USER")
