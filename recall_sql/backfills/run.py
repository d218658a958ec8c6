"""The course of a backfill: stage, store, read, finish; each in pieces that are done or not, never half.

Responsible for the order, for going on where an earlier run stopped, and for telling how far it is. What the pieces do
is the other modules'; who reads partitions is an `Engine` (engines.py).
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from recall_sql.backfills import ledger, partition
from recall_sql.backfills.engines import Engine, Here
from recall_sql.backfills.source import Source, find
from recall_sql.backfills.staging import Reading, Staged, as_json, stage
from recall_sql.calls.estimate import Line
from recall_sql.errors import InputError
from recall_sql.importers.fields import FIELDS, Skipped
from recall_sql.importers.landing import Landing, Scope
from recall_sql.runner import Recipe, RunResult, accepted_params, compile_recipe, execute
from recall_sql.session import instance_of

PARTITION_TURNS = 5_000
STORED_AT_ONCE = 50_000  # messages

# on_event(name, fields): staging, staged, resumed, storing, reading, landing, finished
Event = Callable[[str, dict[str, Any]], None]


@dataclass(frozen=True)
class Plan:
    """What a source holds. new: messages that aren't turns yet."""

    source: Source
    messages: int
    new: int
    sessions: int
    partitions: int
    left_out: int
    problems: tuple[str, ...]
    goes_on: bool


@dataclass(frozen=True)
class Done:
    """What a backfill did. seconds: by stage, of this run. goes_on: an earlier run was gone on with."""

    messages: int
    added: int
    left_out: int
    partitions: int
    goes_on: bool
    seconds: Mapping[str, float]
    result: RunResult = field(repr=False)

    def __str__(self) -> str:
        known = self.messages - self.added
        parts = [f"{self.added:,} turns added in {self.partitions:,} partitions"]
        if self.goes_on:
            parts = [f"all {self.messages:,} messages are read, in {self.partitions:,} partitions"]
        elif known:
            parts.append(f"{known:,} were there already")
        if self.left_out:
            parts.append(f"{self.left_out:,} left out")
        return "; ".join(parts)


