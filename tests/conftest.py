"""What most tests need: a fresh database, and an environment without anybody's settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import recall_sql


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("RECALL_"):
            monkeypatch.delenv(name)


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory with everything in it."""
    connection = recall_sql.connect()
    yield connection
    connection.close()


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Path of a database file that isn't there yet."""
    return tmp_path / "memory.duckdb"
