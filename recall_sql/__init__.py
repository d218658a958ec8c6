"""Agent memory as tables you can read, and the memory pipeline as SQL you can read.

import recall_sql
con = recall_sql.connect("memory.duckdb")
con.sql("select embed('hello')")
"""

from __future__ import annotations

from typing import Any

from recall_sql.errors import ConfigError, InputError, ModelError, RecallError, RecipeError
from recall_sql.session import connect, last_error, register

__all__ = [
    "ConfigError",
    "InputError",
    "Memory",
    "ModelError",
    "RecallError",
    "RecipeError",
    "RefusedError",
    "compact",
    "connect",
    "last_error",
    "register",
    "run",
]
__version__ = "0.1.0"

_FROM_MEMORY = ("Memory", "RefusedError", "compact", "run")


def __getattr__(name: str) -> Any:
    """What few sessions need is imported when it is asked for."""
    if name in _FROM_MEMORY:
        from recall_sql import memory

        return getattr(memory, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext recall_sql` calls in a notebook."""
    from recall_sql.integrations import jupyter

    jupyter.load_ipython_extension(shell)
