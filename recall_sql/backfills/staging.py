"""From a source to rows that wait in one Parquet file, sorted by partition. Nothing of the memory is touched.

Every row is read and checked once before the first one lands. A partition holds whole sessions, however they are spread
over the files; sessions follow each other as they begin in the source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from recall_sql.backfills.source import Source, rows_query
from recall_sql.errors import InputError
from recall_sql.importers.fields import FIELDS, Columns
from recall_sql.importers.landing import EMPTY, Scope, check_timezone, cleaning_values, complaint, problems_query

_ROW_GROUP = 10_240  # rows; a partition reads its own row groups only
_SHOWN = 3  # problems in an error


@dataclass(frozen=True)
class Reading:
    """How a source is understood. Fields as the arguments of `importers.import_file`, and: skip_bad leaves rows that
    can't be read out instead of refusing the source; limit is the number of rows to read, None for all."""

    mapping: Mapping[str, str]
    role_names: Mapping[str, str]
    scope: Scope
    timezone: str = "UTC"
    skip_empty: bool = False
    skip_bad: bool = False
    limit: int | None = None


@dataclass(frozen=True)
class Problem:
    """A row that can't land. place: its number in the file, from 1; None where DuckDB doesn't tell."""

    file: str
    place: int | None
    what: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}{f', row {self.place:,}' if self.place else ''}: {self.what}"


@dataclass(frozen=True)
class Staged:
    """What waits in `file`. passed_over: messages without words, by why. problems: the rows that were left out."""

    file: Path
    messages: int
    partitions: list[tuple[int, int, int]]  # partition, sessions, messages
    passed_over: dict[str, int]
    problems: list[Problem]

    @property
    def left_out(self) -> int:
        return sum(self.passed_over.values()) + len(self.problems)


def stage(
    con: duckdb.DuckDBPyConnection, source: Source, reading: Reading, folder: Path, partition_turns: int
) -> Staged:
    """Reads the source into `folder`. Raises InputError that names the first rows that can't be read, and how many."""
    check_timezone(con, reading.timezone)
    columns = Columns(reading.mapping)
    sql, values = rows_query(con, source, columns, tolerant=reading.skip_bad)
    raw, staged = folder / "source.parquet", folder / "staged.parquet"
    try:
        _read(con, source, reading, sql, values, raw)
        problems = _problems(con, reading, raw)
        if reading.skip_bad and source.format == "csv":
            problems += _rejected(con)
        if problems and not reading.skip_bad:
            raise InputError(_refusal(problems))
        _check_mapped(con, columns, raw, source)
        _check_ids(con, raw)
        passed_over = dict(
            con.execute(
                "select passed_over, count(*) from read_parquet($1) where passed_over is not null group by 1",
                [str(raw)],
            ).fetchall()
        )
        partitions = _partition(con, raw, staged, partition_turns)
    finally:
        con.execute("drop table if exists temp.backfill_problems")
        raw.unlink(missing_ok=True)
    if not partitions and not passed_over:
        raise InputError(f"{source.name} holds no messages")
    return Staged(staged, sum(count for *_, count in partitions), partitions, passed_over, problems)


def _read(
    con: duckdb.DuckDBPyConnection, source: Source, reading: Reading, sql: str, values: list[object], raw: Path
) -> None:
    """Every row once, with its number and the ids it is known by."""
    scope, limit = reading.scope, f"limit {int(reading.limit)}" if reading.limit is not None else ""
    rest = ", ".join(field for field in FIELDS if field not in ("agent_id", "user_id", "session_id"))
    place = len(values)
    query = f"""
        select
            row_number() over () as ordinal, file, {rest}, unreadable,
            coalesce(passed_over, if({reading.skip_empty} and {EMPTY}, 'empty messages', null)) as passed_over,
            coalesce(${place + 1}, replace(agent_id, chr(0), ''), 'default') as agent_id,
            coalesce(${place + 2}, replace(user_id, chr(0), ''), 'default') as user_id,
            coalesce(
                ${place + 3}, replace(session_id, chr(0), ''), parse_filename(file, true, 'both_slash')
            ) as session_id
        from ({sql} {limit})
    """
    try:
        con.execute(
            f"copy ({query}) to {_text(raw)} (format parquet)",
            [*values, scope.agent_id, scope.user_id, scope.session_id],
        ).fetchall()
    except duckdb.InvalidInputException as error:
        raise InputError(
            f"{source.name}: {_first_lines(error)}. Nothing was stored; --skip-bad leaves such lines out"
        ) from None
    except duckdb.Error as error:
        raise InputError(f"{source.name} can't be read: {' '.join(str(error).split())}") from error


