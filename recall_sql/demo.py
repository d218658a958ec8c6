"""The tour of the product: an example conversation, its facts, a belief that changes, the context, the reply.

The conversation is `recipes/conversation_memory/example.jsonl`. It arrives in two parts, so that one can see what was
believed before and after. Everything is done by the recipes it names; nothing here knows what a fact is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from recall_sql.errors import ConfigError, ModelError, RecipeError
from recall_sql.importers import import_file
from recall_sql.resources import recipes_dir
from recall_sql.runner import RunResult, execute, load
from recall_sql.runner.execute import Progress
from recall_sql.session import connect, instance_of, last_error

USER, SESSION = "marta", "scotland"
QUESTION = "Where should I have dinner on Skye?"
_MARK = "demo"  # the row of recall_meta that says a database is ours to replace


def example() -> Path:
    """The example conversation."""
    return recipes_dir() / "conversation_memory" / "example.jsonl"


def run_demo(
    db: str,
    *,
    say: Callable[[str], object],
    show: Callable[[RunResult], object],
    progress: Callable[[], AbstractContextManager[Progress | None]] = nullcontext,
) -> None:
    """Runs the demo into a new database. say: prints a line. show: prints result tables. progress: for the runner.

    Raises ConfigError if `db` exists and wasn't made by an earlier demo.
    """
    _make_room(db)
    with closing(connect(db)) as con:
        con.execute("set enable_progress_bar = false")
        con.execute("insert or replace into recall_meta (name, value) values (?, 'true')", [_MARK])
        _Tour(con, db, say, show, progress).walk()


@dataclass(frozen=True, slots=True)
class _Tour:
    con: duckdb.DuckDBPyConnection
    db: str
    say: Callable[[str], object]
    show: Callable[[RunResult], object]
    progress: Callable[[], AbstractContextManager[Progress | None]]

    def walk(self) -> None:
        """Every stop of the tour."""
        self._first_evening()
        self._eight_days_later()
        self._context()
        self._reply()
        program = Path(sys.argv[0]) if Path(sys.argv[0]).name == "recall-sql" else Path("recall-sql")
        with suppress(ValueError):
            program = program.absolute().relative_to(Path.cwd())
        self.say(f"Everything is in {self.db}. Look around: {program} facts --db {self.db}")

    def _first_evening(self) -> None:
        self._heading("1. A conversation arrives, and facts are read from it")
        with TemporaryDirectory() as folder:
            first = Path(folder) / example().name
            first.write_text(_first_day(), encoding="utf-8")
            self._import(first)
        self._run("conversation_memory/all")
        self.show(self._run("conversation_memory/facts", user_id=USER))
        self._heading("2. Before: what she eats is one row")
        self.show(self._run("conversation_memory/facts", user_id=USER, category="dietary"))

    def _eight_days_later(self) -> None:
        self._heading("3. Eight days later she says: I eat fish now")
        self.say("   The whole file is imported; what is there already is not added again.")
        self._import(example())
        self._run("conversation_memory/all")
        self._heading("4. After: still one row, changed in place, and its history")
        self.show(self._run("conversation_memory/facts", user_id=USER, category="dietary"))
        self.show(self._run("conversation_memory/history", user_id=USER, category="dietary"))

    def _context(self) -> None:
        self._heading(f"5. What a model should read before it answers: {QUESTION}")
        result = self._run("conversation_memory/context", user_id=USER, session_id=SESSION, query=QUESTION)
        self.say(_indented(_only_value(result)))

    def _reply(self) -> None:
        self._heading("6. The reply")
        try:
            asked = {"user_id": USER, "session_id": SESSION, "message": QUESTION}
            result = self._run("conversation_memory/reply", **asked, max_tokens=60)
        except RecipeError:
            cause = last_error(self.con)
            if not isinstance(cause, ConfigError | ModelError):
                raise
            self.say(f"   No reply: {' '.join(str(cause).split())}\n")
        else:
            self.say(_indented(_only_value(result)))
            if instance_of(self.con).settings.llm == "smollm2":
                self.say("   That was SmolLM2, small enough to come along; RECALL_LLM names a better one.\n")

    def _import(self, file: Path) -> None:
        with self.progress():
            result = import_file(self.con, file)
        self._name("conversation_memory/import", str(result))

    def _run(self, recipe: str, **values: object) -> RunResult:
        with self.progress() as on_progress:
            result = execute(self.con, load(recipe), values, on_progress=on_progress)
        changed = f"{result.rows_changed} rows changed, " if result.rows_changed else ""
        self._name(recipe, f"{changed}{result.seconds:.1f} s")
        return result

    def _heading(self, text: str) -> None:
        self.say(f"\n== {text} ==")

    def _name(self, recipe: str, outcome: str) -> None:
        self.say(f"-- recipes/{recipe}.sql: {outcome}\n")


def _first_day() -> str:
    """The lines of the example that were said on its first day."""
    lines = example().read_text(encoding="utf-8").splitlines()
    days = [datetime.fromisoformat(json.loads(line)["created_at"]).date() for line in lines]
    return "\n".join(line for line, day in zip(lines, days, strict=True) if day == days[0])


def _only_value(result: RunResult) -> str:
    return str(result.tables[0].table.column(0)[0].as_py())


def _indented(text: str) -> str:
    return "".join(f"   {line}".rstrip() + "\n" for line in text.splitlines())


def _make_room(db: str) -> None:
    """Removes the database of an earlier demo, and nothing else."""
    file = Path(db)
    if db == ":memory:" or not file.is_file():
        return
    if not _made_by_demo(db):
        raise ConfigError(f"{db} exists and isn't the database of an earlier demo; name another one with --db")
    file.unlink()
    file.with_name(f"{file.name}.wal").unlink(missing_ok=True)


def _made_by_demo(db: str) -> bool:
    try:
        with duckdb.connect(db, read_only=True) as con:
            return con.execute("select 1 from recall_meta where name = ?", [_MARK]).fetchone() is not None
    except duckdb.CatalogException:
        return False
    except duckdb.Error as error:
        why = " ".join(str(error).split())
        raise ConfigError(
            f"{db} can't be opened to see if an earlier demo made it ({why}); name another with --db"
        ) from error
