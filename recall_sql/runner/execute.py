"""Executes a recipe's statements in one transaction, and says where it failed.

Responsible for the transaction, the results and the errors. What a run leaves in `recall_runs` is `record.py`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import duckdb

from recall_sql.errors import RecipeError
from recall_sql.runner.blame import blame, failure, one_line, reraise_interrupt
from recall_sql.runner.recipe import Recipe
from recall_sql.runner.record import RunRecord, recorded_params
from recall_sql.runner.render import Statement, accepted_params, compile_statements

if TYPE_CHECKING:
    import pyarrow as pa

# on_progress(step, statements done, statements in all)
Progress = Callable[[str, int, int], None]

_TRANSACTION_WORDS = frozenset(("begin", "start", "commit", "end", "rollback", "abort"))
# These work outside of a transaction only, or do what a rollback can't undo.
_OUTSIDE_WORDS = _TRANSACTION_WORDS | {
    "attach",
    "detach",
    "vacuum",
    "checkpoint",
    "force",
    "pragma",
    "export",
    "import",
}


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows to be shown, under their title."""

    title: str
    table: pa.Table


@dataclass(slots=True)
class StepResult:
    """What a step did: `rows` counts the rows its statements changed, wrote or returned."""

    recipe: str
    name: str
    statements: int = 0
    rows: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RunResult:
    """A finished run. `rows_changed` counts rows inserted, updated, deleted and merged, not those of new tables."""

    run_id: UUID
    recipe: str
    status: str
    started_at: datetime
    finished_at: datetime
    steps: tuple[StepResult, ...]
    rows_changed: int
    tables: tuple[ResultTable, ...]

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.finished_at - self.started_at).total_seconds()


@dataclass(slots=True)
class _Run:
    """A run under way."""

    steps: list[StepResult] = field(default_factory=list)
    tables: list[ResultTable] = field(default_factory=list)
    rows_changed: int = 0


def execute(
    con: duckdb.DuckDBPyConnection,
    recipe: Recipe,
    values: Mapping[str, object] | None = None,
    *,
    on_progress: Progress | None = None,
    record: bool = True,
) -> RunResult:
    """Runs a recipe or script and returns its result tables.

    All statements run in one transaction, which is committed, or rolled back on any error. In a caller's transaction
    they join it, and committing or rolling back stays with the caller. A plain script with statements that can't run in
    a transaction runs without one.

    Raises InputError for a bad value and RecipeError (with recipe, step and line; `__cause__` is DuckDB's exception).
    """
    run_id, started_at, given = uuid4(), datetime.now(UTC), dict(values or {})
    compiled = compile_statements(recipe, given, run_id=run_id, run_started_at=started_at)
    for statement in compiled.statements:
        _check(con, statement, recipe)
    joined = in_transaction(con)
    wrap = not joined and (recipe.templated or not any(s.verb in _OUTSIDE_WORDS for s in compiled.statements))
    params = recorded_params(accepted_params(recipe), given)
    journal = RunRecord.start(con, run_id, recipe.name, params, started_at) if record else None
    run = _Run()
    with _recorded(journal, run), _transaction(con, recipe, wrap=wrap, joined=joined):
        _run_all(con, compiled.statements, run, on_progress, everything=not recipe.templated)
    return RunResult(
        run_id,
        recipe.name,
        "ok",
        started_at,
        datetime.now(UTC),
        tuple(run.steps),
        run.rows_changed,
        tuple(run.tables),
    )


