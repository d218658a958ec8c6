"""Which SQL functions there are, and how one is put into a DuckDB instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from recall_sql.errors import ConfigError, InputError

if TYPE_CHECKING:
    import duckdb

    from recall_sql.session import Instance

Column = pa.ChunkedArray


@dataclass(frozen=True)
class SqlFunction:
    """A SQL function as the registry and the documentation see it.

    returns: a DuckDB type, in which {dimension} stands for the length of a vector. volatile: False lets the planner
    fold constant calls. run: gets the instance and the argument columns of one chunk (at most 2,048 rows), gives one
    Arrow array of as many rows.
    """

    name: str
    usage: str
    returns: str
    volatile: bool
    description: str
    run: Callable[[Instance, Sequence[Column]], pa.Array | pa.ChunkedArray]


def all_functions() -> list[SqlFunction]:
    """Every SQL function that recall_sql registers, in the order of the reference."""
    from recall_sql.functions import embed, extract_facts, generate, own, parse_facts

    return [
        embed.FUNCTION,
        generate.FUNCTION,
        extract_facts.FUNCTION,
        parse_facts.FUNCTION,
        *own.FUNCTIONS,
    ]


def install(connection: duckdb.DuckDBPyConnection, instance: Instance) -> None:
    """Registers every function in the instance of `connection`; `instance` keeps the callables alive."""
    for function in all_functions():
        call = _guarded(function, instance)
        connection.create_function(
            function.name,
            call,
            None,
            connection.type(function.returns.format(dimension=instance.dimension)),
            type="arrow",
            null_handling="special",
            side_effects=function.volatile,
        )
        instance.functions.append(call)


def _guarded(function: SqlFunction, instance: Instance) -> Callable[..., pa.Array | pa.ChunkedArray]:
    name = function.name if function.name.startswith("recall_") else function.name.upper()

    def call(*columns: Column) -> pa.Array | pa.ChunkedArray:
        try:
            return function.run(instance, columns)
        except BaseException as error:
            instance.last_error = error  # DuckDB passes on its text only
            if isinstance(error, ConfigError | InputError) and not str(error).startswith(name):
                raise type(error)(f"{name}: {error}") from error
            raise

    return call
