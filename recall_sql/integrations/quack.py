"""A stock DuckDB shell against a running memory: this process holds the functions and speaks DuckDB's remote protocol.

    with serve("memory.duckdb", port=9494) as server:
        print(server.one_off("select embed('hello')"))       # a line to paste into any duckdb shell
        server.wait()

Responsible for the extensions, the server's life and the SQL that a shell needs. What is served is the business of
`recall_sql.session`. The server listens on loopback only, and whoever holds the token may run any SQL.
"""

from __future__ import annotations

import re
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from recall_sql import extensions, resources
from recall_sql.errors import ConfigError, InputError
from recall_sql.instance import LIBRARY, quoted
from recall_sql.integrations import recipe_functions
from recall_sql.session import connect, instance_of

EXTENSIONS = ("httpfs", "quack")
DEFAULT_PORT = 9494
SHORTEST_TOKEN = 4  # quack's own rule


@dataclass(frozen=True)
class Server:
    """A memory that is being served. uri: what a DuckDB shell connects to. search_path: its tables, and the macros."""

    database: str
    uri: str
    token: str
    search_path: str
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def one_off(self, statement: str) -> str:
        """One line of SQL for a shell that has loaded the extension: runs `statement` here."""
        return f"from quack_query({_text(self.uri)}, {_text(statement)}, token := {_text(self.token)});"

    def init_sql(self) -> str:
        """A file for `duckdb -init`: loads the extension and makes macros, so that `from recall('…')` runs here."""
        text = (resources.sql_dir() / "shell" / "remote.sql").read_text("utf-8")
        values = {
            "load": "\n".join(load_statements()),
            "database": " ".join(self.database.split()),
            "uri": _text(self.uri),
            "token": _text(self.token),
            "set_search_path": _text(f"set search_path = {_text(self.search_path)}; "),
        }
        return re.sub(r"\{\{ (\w+) \}\}", lambda found: values[found[1]], text)

    def wait(self) -> None:
        """Returns when `stop` is called; Ctrl-C ends it, too."""
        while not self._stop.wait(0.5):  # in steps, so that a signal gets through on every platform
            pass

    def stop(self) -> None:
        """Ends `wait`."""
        self._stop.set()


@contextmanager
def serve(
    database: str | Path, *, port: int = DEFAULT_PORT, token: str | None = None, **options: Any
) -> Iterator[Server]:
    """Serves a database on localhost while the block runs. token: made up if not given. options: as for `connect`.

    Raises ConfigError for a port in use, a file that can't be opened, an extension that can't be had; InputError for a
    token under 4 characters.
    """
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise InputError(f"the token has {len(token)} characters; it must have at least {SHORTEST_TOKEN}")
    _check_port(port)
    with closing(connect(database, **options)) as con:
        recipe_functions.install(con)
        for name in EXTENSIONS:
            extensions.load(con, name)
        uri, secret = f"quack:localhost:{port}", token or secrets.token_hex(16)
        try:
            con.execute("call quack_serve(?, token := ?)", [uri, secret]).fetchall()
        except duckdb.Error as error:
            raise ConfigError(f"can't serve on port {port}: {' '.join(str(error).split())}") from error
        try:
            path = f"{quoted(instance_of(con).database)}.main,{LIBRARY}.main"
            yield Server(str(database), uri, secret, path)
        finally:
            con.execute("call quack_stop(?)", [uri]).fetchall()


def load_statements() -> list[str]:
    """The SQL by which a shell on this machine gets the extensions: from the wheels, else from DuckDB's repository."""
    return [extensions.load_statement(name) for name in EXTENSIONS]


def _check_port(port: int) -> None:
    if not 1 <= port <= 65535:
        raise InputError(f"there is no port {port}; a port is a number from 1 to 65535")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise ConfigError(f"port {port} is in use; name another with --port, or end the process that listens there")


def _text(value: str) -> str:
    """A SQL string literal."""
    return "'" + value.replace("'", "''") + "'"
