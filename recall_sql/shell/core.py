"""Takes lines, collects them into statements, runs them and prints what comes back.

Knows nothing of terminals: prompt.py and a script feed it in the same way.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import duckdb
from rich.console import Console

from recall_sql.errors import RecallError
from recall_sql.runner import RunResult, dialect, execute, from_text, render_tables
from recall_sql.session import connect
from recall_sql.shell.boxes import print_box

if TYPE_CHECKING:
    from recall_sql.runner.output import Format

MODES = ("box", "table", "json", "csv")


class Shell:
    """An open database, and how its results are to be shown.

    tell: prints one line for the person, for example an error.
    """

    def __init__(
        self, database: str, console: Console | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        self.console = console or Console(width=None if sys.stdout.isatty() else 160)
        self.tell = tell or (lambda line: print(line, file=sys.stderr))
        self.mode, self.timer, self.max_rows = "box", False, 40
        self.done = False
        self.database = database
        self.con = connect(database)
        self._lines: list[str] = []

    @property
    def unfinished(self) -> bool:
        """Whether a statement has begun and not ended."""
        return bool(self._lines)

    def open(self, database: str) -> None:
        """Goes on in another database; stays in this one if that can't be opened."""
        other = connect(database)
        self.con.close()
        self.con, self.database = other, database

    def close(self) -> None:
        """Closes the database."""
        self.con.close()

    def run_script(self, lines: Iterable[str]) -> bool:
        """Runs lines up to the first error; whether there was none. What is left at the end is run, too."""
        for line in lines:
            if not self.feed(line.rstrip("\n")):
                return False
            if self.done:
                return True
        return self.feed(";") if self.unfinished else True

    def feed(self, line: str) -> bool:
        """Takes one line, and runs what it completes. False if that failed, which has been told."""
        from recall_sql.shell import commands

        if not self.unfinished and line.lstrip().startswith("."):
            return self._guarded(lambda: commands.run(self, line.strip()))
        if not self.unfinished and not line.strip():
            return True
        text = "\n".join([*self._lines, line])
        if not is_complete(text):
            self._lines.append(line)
            return True
        self._lines.clear()
        return self._guarded(lambda: self.sql(text))

    def forget(self) -> None:
        """Drops a statement that has begun."""
        self._lines.clear()

    def sql(self, text: str) -> None:
        """Runs statements and shows their results."""
        self.show(lambda: execute(self.con, from_text(text, "input"), record=False))

    def show(self, work: Callable[[], RunResult]) -> None:
        """Runs something and prints its tables, and how long it took if that is asked for."""
        started = time.perf_counter()
        result = work()
        took = time.perf_counter() - started
        if self.mode == "box":
            for table in result.tables:
                print_box(table, self.console, self.max_rows)
        else:
            format_: Format = self.mode  # one of MODES
            render_tables(result, format_, self.console)
        if self.timer:
            self.tell(f"{took:.3f} s")

    def _guarded(self, work: Callable[[], None]) -> bool:
        from recall_sql.cli.frame import one_line

        try:
            work()
        except (RecallError, duckdb.Error, OSError) as error:
            self.tell(f"Error: {one_line(error)}")
            return False
        except KeyboardInterrupt:
            self.tell("Interrupted: nothing was changed.")
            return False
        return True


def is_complete(text: str) -> bool:
    """Whether the text ends with a semicolon that isn't inside quotes or a comment, or holds nothing but comments."""
    try:
        found = dialect.tokens(text)
    except duckdb.Error:  # a quote that is still open
        return False
    return not found or found[-1].word == ";"
