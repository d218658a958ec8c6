"""Beliefs in a DuckLake and as Parquet: what other machines read is what is believed here."""

from __future__ import annotations

import duckdb
import pytest
from click.testing import CliRunner

import recall_sql
from recall_sql import extensions
from recall_sql.cli import cli
from recall_sql.errors import ConfigError, InputError
from recall_sql.integrations import lake

FACTS = (
    "select fact_id, user_id, category, fact_key, fact_value, confidence, embedding::float[] from {} order by fact_id"
)
EVENTS = "select event_id, event, after_value from {} order by event_id"


@pytest.fixture
def memory(db):
    con = recall_sql.connect(db)
    memory = recall_sql.Memory(con, user_id="lina")
    memory.remember("true", category="dietary", fact_key="vegetarian")
    memory.remember("Oslo", category="location", fact_key="city")
    yield memory
    con.close()


needs_ducklake = pytest.mark.skipif(
    extensions.extension_file("ducklake") is None,
    reason="the wheel duckdb-extension-ducklake is made for DuckDB 1.5.5 only, and tests load nothing from a network",
)


def read(target: str, query: str, table: str):
    """What another machine, which has no recall_sql, reads."""
    with duckdb.connect() as con:
        extensions.load(con, "ducklake")
        con.execute(f"attach '{target}' as lake (read_only)")
        return con.execute(query.format(f"lake.main.{table}")).fetchall()


@needs_ducklake
def test_a_ducklake_holds_what_is_believed(memory, tmp_path):
    target = f"ducklake:{tmp_path / 'beliefs.ducklake'}"
    lake.publish(memory.con, target, data_path=str(tmp_path / "data"))
    assert read(target, FACTS, "chat_facts") == memory.con.execute(FACTS.format("chat_facts")).fetchall()
    memory.remember("true", category="dietary", fact_key="pescatarian")
    memory.con.execute("delete from chat_facts where fact_key = 'city'").fetchall()
    lake.publish(memory.con, target)
    assert [row[3] for row in read(target, FACTS, "chat_facts")] == ["pescatarian"]
    assert (
        read(target, EVENTS, "chat_fact_history") == memory.con.execute(EVENTS.format("chat_fact_history")).fetchall()
    )


@needs_ducklake
def test_publishing_again_writes_nothing(memory, tmp_path):
    target = f"ducklake:{tmp_path / 'beliefs.ducklake'}"
    first = lake.publish(memory.con, target, data_path=str(tmp_path / "data"))
    again = lake.publish(memory.con, target)
    assert [run.tables[0].table["written"].to_pylist() for run in (first, again)] == [[2], [0]]


def test_parquet_holds_what_is_believed(memory, tmp_path):
    for _ in range(2):
        lake.publish(memory.con, str(tmp_path / "lake"))
        for table, query in (("chat_facts", FACTS), ("chat_fact_history", EVENTS)):
            there = f"read_parquet('{tmp_path}/lake/{table}/**/*.parquet')"
            assert duckdb.execute(query.format(there)).fetchall() == memory.con.execute(query.format(table)).fetchall()
        memory.remember("Lima", category="location", fact_key="city")
    assert sorted(path.name for path in (tmp_path / "lake").iterdir()) == ["chat_fact_history", "chat_facts"]


@needs_ducklake
def test_targets_that_can_not_be(memory, tmp_path):
    with pytest.raises(ConfigError, match="can't open ducklake"):
        lake.publish(memory.con, f"ducklake:{tmp_path}/no/such/folder/x.ducklake", data_path=str(tmp_path))
    with pytest.raises(InputError, match="DuckLake"):
        lake.publish(memory.con, "s3://bucket/x")
    with pytest.raises(InputError, match="--data-path"):
        lake.publish(memory.con, str(tmp_path / "lake"), data_path="x")


def test_the_command(memory, db, tmp_path):
    memory.con.close()
    result = CliRunner().invoke(cli, ["publish", str(tmp_path / "lake"), "--db", str(db), "--format", "json"])
    assert result.exit_code == 0 and '"facts": 2' in result.stdout
