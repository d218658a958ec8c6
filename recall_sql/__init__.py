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
    "ModelError",
    "RecallError",
    "RecipeError",
    "connect",
    "last_error",
    "register",
]
__version__ = "0.1.0"
