"""Runs one SELECT that nobody vouches for, over one user's rows and nothing else.

Three walls. `checked` lets a single SELECT through that reads only the tables it may and calls only functions that
compute. worker.py is a process of its own whose DuckDB holds only those rows and reaches nothing. Time, memory and rows
are bounded, and a process that takes too long is ended.
"""

from __future__ import annotations

import atexit
import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from recall_sql.errors import RecallError

_WORKER = Path(__file__).with_name("worker.py")
_KEPT = ("PATH", "PYTHONPATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV", "TMPDIR", "TEMP")


class SandboxError(RecallError):
    """SQL that was refused, failed, or ran past a limit. The message is for whoever wrote the SQL."""


@dataclass(frozen=True)
class Limits:
    """seconds for one statement, bytes of memory, rows of the result, characters of SQL."""

    seconds: float = 5.0
    memory: int = 256 * 1024 * 1024
    rows: int = 10_000
    characters: int = 20_000


def run(
    sql: str, tables: Mapping[str, pa.Table], *, zone: str = "UTC", limits: Limits | None = None
) -> tuple[pa.Table, bool]:
    """The rows of `sql`, and whether there were more than the limit. tables: all that it can see.

    Raises SandboxError, whatever was wrong with the SQL; nothing outside of the sandbox has changed.
    """
    bounds = limits or Limits()
    statement = checked(sql, frozenset(tables), bounds)
    return _worker().ask(statement, tables, zone, bounds)


# --- what may run -----------------------------------------------------------------------------------------------------

_TABLE_FUNCTIONS = frozenset(("range", "generate_series", "unnest"))


@cache
def _refused() -> tuple[frozenset[str], tuple[str, ...]]:
    """The names in refused.txt, and the beginnings."""
    lines = Path(__file__).with_name("refused.txt").read_text("utf-8").splitlines()
    words = [word for line in lines if not line.startswith("#") for word in line.split()]
    starred = tuple(word.removesuffix("*") for word in words if word.endswith("*"))
    return frozenset(word for word in words if not word.endswith("*")), starred


def _is_refused(function: str) -> bool:
    names, beginnings = _refused()
    return function in names or function.startswith(beginnings)


def checked(sql: str, tables: frozenset[str], limits: Limits | None = None) -> str:
    """`sql` as the sandbox will run it. SandboxError unless it is one harmless SELECT over `tables`."""
    import sqlglot
    from sqlglot import exp

    bounds = limits or Limits()
    if len(sql) > bounds.characters:
        raise SandboxError(f"the SQL is longer than {bounds.characters} characters")
    if "\x00" in sql:
        raise SandboxError("the SQL holds a NUL character")
    _only_select(sql)
    try:
        trees = [tree for tree in sqlglot.parse(sql, read="duckdb") if tree is not None]
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        raise SandboxError(f"the SQL can't be read: {' '.join(str(error).split())[:300]}") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise SandboxError("only one SELECT statement is allowed")
    _check_tree(trees[0], tables)
    return sql.strip().rstrip(";").strip()


def _only_select(sql: str) -> None:
    """What DuckDB itself takes the text for."""
    try:
        statements = _parser().extract_statements(sql)
    except duckdb.Error as error:
        raise SandboxError(" ".join(str(error).split())[:500]) from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise SandboxError("only one SELECT statement is allowed")
    if statements[0].named_parameters:
        raise SandboxError("the SQL must not hold parameters")


@cache
def _parser_connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"enable_external_access": "false", "lock_configuration": "true"})


def _parser() -> duckdb.DuckDBPyConnection:
    return _parser_connection().cursor()


def _check_tree(tree: Any, tables: frozenset[str]) -> None:
    from sqlglot import exp

    known = {name.lower() for name in tables}
    ctes = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    for node in tree.walk():
        if isinstance(node, exp.Into | exp.DML | exp.DDL | exp.Command) and not isinstance(node, exp.Query):
            raise SandboxError("only SELECT is allowed")
        if isinstance(node, exp.Table):
            _check_table(node, known, ctes)
        elif isinstance(node, exp.Func):
            _check_function(node)
        elif (
            isinstance(node, exp.Column)
            and str(node.name).lower() in ("current_user", "session_user", "user", "current_catalog", "current_role")
            and not node.table
        ):
            raise SandboxError(f"{node.name} isn't allowed")
        elif isinstance(node, exp.With) and node.args.get("recursive"):
            raise SandboxError("recursive queries aren't allowed")
        elif isinstance(node, exp.Parameter | exp.Placeholder | exp.SessionParameter):
            raise SandboxError("the SQL must not hold parameters")


