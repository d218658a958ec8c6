"""Puts the functions of the catalog into a DuckDB instance."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb

from recall_sql.errors import ConfigError, InputError
from recall_sql.functions.catalog import SqlFunction, all_functions

if TYPE_CHECKING:
    from recall_sql.instance import Instance


def install(connection: duckdb.DuckDBPyConnection, instance: Instance) -> None:
    """Registers every function in the instance of `connection`; `instance` keeps the callables alive.

    All or none: ConfigError if there is a function of such a name already.
    """
    done: list[SqlFunction] = []
    for function in all_functions():
        call = _guarded(function, instance)
        instance.functions.append(call)
        try:
            connection.create_function(
                function.name,
                call,
                None,
                connection.type(function.returns.format(dimension=instance.dimension)),
                type="arrow",
                null_handling="special",
                side_effects=function.volatile,
            )
        except duckdb.Error as error:
            remove(connection, done)
            raise ConfigError(
                f"{function.title} can't be registered; does this database have a function of that name? ({error})"
            ) from error
        done.append(function)


def remove(connection: duckdb.DuckDBPyConnection, functions: list[SqlFunction] | None = None) -> None:
    """Takes `functions` (all of them by default) out again, by the connection that put them in."""
    for function in functions if functions is not None else all_functions():
        connection.remove_function(function.name)


def _guarded(function: SqlFunction, instance: Instance) -> Callable[..., Any]:
    name = function.title
    work = cache(function.load)

    def call(*columns: Any) -> Any:
        try:
            return work()(instance, columns)
        except BaseException as error:
            instance.last_error = error  # DuckDB passes on its text only
            if isinstance(error, ConfigError | InputError) and not str(error).startswith(name):
                raise type(error)(f"{name}: {error}") from error
            raise

    return call
