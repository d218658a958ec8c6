"""Turns DuckDB's exceptions into a RecipeError that names recipe, step and the line in the file."""

from __future__ import annotations

import re

import duckdb

from recall_sql.errors import RecipeError, plain
from recall_sql.runner.statements import Statement, at_place

_LINE = re.compile(r"\n+LINE (\d+):.*", re.DOTALL)
_UNBINDABLE = re.compile(r"prepared parameter|cannot contain parameters|Parameter expressions|cannot have parameters")


def blame(statement: Statement, error: duckdb.Error) -> RecipeError:
    """The error of a statement, at the line DuckDB names or else where the statement begins."""
    message = one_line(error)
    if _UNBINDABLE.search(message):
        message += " (no value can be bound in a view, macro, default, pragma or pivot; put it in a temp table first)"
    named = _LINE.search(str(error))
    return failure(statement, message, int(named[1]) if named else 1)


def failure(statement: Statement, message: str, line_of_sql: int = 1) -> RecipeError:
    """A RecipeError at a line of a statement."""
    return at_place(message, statement.recipe, statement.step, *statement.line_at(line_of_sql))


def one_line(error: Exception) -> str:
    """DuckDB's message without its excerpt of the SQL, on one line."""
    return " ".join(plain(_LINE.sub("", str(error))).split())


def reraise_interrupt(error: Exception) -> None:
    """Ctrl-C reaches Python as another exception from inside DuckDB: as what it was, again."""
    text = str(error)
    if text == "Query interrupted" or "executing the UDF: KeyboardInterrupt" in text:
        raise KeyboardInterrupt from error
