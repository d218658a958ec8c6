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
    """Registers every function in the instance of `connection`; `instance` keeps the callables alive."""
    for function in all_functions():
        call = _guarded(function, instance)
        instance.functions.append(call)
        connection.create_function(
            function.name,
            call,
            None,
            connection.type(function.returns.format(dimension=instance.dimension)),
            type="arrow",
            null_handling="special",
            side_effects=function.volatile,
        )


def remove(connection: duckdb.DuckDBPyConnection) -> None:
    """Takes all of them out again, by the connection that put them in."""
    for function in all_functions():
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
