"""The terminal of `recall-sql shell`: history, completion, colours, several lines until the semicolon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from recall_sql.shell.completion import ShellCompleter
from recall_sql.shell.core import Shell, is_complete

HISTORY = "~/.recall_sql_history"


def interact(shell: Shell, **options: Any) -> None:
    """Asks for input until the person leaves. options: for prompt_toolkit's PromptSession (tests give theirs)."""
    completer = ShellCompleter(shell)
    session: PromptSession[str] = PromptSession(
        history=_history(),
        completer=completer,
        complete_while_typing=True,
        lexer=PygmentsLexer(SqlLexer),
        multiline=True,
        prompt_continuation="…> ",
        key_bindings=_bindings(),
        **options,
    )
    while not shell.done:
        try:
            text = session.prompt(f"{Path(shell.database).stem}> ")
        except KeyboardInterrupt:  # Ctrl-C at the prompt: another line
            continue
        except EOFError:
            return
        shell.run_script(text.splitlines())
        completer.forget()


def _history() -> History:
    path = Path(HISTORY).expanduser()
    try:
        path.touch(mode=0o600)
    except OSError:  # no home directory, or one that can't be written to
        return InMemoryHistory()
    return FileHistory(str(path))


def _bindings() -> KeyBindings:
    """Enter runs what is complete, and begins a new line where a statement hasn't ended."""
    bindings = KeyBindings()

    @Condition
    def ready() -> bool:
        from prompt_toolkit.application import get_app

        text = get_app().current_buffer.text.strip()
        return not text or text.startswith(".") or is_complete(text)

    @bindings.add("enter", filter=ready)
    def _run(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return bindings