class Backfill:
    """One source, one recipe, one database; `run` may be called again after whatever ended it."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        source: str,
        recipe: Recipe,
        reading: Reading,
        *,
        values: Mapping[str, object] | None = None,
        format: str = "auto",
        partition_turns: int = PARTITION_TURNS,
        work_dir: Path | None = None,
        engine: Engine | None = None,
        on_event: Event | None = None,
    ) -> None:
        if partition_turns < 1:
            raise InputError(f"a partition of {partition_turns} turns: at least 1")
        if reading.limit is not None and reading.limit < 1:
            raise InputError(f"--limit {reading.limit}: at least 1")
        self.con, self.recipe, self.reading = con, recipe, reading
        self.values = dict(values or {})
        self._check_values()
        self.by_session = partition.by_session(recipe)
        self.source = find(con, source, format)
        self.partition_turns = partition_turns
        self._work_dir = work_dir
        self._engine = engine or Here()
        self._tell = on_event or (lambda name, about: None)
        self.job: ledger.Job

    def _check_values(self) -> None:
        """Before anything is read: what no recipe takes, and tables that a backfill doesn't know."""
        tables = {param.name for param in accepted_params(self.recipe) if param.type == "ident"}
        for name in self.values:
            if name in tables:
                raise InputError(f"a backfill lands in the tables of the schema; leave out {name}")
        compile_recipe(self.recipe, self.values)

    @property
    def staged_file(self) -> Path:
        return self.job.work_dir / "staged.parquet"

    # -- before the run ------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        """What there is to do. Reads the source, changes nothing."""
        with self._staged_for_now() as staged:
            new, sessions = self.con.execute(
                """
                select count(*), (select count(distinct (agent_id, user_id, session_id)) from read_parquet($1))
                from read_parquet($1) as s
                anti join chat_turns as t
                    on t.agent_id = s.agent_id and t.user_id = s.user_id and t.session_id = s.session_id
                    and t.content = replace(s.content, chr(0), '')
                """,
                [str(staged.file)],
            ).fetchall()[0]
            problems = tuple(str(problem) for problem in staged.problems)
            goes_on = ledger.unfinished(self.con, self.identity) is not None if self._has_ledger() else False
            return Plan(
                self.source, staged.messages, new, sessions, len(staged.partitions), staged.left_out, problems, goes_on
            )

    def estimate(self) -> list[Line]:
        """What reading the source would ask of models, and at most cost. Calls none of them, changes nothing."""
        with self._staged_for_now() as staged, instance_of(self.con).calls.estimating() as gathered:
            for number, *_ in staged.partitions:
                self.con.execute("begin transaction").fetchall()
                try:
                    self._store_rows(staged.file, number, number)
                    partition.take(self.con, staged.file, number)
                    for recipe in self.by_session:
                        values = partition.values_of(recipe, {**self.values, **partition.TABLES})
                        execute(self.con, recipe, values, record=False)
                finally:
                    self.con.execute("rollback").fetchall()
        return gathered.lines()

    @contextmanager
    def _staged_for_now(self) -> Iterator[Staged]:
        with tempfile.TemporaryDirectory(prefix="recall-backfill-", dir=self._scratch()) as folder:
            yield stage(self.con, self.source, self.reading, Path(folder), self.partition_turns)

    def _scratch(self) -> Path | None:
        return self._work_dir if self._work_dir and self._work_dir.is_dir() else None

    def _has_ledger(self) -> bool:
        found = "select 1 from duckdb_tables() where table_name = 'recall_backfills' and not temporary"
        return bool(self.con.execute(found).fetchall())

    # -- the run -------------------------------------------------------------------------------------------------------

    def run(self) -> Done:
        """Does what is left to do."""
        clock = _Clock()
        ledger.create_tables(self.con)
        before = self._turns()
        goes_on = self._stage(clock)
        self._store(clock)
        added = self._turns() - before
        self._read(clock)
        result = self._finish(clock)
        messages, left_out = self.con.execute(
            "select messages, left_out from recall_backfills where backfill_id = $1", [self.job.backfill_id]
        ).fetchall()[0]
        count = len(ledger.partitions(self.con, self.job))
        return Done(messages, added, left_out, count, goes_on, clock.seconds, result)

    @property
    def identity(self) -> str:
        """Hash of what must be equal for a run to go on with an earlier one."""
        reading = self.reading
        about = {
            "source": [self.source.name, self.source.format, self.source.fingerprint],
            "recipe": [self.recipe.name, self.values],
            "reading": [dict(reading.mapping), dict(reading.role_names), str(reading.scope)],
            "options": [reading.timezone, reading.skip_empty, reading.skip_bad, reading.limit],
        }
        return hashlib.blake2b(as_json(about).encode(), digest_size=16).hexdigest()

    def _stage(self, clock: _Clock) -> bool:
        """Brings the rows into partitions, unless an earlier run has; gives whether one had."""
        job = ledger.unfinished(self.con, self.identity)
        if job is not None and job.status == "staged" and (job.work_dir / "staged.parquet").is_file():
            self.job = job
            states = [status for *_, status in ledger.partitions(self.con, job)]
            self._tell("resumed", {"partitions": len(states), "done": states.count("read")})
            return True
        with clock.measuring("stage"):
            if job is None:
                with partition.transaction(self.con):
                    ledger.give_up_others(self.con, self.source.name)
                    job = ledger.begin(
                        self.con,
                        self.source.name,
                        self.identity,
                        self.recipe.name,
                        as_json(self.values),
                        self._folder(),
                    )
            self.job = job
            job.work_dir.mkdir(parents=True, exist_ok=True)
            self._tell(
                "staging", {"source": self.source.name, "files": len(self.source.files), "bytes": self.source.size}
            )
            try:
                found = stage(self.con, self.source, self.reading, job.work_dir, self.partition_turns)
            except InputError:
                self._withdraw()
                raise
            with partition.transaction(self.con):
                ledger.staged(self.con, job, found)
        self._tell(
            "staged",
            {
                "messages": found.messages,
                "partitions": len(found.partitions),
                "left_out": found.left_out,
                "why": {**found.passed_over, **({"can't be read": len(found.problems)} if found.problems else {})},
            },
        )
        return False

    def _folder(self) -> Path:
        """Beside the database; for one in memory, among the system's temporary files."""
        if self._work_dir is not None:
            return self._work_dir.expanduser().resolve()
        path = instance_of(self.con).path
        return Path(f"{path}.backfill").resolve() if path else Path(tempfile.mkdtemp(prefix="recall-backfill-"))

    def _withdraw(self) -> None:
        """A source that is refused leaves nothing behind."""
        self.con.execute("delete from recall_backfills where backfill_id = $1", [self.job.backfill_id]).fetchall()
        self._clear()

    def _clear(self) -> None:
        shutil.rmtree(self.job.work_dir, ignore_errors=True)
        parent = self.job.work_dir.parent
        if parent.name.endswith(".backfill") and parent.is_dir() and not any(parent.iterdir()):
            parent.rmdir()

    def _store(self, clock: _Clock) -> None:
        """Messages become turns, some partitions at a time."""
        waiting = [
            (number, count) for number, count, status in ledger.partitions(self.con, self.job) if status == "staged"
        ]
        total = sum(count for _, count in waiting)
        done = 0
        with clock.measuring("store"):
            for numbers, messages in _packs(waiting, STORED_AT_ONCE):
                with partition.transaction(self.con):
                    self._store_rows(self.staged_file, numbers[0], numbers[-1])
                    ledger.mark(self.con, self.job, numbers, "stored")
                done += messages
                self._tell("storing", {"done": done, "of": total})

    def _store_rows(self, staged: Path, first: int, last: int) -> None:
        reading = self.reading
        landing = Landing(
            self.con, self.source.name, Scope(None, None, None, ""), reading.role_names, reading.timezone,
            reading.skip_empty, in_order=False,
        )  # fmt: skip
        try:
            landing.fill_numbered(
                f"select ordinal, ordinal, {', '.join(FIELDS)} from read_parquet(?)"
                " where part between ? and ? order by ordinal",
                [str(staged), first, last],
            )
            landing.land(Skipped({"": 1}))
        finally:
            landing.clear()

    def _read(self, clock: _Clock) -> None:
        """Embeds and extracts, partition by partition."""
        sizes = {number: count for number, count, status in ledger.partitions(self.con, self.job) if status == "stored"}
        total, done, started = sum(sizes.values()), 0, time.perf_counter()
        began_at = self.con.execute("select current_timestamp").fetchall()[0][0]
        with clock.measuring("read"):
            for count, number in enumerate(self._engine.read(self, list(sizes)), 1):
                done += sizes[number]
                rate = done / (time.perf_counter() - started)
                about = {"partition": number, "partitions_left": len(sizes) - count, "done": done, "of": total}
                self._tell(
                    "reading", {**about, "rate": rate, "left": (total - done) / rate, "usd": self._cost(began_at)}
                )

    def _finish(self, clock: _Clock) -> RunResult:
        """Runs the whole recipe, as it is: what the partitions have done is no longer left to do."""
        self._tell("landing", {"recipe": self.recipe.name})
        with clock.measuring("finish"):
            result = execute(self.con, self.recipe, self.values)
            with partition.transaction(self.con):
                ledger.finish(self.con, self.job)
        for step in result.steps:
            name = f"{step.recipe}"
            clock.seconds[name] = clock.seconds.get(name, 0.0) + step.seconds
        self._clear()
        self._tell("finished", {"seconds": dict(clock.seconds)})
        return result

    def _turns(self) -> int:
        return self.con.execute("select count(*) from chat_turns").fetchall()[0][0]

    def _cost(self, since: Any) -> float | None:
        """US dollars since then; None where a price isn't known."""
        found = self.con.execute("select cost_usd from recall_sql.recall_usage(since := $1)", [since]).fetchall()
        costs = [cost for (cost,) in found]
        return None if None in costs else sum(costs)


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def measuring(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


def _packs(waiting: Sequence[tuple[int, int]], most: int) -> Iterator[tuple[list[int], int]]:
    """Neighbouring partitions of together about `most` messages, with their number."""
    numbers: list[int] = []
    messages = 0
    for number, count in waiting:
        if numbers and messages + count > most:
            yield numbers, messages
            numbers, messages = [], 0
        numbers.append(number)
        messages += count
    if numbers:
        yield numbers, messages
