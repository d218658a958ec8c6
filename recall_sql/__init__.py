"""Agent memory as tables you can read, and the memory pipeline as SQL you can read.

import recall_sql
con = recall_sql.connect("memory.duckdb")
con.sql("select embed('hello')")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recall_sql.errors import ConfigError, InputError, ModelError, RecallError, RecipeError
from recall_sql.session import connect, last_error, register

if TYPE_CHECKING:
    from recall_sql.backfills import backfill
    from recall_sql.memory import Context, Memory, RefusedError, compact, run
    from recall_sql.memory.asynchronous import AsyncMemory

__all__ = [
    "AsyncMemory",
    "ConfigError",
    "Context",
    "InputError",
    "Memory",
    "ModelError",
    "RecallError",
    "RecipeError",
    "RefusedError",
    "backfill",
    "compact",
    "connect",
    "last_error",
    "register",
    "run",
]
__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(("Context", "Memory", "RefusedError", "compact", "run"), "recall_sql.memory"),
    "AsyncMemory": "recall_sql.memory.asynchronous",
    "backfill": "recall_sql.backfills",
}


def __getattr__(name: str) -> Any:
    """What few sessions need is imported when it is asked for."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext recall_sql` calls in a notebook."""
    from recall_sql.integrations import jupyter

    jupyter.load_ipython_extension(shell)
