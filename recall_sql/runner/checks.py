"""Assertions that ship with recipes: a file in a folder `_checks` is a recipe whose rows are what is wrong.

Finds and runs them. They change nothing: each runs in a transaction that is rolled back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from recall_sql.errors import RecallError
from recall_sql.resources import recipes_dir
from recall_sql.runner.execute import RunResult, execute
from recall_sql.runner.recipe import Recipe, from_text, read
from recall_sql.runner.render import accepted_params


@dataclass(frozen=True)
class Checked:
    """How a check came out. result: what it found. error: why it couldn't be run."""

    check: Recipe
    result: RunResult | None = None
    error: str | None = None

    @property
    def rows(self) -> int:
        """How many rows are wrong."""
        return sum(table.table.num_rows for table in self.result.tables) if self.result else 0

    @property
    def passed(self) -> bool:
        """No row, no error."""
        return self.error is None and self.rows == 0


def checks(search: Sequence[str | Path] = ()) -> list[Recipe]:
    """Every check of `search` and the shipped recipes, by name, which is the recipe folder's and the file's."""
    folders = (*(Path(folder) for folder in search), recipes_dir())
    found: dict[str, Recipe] = {}
    for folder in folders:
        for path in sorted(folder.rglob("_checks/*.sql")):
            inside = path.relative_to(folder).with_suffix("")
            name = "/".join(part for part in inside.parts if part != "_checks")
            if name not in found:
                found[name] = from_text(read(path), name, path=path, search=folders)
    return [found[name] for name in sorted(found)]


def run_check(con: duckdb.DuckDBPyConnection, check: Recipe, values: Mapping[str, object]) -> Checked:
    """Runs one check with the values it takes."""
    takes = {param.name for param in accepted_params(check)}
    given = {name: value for name, value in values.items() if name in takes}
    con.execute("begin transaction")
    try:
        return Checked(check, execute(con, check, given, record=False))
    except RecallError as error:
        return Checked(check, error=str(error))
    finally:
        con.execute("rollback")