def _check_table(node: Any, known: set[str], ctes: set[str]) -> None:
    from sqlglot import exp

    if isinstance(node.this, exp.Func):
        name = _name(node.this)
        if name not in _TABLE_FUNCTIONS:
            raise SandboxError(f"the table function {name} isn't allowed")
        return
    name = node.name.lower()
    if node.catalog or (node.db and node.db.lower() != "main"):
        raise SandboxError(f"there is no table {node.sql('duckdb')}; tables: {', '.join(sorted(known))}")
    if name not in known and name not in ctes:
        raise SandboxError(f"there is no table '{node.name}'; tables: {', '.join(sorted(known))}")


def _name(node: Any) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return str(node.this).lower()
    return node.sql_name().lower()


def _check_function(node: Any) -> None:
    from sqlglot import exp

    name = _name(node)
    names = (
        {name, *(known.lower() for known in type(node).sql_names())}
        if not isinstance(node, exp.Anonymous | exp.AnonymousAggFunc)
        else {name}
    )
    bad = next((one for one in names if _is_refused(one)), None)
    if bad:
        raise SandboxError(f"the function {bad} isn't allowed")
    if isinstance(node, exp.Anonymous) and name not in _functions():
        raise SandboxError(f"there is no function '{name}'")


@cache
def _functions() -> frozenset[str]:
    """Scalar and aggregate functions and plain macros of a fresh DuckDB."""
    sql = "select lower(function_name) from duckdb_functions() where function_type in ('scalar', 'aggregate', 'macro')"
    rows = _parser().execute(sql).fetchall()
    return frozenset(name for (name,) in rows if not _is_refused(name)) | _TABLE_FUNCTIONS


# --- the process ------------------------------------------------------------------------------------------------------


class Worker:
    """One process, started when it is first asked, ended when it takes too long, started anew after that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = 0

    def ask(self, sql: str, tables: Mapping[str, pa.Table], zone: str, limits: Limits) -> tuple[pa.Table, bool]:
        """The rows, and whether they were cut."""
        payloads = {name: _as_bytes(table) for name, table in tables.items()}
        request = {"sql": sql, "tables": list(payloads), "zone": zone, "memory": limits.memory, "rows": limits.rows}
        with self._lock:
            about, payload = self._talk(json.dumps(request).encode(), list(payloads.values()), limits)
        if "error" in about:
            raise SandboxError(_readable(about["error"]))
        return pa.ipc.open_stream(payload).read_all(), bool(about["truncated"])

    def _talk(self, request: bytes, payloads: list[bytes], limits: Limits) -> tuple[dict[str, Any], bytes]:
        process = self._started()
        late = threading.Event()
        timer = threading.Timer(limits.seconds + 1.0 * (self._asked == 0), _end, (process, late))
        timer.daemon = True
        self._asked += 1
        timer.start()
        try:
            assert process.stdin is not None and process.stdout is not None
            for part in (request, *payloads):
                process.stdin.write(struct.pack("<Q", len(part)))
                process.stdin.write(part)
            process.stdin.flush()
            about = json.loads(_received(process.stdout))
            return about, _received(process.stdout)
        except (OSError, EOFError, ValueError) as error:
            self._forget()
            if late.is_set():
                raise SandboxError(f"it took longer than {limits.seconds:g} s; ask for less") from None
            raise SandboxError("it needed more memory than it may have; ask for less") from error
        finally:
            timer.cancel()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=kept,
                cwd=os.path.abspath(os.sep),
            )
            self._asked = 0
        return self._process

    def end(self) -> None:
        """Ends the process, if there is one."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    _close(stream)
        self._process = None


@cache
def _worker() -> Worker:
    worker = Worker()
    atexit.register(worker.end)
    return worker


def _close(stream: Any) -> None:
    try:
        stream.close()
    except OSError:  # what was still to be written to an ended process
        return


def _end(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()


def _received(stream: Any) -> bytes:
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    size = struct.unpack("<Q", head)[0]
    body = stream.read(size)
    if len(body) < size:
        raise EOFError
    return body


def _as_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _readable(error: str) -> str:
    if "out of memory" in error.lower() or "failed to allocate" in error.lower() or "bad_alloc" in error:
        return "it needed more memory than it may have; ask for less"
    return error[:500]
