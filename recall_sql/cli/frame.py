"""What stands around every command: one-line errors and exit codes, streams, shared options, progress.

Exit codes: 0 done, 1 it failed, 2 it was called wrongly, 130 Ctrl-C.
"""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import click
import duckdb

from recall_sql.errors import InputError, RecallError, one_line

DEFAULT_DB = "memory.duckdb"
INTERRUPTED = 130


class Failure(click.ClickException):
    """An error that has been told in one line."""


class Commands(click.Group):
    """A group whose errors are one line on standard error, beginning with `recall-sql:`."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Takes a command; `--debug` may also stand behind it, where it is typed when a command has failed."""
        cmd.params.append(
            click.Option(["--debug"], is_flag=True, hidden=True, expose_value=False, callback=_debug_was_asked_for)
        )
        super().add_command(cmd, name)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; turns an error that was foreseen into a Failure."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except (RecallError, duckdb.Error, OSError) as error:
            if ctx.params.get("debug"):
                traceback.print_exc()
            raise Failure(one_line(error)) from error

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Runs the command line. Ends the process with an exit code, unless `standalone_mode` is false."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **extra)
        sys.excepthook = _report_bug
        try:
            code = super().main(*args, standalone_mode=False, **extra)
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "recall-sql"
            tell(f"{_sentence(error)} See: {command} --help")
            code = error.exit_code
        except click.ClickException as error:
            tell(error.format_message())
            code = error.exit_code
        except click.Abort:
            tell("interrupted")
            code = INTERRUPTED
        sys.exit(code if isinstance(code, int) else 0)


def _sentence(error: click.UsageError) -> str:
    text = " ".join(error.format_message().split())
    return text if text.endswith((".", "?", ")")) else f"{text}."


def _debug_was_asked_for(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.find_root().params["debug"] = True


def _report_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """For what nobody foresaw: one line, too, and the traceback if it was asked for."""
    if "--debug" in sys.argv:
        sys.__excepthook__(kind, error, trace)
    tell(f"unexpected {kind.__name__}: {one_line(error)} (a bug in recall_sql; --debug shows where)")


def tell(message: str) -> None:
    """One line on standard error."""
    click.echo(f"recall-sql: {message}", err=True)


def readable_streams() -> None:
    """UTF-8 whatever the locale or the Windows code page says: conversations are in every script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(encoding="utf-8", errors="replace")


# --- options ----------------------------------------------------------------------------------------------------------

db_option = click.option(
    "--db",
    envvar="RECALL_DB",
    default=DEFAULT_DB,
    show_default=True,
    show_envvar=True,
    metavar="FILE",
    help="The database.",
)
format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="How to print rows.",
)


def pairs(option: str, given: Sequence[str], *, lists: bool = False) -> dict[str, str]:
    """`name=value` arguments as a dict; with `lists`, one argument may hold several, separated by commas."""
    found: dict[str, str] = {}
    for argument in (part for text in given for part in (text.split(",") if lists else [text])):
        name, sign, value = argument.partition("=")
        if not sign or not name.strip():
            raise click.UsageError(f"{option} {argument}: expected NAME=VALUE")
        if name.strip() in found:
            raise click.UsageError(f"{option} {name.strip()} is given twice")
        found[name.strip()] = value
    return found


# --- databases and progress -------------------------------------------------------------------------------------------


@contextmanager
def opened(db: str, *, must_exist: bool = False, **options: Any) -> Iterator[duckdb.DuckDBPyConnection]:
    """A recall_sql connection to the database, closed at the end. must_exist: don't create it."""
    from recall_sql.session import connect

    if must_exist and db != ":memory:" and not Path(db).exists():
        raise InputError(f"there is no database {db}; --db names one, `recall-sql init` or `import` makes one")
    with closing(connect(db, **options)) as con:
        if (
            options.get("read_only")
            and not con.execute("from duckdb_tables() where table_name = 'recall_meta'").fetchall()
        ):
            raise InputError(f"{db} holds no memory: `recall-sql init --db {db}` adds the tables")
        con.execute("set enable_progress_bar = false")  # DuckDB's own goes to standard output, into the rows
        yield con


@contextmanager
def step_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """What the runner calls as it goes on: a bar on a terminal, otherwise None."""
    with _bar("{task.completed}/{task.total}") as bar:
        if bar is None:
            yield None
            return
        task = bar.add_task("", total=None)
        yield lambda step, done, total: bar.update(task, description=step, completed=done, total=total)


@contextmanager
def count_progress(what: str) -> Iterator[Callable[[int], None] | None]:
    """What an import calls as it goes on: a count on a terminal, otherwise None."""
    with _bar("{task.completed:,}") as bar:
        if bar is None:
            yield None
            return
        task = bar.add_task(what, total=None)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def _bar(amount: str) -> Iterator[Any]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn(amount), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield bar


def wide_console() -> Any:
    """A console for tables: as wide as the terminal; into a file or pipe 160 columns, so that ids stay whole."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 160)
