"""What a running server has: one database, a cursor for every thread, the intake of turns, the worker, the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

import recall_sql
from recall_sql.access import Gate
from recall_sql.integrations.http.intake import Intake
from recall_sql.integrations.http.limits import RateLimit
from recall_sql.integrations.http.metrics import Metrics
from recall_sql.memory import Memory
from recall_sql.worker import Worker


@dataclass(frozen=True, slots=True)
class Options:
    """host: where it is listened, which decides who needs a key. rate: requests a second of one key, 0 for any number;
    twice as many may come at once. body: bytes of a request. grace: seconds that stopping may take.
    """

    host: str = "127.0.0.1"
    no_auth: bool = False
    rate: float = 50.0
    body: int = 1024 * 1024
    grace: float = 10.0
    model: str | None = None


class Service:
    """Opens the database, if it is given by its path, and closes it in the end. Raises ConfigError as Gate does."""

    def __init__(self, database: duckdb.DuckDBPyConnection | str | Path, options: Options) -> None:
        self._owned = not isinstance(database, duckdb.DuckDBPyConnection)
        con = database if isinstance(database, duckdb.DuckDBPyConnection) else recall_sql.connect(database)
        try:
            self.gate = Gate(recall_sql.register(con), host=options.host, no_auth=options.no_auth)
            self._given, self.memory = con, Memory(con)
            self.options, self.metrics = options, Metrics()
            self.calls, self.failures = RateLimit(options.rate), RateLimit(min(options.rate, 5.0))
            self.worker = Worker(con, model=options.model)
            self.intake = Intake(con)
        except BaseException:
            if self._owned:
                con.close()
            raise

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The calling thread's cursor."""
        return self.memory.con

    def start(self) -> None:
        """From now on turns are stored and read."""
        self.worker.start()
        self.intake.start()

    def stop(self) -> None:
        """Stores what was accepted, finishes or gives back what is being read, and lets the database go."""
        self.intake.stop()
        self.worker.stop(self.options.grace)
        if self._owned:
            self._given.close()
