"""`%load_ext recall_sql`: recipes and SQL cells in a notebook, results as DataFrames, facts to be read.

    con = %recall connect memory.duckdb
    %recall run conversation_memory/context session_id=s1
    %recall facts user_id=marta
    %%recall rows << select * from chat_turns

Responsible for the magic and for how facts look (`FactsView`). What runs is `recall_sql.runner`'s.
"""

from __future__ import annotations

import html
import re
import shlex
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import duckdb
import pyarrow as pa
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from recall_sql.errors import ConfigError, InputError
from recall_sql.runner import ResultTable, RunResult, catalogue, execute, from_text, load
from recall_sql.session import connect, register

_USAGE = """\
%recall connect [FILE]              open a database (in memory without FILE); `con = %recall connect …` keeps it
%recall use NAME                    work on the DuckDB connection in the variable NAME
%recall run RECIPE [name=value …]   run a recipe, see %recall recipes
%recall facts [name=value …]        what is believed: user_id, session_id, category
%recall recipes                     which recipes there are
%%recall [VARIABLE <<]              a cell of SQL; the last result, as a DataFrame, in VARIABLE if one is named"""

_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*<<\s*(.*)", re.DOTALL)


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext recall_sql` calls. Makes the engine URL recall:// known, too, for JupySQL."""
    shell.register_magics(RecallMagics)
    with suppress(ModuleNotFoundError):  # the dialect registers itself
        import_module("recall_sql.integrations.sqlalchemy")


@magics_class
class RecallMagics(Magics):
    """The magic %recall."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._connection: duckdb.DuckDBPyConnection | None = None

    @line_cell_magic
    def recall(self, line: str, cell: str | None = None) -> Any:
        """Runs a recipe or SQL in the open database. `%recall` alone prints what it understands."""
        if cell is not None:
            return self._sql(line, cell)
        assigned = _ASSIGNMENT.fullmatch(line)
        if assigned:
            return self._sql(assigned[1] + " <<", assigned[2])
        command, _, rest = line.strip().partition(" ")
        if not command:
            print(_USAGE)
            return None
        action = getattr(self, f"_do_{command}", None)
        if action is not None:
            return action(shlex.split(rest))
        return self._sql("", line)

    def _do_connect(self, arguments: list[str]) -> duckdb.DuckDBPyConnection:
        if len(arguments) > 1:
            raise InputError("%recall connect takes one file; quote a name with blanks in it")
        self._connection = connect(arguments[0] if arguments else ":memory:")
        return self._connection

    def _do_use(self, arguments: list[str]) -> None:
        found = self.shell.user_ns.get(arguments[0]) if len(arguments) == 1 else None
        if not isinstance(found, duckdb.DuckDBPyConnection):
            raise InputError(f"%recall use: no variable {' '.join(arguments)} holds a DuckDB connection")
        self._connection = register(found)

    def _do_run(self, arguments: list[str]) -> Any:
        if not arguments:
            raise InputError("%recall run needs a recipe; %recall recipes lists them")
        result = execute(self._open(), load(arguments[0]), _values(arguments[1:]))
        frames = {table.title or f"result {n}": _frame(table.table) for n, table in enumerate(result.tables, 1)}
        return Results(frames) if len(frames) > 1 else next(iter(frames.values()), None)

    def _do_facts(self, arguments: list[str]) -> FactsView:
        return facts_view(self._open(), **_values(arguments))

    def _do_recipes(self, _: list[str]) -> Any:
        rows = [
            {
                "recipe": recipe.name,
                "description": recipe.description,
                "params": [param.name for param in recipe.params],
            }
            for recipe in catalogue()
        ]
        return _frame(pa.Table.from_pylist(rows))

    def _sql(self, line: str, cell: str) -> Any:
        assigned = _ASSIGNMENT.fullmatch(line)
        if line.strip() and not assigned:
            raise InputError(f"%%recall {line.strip()}: expected nothing, or VARIABLE <<")
        shown = _shown(execute(self._open(), from_text(cell, "cell"), record=False))
        if assigned is None:
            return shown
        self.shell.user_ns[assigned[1]] = shown
        return None

    def _open(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            raise ConfigError("no database is open in this notebook: run %recall connect memory.duckdb first")
        return self._connection


def _values(arguments: list[str]) -> dict[str, str]:
    values = {}
    for argument in arguments:
        name, sign, value = argument.partition("=")
        if not sign:
            raise InputError(f"{argument}: expected name=value; quote a value with blanks in it")
        values[name] = value
    return values


def _shown(result: RunResult) -> Any:
    """The last result of a cell as a DataFrame; those before it are displayed."""
    *before, last = result.tables or (None,)
    for table in before:
        _titled(table)
    return None if last is None else _frame(last.table)


def _titled(table: ResultTable) -> None:
    if table.title:
        print(table.title)
    display(_frame(table.table))


def _frame(table: pa.Table) -> Any:
    if find_spec("pandas") is None:
        raise ConfigError("results are DataFrames: pip install recall-sql[notebook]")
    return table.to_pandas()


class Results(dict[str, Any]):
    """The results of a recipe that has several: DataFrames by their title."""

    def __repr__(self) -> str:
        return "\n\n".join(f"{title}\n{frame}" for title, frame in self.items())

    def _repr_html_(self) -> str:
        return "".join(f"<p><b>{html.escape(title)}</b></p>{frame._repr_html_()}" for title, frame in self.items())


# --- facts ------------------------------------------------------------------------------------------------------------


def facts_view(con: duckdb.DuckDBPyConnection, **filters: str) -> FactsView:
    """What is believed (recipe conversation_memory/facts) as something to look at. filters: the recipe's parameters."""
    (result,) = execute(con, load("conversation_memory/facts"), filters, record=False).tables
    return FactsView(result.table)


class FactsView:
    """Facts as a notebook shows them: value, a bar of confidence, source, age. `.table` is Arrow, `.df()` pandas."""

    def __init__(self, table: pa.Table, now: datetime | None = None) -> None:
        self.table = table
        self._now = now or datetime.now(UTC)

    def df(self) -> Any:
        """The facts as a DataFrame."""
        return _frame(self.table)

    def __len__(self) -> int:
        return self.table.num_rows

    def __repr__(self) -> str:
        lines = [
            f"{fact['user']}  {fact['category']}.{fact['fact']} = {fact['value']}"
            f"  ({fact['confidence']:.0%}, {fact['source']})"
            for fact in self.table.to_pylist()
        ]
        return "\n".join(lines) or "(no facts)"

    def _repr_html_(self) -> str:
        rows = "".join(self._row(fact) for fact in self.table.to_pylist())
        if not rows:
            return "<p>No facts.</p>"
        heads = "".join(
            f"<th>{head}</th>" for head in ("user", "fact", "value", "confidence", "source", "said", "holds in")
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"

    def _row(self, fact: dict[str, Any]) -> str:
        share = f"{max(0.0, min(1.0, fact['confidence'])):.0%}"
        bar = (
            f'<div title="{share}" style="background:#e5e7eb;width:6em"><div style="background:#4f7cac;width:{share};'
            f'height:0.8em"></div></div>'
        )
        kind = "" if fact["kind"] == "KNOWLEDGE" else f" <small>{html.escape(fact['kind'])}</small>"
        evidence = html.escape(fact["evidence"] or "", quote=True)
        cells = (
            html.escape(fact["user"]),
            f"{html.escape(fact['category'])}.<b>{html.escape(fact['fact'])}</b>{kind}",
            f'<span title="{evidence}">{html.escape(fact["value"])}</span>',
            bar,
            html.escape(fact["source"]),
            f'<span title="{html.escape(fact["said_at"])}">{self._age(fact["said_at"])}</span>',
            html.escape(fact["holds_in"]),
        )
        return "<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>"

    def _age(self, said_at: str) -> str:
        return age(self._now - datetime.strptime(said_at, "%Y-%m-%d %H:%M").replace(tzinfo=UTC))


def age(span: timedelta) -> str:
    """A span of time in its largest unit: '3 days ago'."""
    seconds = span.total_seconds()
    for unit, length in (("year", 31_557_600), ("month", 2_629_800), ("day", 86_400), ("hour", 3_600), ("minute", 60)):
        number = int(seconds // length)
        if number >= 1:
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now" if seconds >= 0 else "in the future"
