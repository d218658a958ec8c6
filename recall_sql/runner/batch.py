"""Runs many recipes: in order, several at once where the order allows, and leaves behind what was done.

Responsible for the schedule, `target/` and the outcome of each recipe. Which recipes there are is graph.py's, what a
run is execute.py's, and how it is told to people or programs is the caller's (`on_event`).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import duckdb

from recall_sql.errors import InputError, RecallError
from recall_sql.runner.conflicts import execute_retrying
from recall_sql.runner.execute import RunResult
from recall_sql.runner.graph import Graph
from recall_sql.runner.recipe import Recipe
from recall_sql.runner.render import accepted_params, compile_recipe
from recall_sql.session import register

Status = Literal["ok", "failed", "skipped"]
FULL_REFRESH = "full_refresh"

# on_event(name, fields): "started" and "finished" of each recipe
Event = Callable[[str, dict[str, Any]], None]


@dataclass(frozen=True)
class Outcome:
    """What became of one recipe. reason: the error, or what it was skipped for."""

    recipe: str
    status: Status
    seconds: float = 0.0
    rows_changed: int = 0
    started_at: str | None = None
    run_id: str | None = None
    reason: str | None = None
    result: RunResult | None = field(default=None, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Its row in run_results.json."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "result"}


@dataclass(frozen=True)
class Batch:
    """What a batch is asked to do. values: for every recipe that takes a parameter of that name."""

    recipes: Sequence[Recipe]
    graph: Graph
    values: Mapping[str, object] = field(default_factory=dict)
    threads: int = 1
    fail_fast: bool = False
    full_refresh: bool = False

    def values_of(self, recipe: Recipe) -> dict[str, object]:
        """The values that a recipe takes."""
        takes = {param.name for param in accepted_params(recipe)}
        given = {**self.values, **({FULL_REFRESH: True} if self.full_refresh else {})}
        return {name: value for name, value in given.items() if name in takes}

    def check(self) -> None:
        """Raises InputError for what no recipe takes, and whatever compiling a recipe raises."""
        taken = {param.name for recipe in self.recipes for param in accepted_params(recipe)}
        for name in self.values:
            if name not in taken:
                raise InputError(
                    f"no selected recipe has a parameter {name}; they have {', '.join(sorted(taken)) or 'none'}"
                )
        if self.full_refresh and FULL_REFRESH not in taken:
            raise InputError("--full-refresh: no selected recipe has a parameter full_refresh; maintenance/nightly has")
        if self.threads < 1:
            raise InputError(f"--threads {self.threads}: at least 1")
        for recipe in self.recipes:
            compile_recipe(recipe, self.values_of(recipe))


def run_batch(con: duckdb.DuckDBPyConnection, batch: Batch, on_event: Event | None = None) -> list[Outcome]:
    """Runs the recipes, each in a transaction and on a connection of its own; a failure skips what comes after it.

    One failed recipe doesn't raise: its outcome says so. With fail_fast, nothing begins after the first failure.
    """
    return _Schedule(con, batch, on_event or (lambda name, about: None)).run()


class _Schedule:
    def __init__(self, con: duckdb.DuckDBPyConnection, batch: Batch, tell: Event) -> None:
        self.con, self.batch, self.tell = con, batch, tell
        names = [recipe.name for recipe in batch.recipes]
        self.waits_for = {name: batch.graph.depends(name, names) for name in names}
        self.outcomes: dict[str, Outcome] = {}
        self._opening = threading.Lock()

    def run(self) -> list[Outcome]:
        waiting = list(self.batch.recipes)
        running: dict[Future[Outcome], str] = {}
        with ThreadPoolExecutor(self.batch.threads) as pool:
            while waiting or running:
                waiting = self._start(pool, waiting, running)
                if running:
                    self._collect(running)
        return [self.outcomes[recipe.name] for recipe in self.batch.recipes]

    def _start(
        self, pool: ThreadPoolExecutor, waiting: list[Recipe], running: dict[Future[Outcome], str]
    ) -> list[Recipe]:
        """Begins what can begin, skips what can't any more; gives what still has to wait."""
        left = []
        for recipe in waiting:
            why = self._why_not(recipe.name)
            if why is not None:
                self._finish(Outcome(recipe.name, "skipped", reason=why))
            elif len(running) < self.batch.threads and self.waits_for[recipe.name] <= set(self.outcomes):
                self.tell("started", {"recipe": recipe.name})
                running[pool.submit(self._run_one, recipe)] = recipe.name
            else:
                left.append(recipe)
        return left

    def _why_not(self, name: str) -> str | None:
        failed = [other for other, outcome in self.outcomes.items() if outcome.status == "failed"]
        if failed and self.batch.fail_fast:
            return f"{failed[0]} failed"
        bad = sorted(
            other for other in self.waits_for[name] if other in self.outcomes and self.outcomes[other].status != "ok"
        )
        return f"{bad[0]} {self.outcomes[bad[0]].status}" if bad else None

    def _collect(self, running: dict[Future[Outcome], str]) -> None:
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            del running[future]
            self._finish(future.result())

    def _finish(self, outcome: Outcome) -> None:
        self.outcomes[outcome.recipe] = outcome
        self.tell("finished", outcome.as_dict())

    def _run_one(self, recipe: Recipe) -> Outcome:
        started, clock = datetime.now(UTC).isoformat(), time.perf_counter()
        with self._opening:
            cursor = register(self.con.cursor())
        try:
            result = execute_retrying(cursor, recipe, self.batch.values_of(recipe))
        except (RecallError, duckdb.Error) as error:
            return Outcome(recipe.name, "failed", time.perf_counter() - clock, started_at=started, reason=str(error))
        finally:
            cursor.close()
        return Outcome(
            recipe.name, "ok", result.seconds, result.rows_changed, started, str(result.run_id), None, result
        )


def write_compiled(target: Path, batch: Batch) -> None:
    """The SQL of every recipe, values written in, under target/compiled."""
    for recipe in batch.recipes:
        path = target / "compiled" / f"{recipe.name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(compile_recipe(recipe, batch.values_of(recipe)), "utf-8")


def write_results(target: Path, outcomes: Sequence[Outcome], **about: Any) -> None:
    """target/run_results.json: about the batch, and one object per recipe."""
    target.mkdir(parents=True, exist_ok=True)
    document = {**about, "written_at": datetime.now(UTC).isoformat(), "results": [one.as_dict() for one in outcomes]}
    (target / "run_results.json").write_text(json.dumps(document, ensure_ascii=False, indent=2, default=str), "utf-8")