def in_transaction(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether the connection is inside a transaction: there, two statements see the same transaction number.

    (A BEGIN that fails would tell as well, but it aborts the transaction it finds.)
    """
    try:
        first = con.execute("select txid_current()").fetchone()
        return first == con.execute("select txid_current()").fetchone()
    except duckdb.TransactionException as error:
        raise RecipeError("this connection's transaction has failed already; ROLLBACK it first") from error


def _check(con: duckdb.DuckDBPyConnection, statement: Statement, recipe: Recipe) -> None:
    """Parses a statement before anything runs, and refuses what a recipe may not hold."""
    if recipe.templated and statement.verb in _TRANSACTION_WORDS:
        raise failure(statement, f"a recipe runs in one transaction of its own; remove {statement.verb.upper()}")
    try:
        parsed = con.extract_statements(statement.sql)
    except duckdb.Error as error:
        raise blame(statement, error) from error
    unknown = set().union(*(part.named_parameters for part in parsed)) - set(statement.values)
    if unknown:
        name = min(unknown)
        remedy = f"write {{{{ {name} }}}} for a parameter" if recipe.templated else "a script has no values"
        raise failure(statement, f"${name} has no value; {remedy}")


def _run_all(
    con: duckdb.DuckDBPyConnection,
    statements: Sequence[Statement],
    run: _Run,
    on_progress: Progress | None,
    *,
    everything: bool,
) -> None:
    for done, statement in enumerate(statements):
        if on_progress:
            on_progress(statement.step, done, len(statements))
        started = time.perf_counter()
        try:
            shown = everything or statement.result is not None
            rows, changed, table = _run_one(con, statement, shown=shown)
        except duckdb.Error as error:
            reraise_interrupt(error)
            raise blame(statement, error) from error
        except RuntimeError as error:
            reraise_interrupt(error)
            raise failure(statement, str(error)) from error
        _count(run, statement, rows, changed, time.perf_counter() - started)
        if table is not None:
            run.tables.append(ResultTable(statement.result or "", table))
    if on_progress and statements:
        on_progress(statements[-1].step, len(statements), len(statements))


def _run_one(con: duckdb.DuckDBPyConnection, statement: Statement, *, shown: bool) -> tuple[int, int, pa.Table | None]:
    """(rows written or returned, rows changed, the rows if they are to be shown).

    The result is read to its end, since DuckDB 2.0 computes it while it is read. Not by `con.sql`, though DuckDB
    advises it: errors of a relation don't say which line they are about.
    """
    result = con.execute(statement.sql, statement.values or None)
    columns = [column[0] for column in result.description or []]
    changes = statement.verb in ("insert", "update", "delete", "merge")
    is_command = statement.verb in ("call", "execute", "pragma") and columns in (["Success"], ["Count"])
    if is_command or not statement.returns_rows:
        counts = result.fetchall()
        count = counts[0][0] if columns == ["Count"] and counts else 0
        return count, count if changes else 0, None
    if not shown:
        rows = sum(len(batch) for batch in iter(lambda: result.fetchmany(2048), []))
        return rows, rows if changes else 0, None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Arrow output on a DB-API result makes an extra copy")
        table = result.to_arrow_table()
    return table.num_rows, table.num_rows if changes else 0, table


def _count(run: _Run, statement: Statement, rows: int, changed: int, seconds: float) -> None:
    if not run.steps or (run.steps[-1].recipe, run.steps[-1].name) != (statement.recipe, statement.step):
        run.steps.append(StepResult(statement.recipe, statement.step))
    step = run.steps[-1]
    step.statements += 1
    step.rows += rows
    step.seconds += seconds
    run.rows_changed += changed


@contextmanager
def _recorded(journal: RunRecord | None, run: _Run) -> Iterator[None]:
    """Writes into the journal how the block ended."""
    status, message = "failed", "interrupted"
    try:
        yield
        status, message = "ok", None
    except Exception as error:
        message = str(error)
        raise
    finally:
        if journal:
            steps = [
                {"recipe": step.recipe, "step": step.name, "rows": step.rows, "seconds": round(step.seconds, 6)}
                for step in run.steps
            ]
            journal.finish(status, datetime.now(UTC), steps, run.rows_changed if status == "ok" else 0, message)


@contextmanager
def _transaction(con: duckdb.DuckDBPyConnection, recipe: Recipe, *, wrap: bool, joined: bool) -> Iterator[None]:
    """Commits at the end of the block and rolls back when it raises, unless the transaction is the caller's."""
    if wrap:
        con.execute("begin transaction")
    ended = False
    try:
        yield
        if wrap:
            con.execute("commit")
        elif not joined and in_transaction(con):
            raise RecipeError("the script leaves a transaction open; its COMMIT is missing", recipe=recipe.name)
        ended = True
    except duckdb.Error as error:
        raise RecipeError(f"can't be committed: {one_line(error)}", recipe=recipe.name) from error
    except RecipeError as error:
        if joined:
            error.args = (f"{error}; the transaction is yours, ROLLBACK it",)
        raise
    finally:
        if not joined and not ended:
            _roll_back_what_is_open(con)


def _roll_back_what_is_open(con: duckdb.DuckDBPyConnection) -> None:
    try:
        con.execute("rollback")
    except duckdb.TransactionException:
        return  # committed already, or DuckDB ended it with the error
