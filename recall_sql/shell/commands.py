"""The dot commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from recall_sql.errors import InputError
from recall_sql.runner import catalogue, compile_recipe, execute, load
from recall_sql.session import quoted
from recall_sql.shell.core import MODES, Shell


@dataclass(frozen=True)
class Command:
    """One dot command. run: gets the shell and the words behind the name."""

    usage: str
    help: str
    run: Callable[[Shell, list[str]], None]


def run(shell: Shell, line: str) -> None:
    """Runs a line that begins with a dot. InputError if there is no such command."""
    words = _words(line)
    name = words[0].lower()
    command = COMMANDS.get(name)
    if command is None:
        close = get_close_matches(name, COMMANDS, n=1)
        raise InputError(
            f"there is no {name}" + (f"; did you mean {close[0]}?" if close else "") + " .help lists them all"
        )
    command.run(shell, words[1:])


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise InputError(f"{line}: {error}") from None


def _values(words: list[str]) -> dict[str, str]:
    values = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise InputError(f"{word}: expected name=value; quote a value with blanks in it")
        values[name] = value
    return values


def _one(words: list[str], usage: str) -> str:
    if len(words) != 1:
        raise InputError(f"usage: {usage}")
    return words[0]


def _help(shell: Shell, _: list[str]) -> None:
    width = max(len(command.usage) for command in COMMANDS.values())
    for command in dict.fromkeys(COMMANDS.values()):
        shell.console.print(f"{command.usage:<{width}}  {command.help}", markup=False, highlight=False)


def _quit(shell: Shell, _: list[str]) -> None:
    shell.done = True


def _tables(shell: Shell, _: list[str]) -> None:
    shell.sql(
        """select table_name as "table", estimated_size as rows, comment from duckdb_tables()
           where database_name = current_database() order by table_name"""
    )


def _schema(shell: Shell, words: list[str]) -> None:
    table = _one(words, COMMANDS[".schema"].usage)
    shell.sql(f'select column_name, column_type, "null", key, "default" from (describe {quoted(table)})')


def _recipes(shell: Shell, _: list[str]) -> None:
    for recipe in catalogue():
        shell.console.print(f"{recipe.name}  {recipe.description}", markup=False, highlight=False)


def _recipe(shell: Shell, words: list[str]) -> None:
    if not words:
        raise InputError(f"usage: {COMMANDS['.recipe'].usage}")
    recipe, values = load(words[0]), _values(words[1:])
    shell.show(lambda: execute(shell.con, recipe, values))


def _compile(shell: Shell, words: list[str]) -> None:
    if not words:
        raise InputError(f"usage: {COMMANDS['.compile'].usage}")
    shell.console.print(compile_recipe(load(words[0]), _values(words[1:])), markup=False, highlight=False, end="")


def _facts(shell: Shell, words: list[str]) -> None:
    _recipe(shell, ["conversation_memory/facts", *words])


def _mode(shell: Shell, words: list[str]) -> None:
    mode = _one(words, COMMANDS[".mode"].usage)
    if mode not in MODES:
        raise InputError(f"there is no mode {mode}; there are {', '.join(MODES)}")
    shell.mode = mode


def _timer(shell: Shell, words: list[str]) -> None:
    wanted = _one(words, COMMANDS[".timer"].usage)
    if wanted not in ("on", "off"):
        raise InputError(f"usage: {COMMANDS['.timer'].usage}")
    shell.timer = wanted == "on"


def _maxrows(shell: Shell, words: list[str]) -> None:
    wanted = _one(words, COMMANDS[".maxrows"].usage)
    if not wanted.isdecimal():
        raise InputError(f"usage: {COMMANDS['.maxrows'].usage}")
    shell.max_rows = int(wanted)


def _open(shell: Shell, words: list[str]) -> None:
    shell.open(_one(words, COMMANDS[".open"].usage))


def _read(shell: Shell, words: list[str]) -> None:
    path = Path(_one(words, COMMANDS[".read"].usage))
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    if not shell.run_script(path.read_text("utf-8").splitlines()):
        raise InputError(f"{path} stopped at that error")


def _settings(shell: Shell, _: list[str]) -> None:
    shell.sql("select name, value, origin from recall_settings()")


def _set(shell: Shell, words: list[str]) -> None:
    if len(words) != 2:
        raise InputError(f"usage: {COMMANDS['.set'].usage}")
    shell.con.execute("select recall_set(?, ?)", [words[0], words[1] or None]).fetchall()


COMMANDS = {
    ".help": Command(".help", "These lines.", _help),
    ".tables": Command(".tables", "The tables, and what they hold.", _tables),
    ".schema": Command(".schema TABLE", "The columns of a table.", _schema),
    ".recipes": Command(".recipes", "The recipes there are.", _recipes),
    ".recipe": Command(
        ".recipe NAME k=v …", "Run a recipe; quote a value with blanks in it: 'query=dinner in Kyoto'.", _recipe
    ),
    ".compile": Command(".compile NAME k=v …", "The SQL a recipe becomes.", _compile),
    ".facts": Command(".facts k=v …", "What is believed; user_id, session_id, category narrow it.", _facts),
    ".mode": Command(".mode MODE", "How rows are shown: box, table, json, csv.", _mode),
    ".maxrows": Command(".maxrows N", "How many rows a box shows; 0 is all.", _maxrows),
    ".timer": Command(".timer on|off", "How long a statement took.", _timer),
    ".settings": Command(".settings", "What is set, and where it comes from.", _settings),
    ".set": Command(".set NAME VALUE", "Set a setting: .set llm ollama:qwen3", _set),
    ".open": Command(".open FILE", "Go on in another database.", _open),
    ".read": Command(".read FILE", "Run a file of SQL and dot commands.", _read),
    ".quit": Command(".quit", "Leave (Ctrl-D, too).", _quit),
    ".exit": Command(".quit", "Leave (Ctrl-D, too).", _quit),
}
