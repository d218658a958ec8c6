"""What SQLAlchemy's inspector sees: tables, columns, keys and comments, from DuckDB's own catalog functions.

The dialect of duckdb-engine asks PostgreSQL's catalog tables instead, which SQLAlchemy 2.1 queries in a way that DuckDB
doesn't answer. This module knows nothing of connections and pools.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import text, types
from sqlalchemy.engine import Connection
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.exc import NoSuchTableError


class Vector(types.UserDefinedType):
    """A column of vectors: `Vector(384)` is FLOAT[384]; values are lists or tuples of floats."""

    cache_ok = True

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    def get_col_spec(self, **_: Any) -> str:
        """The type in DDL."""
        return f"FLOAT[{self.dimension}]"


class DuckDBType(types.UserDefinedType):
    """A type that SQLAlchemy has no word for, as DuckDB spells it: `STRUCT(a INTEGER)`, `VARCHAR[]`."""

    cache_ok = True

    def __init__(self, spelled: str) -> None:
        self.spelled = spelled

    def get_col_spec(self, **_: Any) -> str:
        """The type in DDL."""
        return self.spelled


_TYPES: dict[str, type[types.TypeEngine[Any]]] = {
    "BLOB": types.LargeBinary,
    "DOUBLE": types.DOUBLE,
    "FLOAT": types.REAL,
    "JSON": types.JSON,
    "TIMESTAMP": types.TIMESTAMP,
    "TIME": types.TIME,
    "UUID": types.UUID,
    "VARCHAR": types.VARCHAR,
}

_WHERE_SCHEMA = "database_name = coalesce(:db, current_database()) and schema_name = :scm"
# a temporary table hides one of the same name
_WHERE = f"table_name = :tbl and (database_name = 'temp' or {_WHERE_SCHEMA})"


class CatalogReflection:
    """The reflection methods of a dialect."""

    get_multi_columns = DefaultDialect.get_multi_columns
    get_multi_pk_constraint = DefaultDialect.get_multi_pk_constraint
    get_multi_foreign_keys = DefaultDialect.get_multi_foreign_keys
    get_multi_unique_constraints = DefaultDialect.get_multi_unique_constraints
    get_multi_check_constraints = DefaultDialect.get_multi_check_constraints
    get_multi_indexes = DefaultDialect.get_multi_indexes
    get_multi_table_comment = DefaultDialect.get_multi_table_comment
    get_multi_table_options = DefaultDialect.get_multi_table_options

    def get_schema_names(self, connection: Connection, **_: Any) -> list[str]:
        """Schemas of the database; those of others that are attached as `database.schema`."""
        rows = connection.execute(
            text(
                "select if(database_name = current_database(), schema_name, database_name || '.' || schema_name)"
                " from duckdb_schemas() where schema_name not in ('information_schema', 'pg_catalog')"
                " and database_name not in ('system', 'temp') order by all"
            )
        )
        return list(rows.scalars())

    def get_table_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """Tables of a schema, in alphabetical order."""
        return self._names(connection, "duckdb_tables()", "table_name", schema)

    def get_view_names(
        self, connection: Connection, schema: str | None = None, include: Any = None, **_: Any
    ) -> list[str]:
        """Views of a schema, in alphabetical order."""
        return self._names(connection, "duckdb_views()", "view_name", schema)

    def get_temp_table_names(self, connection: Connection, **_: Any) -> list[str]:
        """Temporary tables of this connection."""
        return list(connection.execute(text("select table_name from duckdb_tables() where temporary")).scalars())

    def get_sequence_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """Sequences of a schema."""
        return self._names(connection, "duckdb_sequences()", "sequence_name", schema)

    def get_materialized_view_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """None: DuckDB has no such thing."""
        return []

    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> bool:
        """Whether there is a table or view of that name."""
        found = connection.execute(
            text(f"select 1 from duckdb_columns() where {_WHERE} limit 1"), self._place(schema, table_name)
        )
        return found.first() is not None

    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        """Name, type, nullability, default and comment of every column."""
        rows = connection.execute(
            text(
                "select column_name, data_type, is_nullable, column_default, comment"
                f" from duckdb_columns() where {_WHERE} order by column_index"
            ),
            self._place(schema, table_name),
        ).all()
        if not rows:
            raise NoSuchTableError(table_name)
        return [
            {
                "name": name,
                "type": self._type(kind),
                "nullable": nullable,
                "default": default,
                "autoincrement": False,
                "comment": comment,
            }
            for name, kind, nullable, default, comment in rows
        ]

    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> dict[str, Any]:
        """The primary key's columns, in its order."""
        for row in self._constraints(connection, table_name, schema, "PRIMARY KEY"):
            return {"constrained_columns": row.constraint_column_names, "name": row.constraint_name}
        return {"constrained_columns": [], "name": None}

    def get_unique_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        """Unique constraints other than the primary key."""
        rows = self._constraints(connection, table_name, schema, "UNIQUE")
        return [{"name": row.constraint_name, "column_names": row.constraint_column_names} for row in rows]

    def get_check_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        """Check constraints, as SQL."""
        rows = self._constraints(connection, table_name, schema, "CHECK")
        return [{"name": row.constraint_name, "sqltext": row.expression} for row in rows]

    def get_foreign_keys(
        self,
        connection: Connection,
        table_name: str,
        schema: str | None = None,
        postgresql_ignore_search_path: bool = False,
        **_: Any,
    ) -> list[dict[str, Any]]:
        """Foreign keys: columns here, table and columns there."""
        return [
            {
                "name": row.constraint_name,
                "constrained_columns": row.constraint_column_names,
                "referred_schema": schema,
                "referred_table": row.referenced_table,
                "referred_columns": row.referenced_column_names,
                "options": {},
            }
            for row in self._constraints(connection, table_name, schema, "FOREIGN KEY")
        ]

    def get_indexes(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        """Indexes on plain columns. Those that constraints imply are not among them."""
        rows = connection.execute(
            text(f"select index_name, is_unique, expressions from duckdb_indexes() where {_WHERE} order by index_name"),
            self._place(schema, table_name),
        )
        return [
            {"name": name, "unique": unique, "column_names": _index_columns(expressions)}
            for name, unique, expressions in rows
        ]

    def get_table_comment(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> dict[str, str | None]:
        """The comment on a table or view."""
        for catalog, name in (("duckdb_tables()", "table_name"), ("duckdb_views()", "view_name")):
            row = connection.execute(
                text(f"select comment from {catalog} where {_WHERE.replace('table_name =', f'{name} =')}"),
                self._place(schema, table_name),
            ).first()
            if row is not None:
                return {"text": row[0]}
        raise NoSuchTableError(table_name)

    def get_view_definition(
        self, connection: Connection, view_name: str, schema: str | None = None, **_: Any
    ) -> str | None:
        """The SQL of a view."""
        return connection.execute(
            text(f"select sql from duckdb_views() where {_WHERE.replace('table_name =', 'view_name =')}"),
            self._place(schema, view_name),
        ).scalar()

    def get_table_options(self, connection: Connection, table_name: str, **_: Any) -> dict[str, Any]:
        """None: DuckDB's tables have no options."""
        return {}

    def _names(self, connection: Connection, catalog: str, column: str, schema: str | None) -> list[str]:
        place = self._place(schema, "")
        del place["tbl"]
        return list(
            connection.execute(
                text(f"select {column} from {catalog} where not temporary and {_WHERE_SCHEMA} order by all"),
                place,
            ).scalars()
        )

    def _constraints(self, connection: Connection, table_name: str, schema: str | None, kind: str) -> Sequence[Any]:
        if not self.has_table(connection, table_name, schema):
            raise NoSuchTableError(table_name)
        return connection.execute(
            text(
                "select constraint_name, constraint_column_names, expression, referenced_table, referenced_column_names"
                f" from duckdb_constraints() where {_WHERE} and constraint_type = :kind order by constraint_index"
            ),
            {**self._place(schema, table_name), "kind": kind},
        ).all()

    def _place(self, schema: str | None, table: str) -> dict[str, str | None]:
        database, name = self.identifier_preparer._separate(schema) if schema else (None, None)
        return {"db": database, "scm": name or "main", "tbl": table}

    def _type(self, spelled: str) -> types.TypeEngine[Any]:
        vector = re.fullmatch(r"FLOAT\[(\d+)\]", spelled)
        if vector:
            return Vector(int(vector[1]))
        decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", spelled)
        if decimal:
            return types.NUMERIC(int(decimal[1]), int(decimal[2]))
        if spelled in ("TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE"):
            return (types.TIMESTAMP if spelled.startswith("TIMESTAMP") else types.TIME)(timezone=True)
        found = _TYPES.get(spelled) or self.ischema_names.get(spelled.lower())
        return found() if found else DuckDBType(spelled)


def _index_columns(expressions: str) -> list[str | None]:
    """The columns of `[a, '"b c"']`; None stands for an expression, as SQLAlchemy wants it."""
    names = [part.strip().strip("'").strip('"') for part in expressions.strip("[]").split(",")]
    return [name if re.fullmatch(r"\w[\w ]*", name) else None for name in names]
