"""Suggests tables, columns, functions, recipes, their parameters and keywords."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import duckdb
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from recall_sql.errors import InputError
from recall_sql.runner import accepted_params, catalogue, load
from recall_sql.shell.commands import COMMANDS
from recall_sql.shell.core import MODES, Shell

_WORD = re.compile(r"[\w.]+$")
_NAMES = """
select distinct name, kind from (
    select table_name as name, 'table' as kind, 1 as place from duckdb_tables() where database_name = current_database()
    union all select view_name, 'view', 1 from duckdb_views() where database_name = current_database() and not internal
    union all select column_name, 'column', 2 from duckdb_columns()
        where database_name = current_database() and not internal
    union all select function_name, 'function', 3 from duckdb_functions() where function_name ~ '^[a-z][a-z0-9_]+$'
    union all select keyword_name, 'keyword', 4 from duckdb_keywords()
)
qualify row_number() over (partition by name order by place) = 1
order by place, name
"""


class ShellCompleter(Completer):
    """Completes what stands before the cursor. Names are read from the database when they are first needed."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._names: list[tuple[str, str]] = []
        self._of: duckdb.DuckDBPyConnection | None = None

    def forget(self) -> None:
        """Reads the names again at the next key: a statement may have made a table."""
        self._of = None

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Suggestions for the word before the cursor."""
        before = document.text_before_cursor
        if before.lstrip().startswith("."):
            yield from self._command(before.lstrip())
            return
        word = _WORD.search(before)
        if word and len(word[0]) >= 2:
            typed = word[0].rpartition(".")[2]
            yield from _matching(typed, self._all_names())

    def _command(self, line: str) -> Iterator[Completion]:
        name, *rest = line.split(" ")
        if not rest:
            return (yield from _matching(name, ((command, "") for command in COMMANDS)))
        typed = rest[-1]
        if name in (".recipe", ".compile") and len(rest) == 1:
            yield from _matching(typed, ((recipe.name, recipe.description) for recipe in catalogue()))
        elif name in (".recipe", ".compile", ".facts"):
            yield from _matching(typed, _params("conversation_memory/facts" if name == ".facts" else rest[0]))
        elif name == ".mode":
            yield from _matching(typed, ((mode, "") for mode in MODES))
        elif name == ".schema":
            yield from _matching(typed, (pair for pair in self._all_names() if pair[1] in ("table", "view")))

    def _all_names(self) -> list[tuple[str, str]]:
        if self._of is not self._shell.con:
            cursor = self._shell.con.cursor()
            self._names = cursor.execute(_NAMES).fetchall()
            cursor.close()
            self._of = self._shell.con
        return self._names


def _params(recipe: str) -> list[tuple[str, str]]:
    try:
        return [(f"{param.name}=", param.help) for param in accepted_params(load(recipe))]
    except InputError:
        return []


def _matching(typed: str, names: Iterable[tuple[str, str]]) -> Iterator[Completion]:
    for name, meaning in names:
        if name.lower().startswith(typed.lower()):
            yield Completion(name, start_position=-len(typed), display_meta=meaning)