def _problems(con: duckdb.DuckDBPyConnection, reading: Reading, raw: Path) -> list[Problem]:
    """The rows that can't land, in order. They are put into the temp table backfill_problems."""
    rows = (
        f"(select *, ordinal as place from read_parquet({_text(raw)}) where passed_over is null and unreadable is null)"
    )
    values = {
        **cleaning_values(Scope(None, None, None, ""), reading.role_names, reading.timezone),
        "skip_empty": reading.skip_empty,
    }
    con.execute(
        f"""
        create or replace temp table backfill_problems as
        with found as (
            select ordinal, said_role, said_at, problem from ({problems_query(rows)})
            union all
            select ordinal, null, null, unreadable from read_parquet({_text(raw)}) where unreadable is not null
        ),
        begins as (select file, min(ordinal) as first_ordinal from read_parquet({_text(raw)}) group by file)
        select f.*, r.file, f.ordinal - b.first_ordinal + 1 as place
        from found as f
        join (select ordinal, file from read_parquet({_text(raw)})) as r using (ordinal)
        join begins as b using (file)
        """,
        values,
    ).fetchall()
    found = con.execute("select file, place, problem, said_role, said_at from temp.backfill_problems order by ordinal")
    return [Problem(file, place, _told(problem, role, at)) for file, place, problem, role, at in found.fetchall()]


def _told(problem: str, role: str | None, said_at: str | None) -> str:
    return complaint(problem, role, said_at or "") if problem in ("role", "empty", "time") else problem


def _rejected(con: duckdb.DuckDBPyConnection) -> list[Problem]:
    """The CSV lines that DuckDB could not take apart."""
    found = con.execute(
        "select s.file_path, e.line, any_value(e.error_message)"
        " from reject_errors as e join reject_scans as s using (scan_id, file_id) group by all order by all"
    ).fetchall()
    con.execute("drop table reject_errors")
    con.execute("drop table reject_scans")
    return [Problem(file, line, " ".join(what.split())) for file, line, what in found]


def _refusal(problems: list[Problem]) -> str:
    shown = "; ".join(str(problem) for problem in problems[:_SHOWN])
    more = f"; {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
    return f"{shown}{more}. Nothing was stored; --skip-bad leaves such rows out"


def _check_mapped(con: duckdb.DuckDBPyConnection, columns: Columns, raw: Path, source: Source) -> None:
    """Refuses a mapping to a column that no JSON row has; the other formats have been checked by their header."""
    if source.format != "jsonl":
        return
    named = [field for field in FIELDS if columns.of(field) != field and columns.of(field)]
    for field in named:
        seen = con.execute(f"select 1 from read_parquet($1) where {field} is not null limit 1", [str(raw)]).fetchall()
        if not seen:
            raise InputError(f"{source.name}: no row has the column {columns.of(field)!r} that --map names")


def _check_ids(con: duckdb.DuckDBPyConnection, raw: Path) -> None:
    twice = con.execute(
        """
        select id, min(ordinal), max(ordinal)
        from read_parquet($1)
        where id <> '' and unreadable is null and passed_over is null
        group by agent_id, user_id, session_id, id
        having min(hash(role, content)) <> max(hash(role, content))
        order by 2
        limit 1
        """,
        [str(raw)],
    ).fetchall()
    if twice:
        raise InputError(
            f"two different messages of one session have the id {twice[0][0]!r} (rows {twice[0][1]:,} and"
            f" {twice[0][2]:,}); --map id= leaves the column out. Nothing was stored"
        )


def _partition(
    con: duckdb.DuckDBPyConnection, raw: Path, staged: Path, partition_turns: int
) -> list[tuple[int, int, int]]:
    """Sorts the rows by partition into their file; gives partition, sessions and messages of each."""
    con.execute(
        f"""
        copy (
            with kept as (
                select r.*
                from read_parquet({_text(raw)}) as r
                anti join temp.backfill_problems as p using (ordinal)
                where passed_over is null
            ),
            sessions as (
                select agent_id, user_id, session_id, count(*) as messages, min(ordinal) as begins
                from kept
                group by all
            ),
            numbered as (
                select
                    agent_id, user_id, session_id,
                    ((sum(messages) over (order by begins) - messages) // {int(partition_turns)})::bigint as part
                from sessions
            )
            select n.part, k.ordinal, {", ".join(f"k.{field}" for field in FIELDS)}
            from kept as k
            join numbered as n using (agent_id, user_id, session_id)
            order by n.part, k.ordinal
        ) to {_text(staged)} (format parquet, row_group_size {_ROW_GROUP})
        """
    ).fetchall()
    return con.execute(
        "select part, count(distinct (agent_id, user_id, session_id)), count(*) from read_parquet($1)"
        " group by part order by part",
        [str(staged)],
    ).fetchall()


def as_json(values: Mapping[str, Any]) -> str:
    """Values as JSON that is the same for equal values."""
    return json.dumps(values, sort_keys=True, ensure_ascii=False, default=str)


def _first_lines(error: duckdb.Error) -> str:
    """What DuckDB says about a CSV line, without its advice."""
    lines = [line.strip() for line in str(error).removeprefix("Invalid Input Error: ").splitlines() if line.strip()]
    told = [
        line for line in lines if line.startswith(("CSV Error", "Original Line", "Expected", "Value with", "Could not"))
    ]
    return "; ".join(told[:3]) or " ".join(lines)[:300]


def _text(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
