"""The table of a schema: created, migrated where that loses nothing, refused with a plan where it would.

Responsible for DDL and for the catalogue `recall_schemas`. Rows are store.py's and the recipes' business.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import duckdb

from recall_sql import resources
from recall_sql.errors import InputError
from recall_sql.instance import settle
from recall_sql.records.schemas import RecordField, Schema, from_json
from recall_sql.runner.execute import in_transaction


def quoted(name: str) -> str:
    """A SQL identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A SQL string in single quotes, for DDL, which takes no parameters."""
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All or nothing; joins the transaction the caller is in."""
    if in_transaction(con):
        yield
        return
    con.execute("begin transaction")
    try:
        yield
        con.execute("commit")
    except BaseException:
        with suppress(duckdb.TransactionException):  # a conflict has ended it already
            con.execute("rollback")
        raise


def ensure_catalogue(con: duckdb.DuckDBPyConnection) -> None:
    """Creates recall_schemas and its neighbours where an older database lacks them."""
    if not _exists(con, "recall_schemas"):
        con.execute((resources.sql_dir() / "schema" / "06_records.sql").read_text("utf-8"))


def load_all(con: duckdb.DuckDBPyConnection) -> list[Schema]:
    """Every declared schema, by name. Empty in a database that has never had one."""
    if not _exists(con, "recall_schemas"):
        return []
    rows = con.execute("select definition from recall_schemas order by name").fetchall()
    return [from_json(text) for (text,) in rows]


def declare(con: duckdb.DuckDBPyConnection, schema: Schema) -> str:
    """Creates or migrates the table of `schema` and writes it into the catalogue: 'created', 'migrated' or 'unchanged'.

    Raises InputError with a plan where a change would lose or invent values.
    """
    ensure_catalogue(con)
    known = {old.name.lower(): old for old in load_all(con)}
    old = known.get(schema.name.lower())
    with transaction(con):
        if old is None:
            _create(con, schema)
        elif old.as_json() == schema.as_json():
            return "unchanged"
        else:
            _migrate(con, old, schema)
        _comment(con, schema)
        con.execute(
            """
            insert into recall_schemas (name, description, definition) values ($name, $description, $definition)
            on conflict (name) do update set description = excluded.description, definition = excluded.definition,
                version = recall_schemas.version + 1, updated_at = now()
            """,
            {"name": schema.name, "description": schema.description, "definition": schema.as_json()},
        )
    if not in_transaction(con):
        settle(con)
    return "created" if old is None else "migrated"


def _exists(con: duckdb.DuckDBPyConnection, table: str) -> bool:
    found = con.execute(
        """
        select 1 from duckdb_tables() where lower(table_name) = lower($1) and database_name = current_database()
        union all
        select 1 from duckdb_views() where lower(view_name) = lower($1) and database_name = current_database()
        """,
        [table],
    ).fetchone()
    return found is not None


def _create(con: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    if _exists(con, schema.name):
        raise InputError(f"there is a table or view '{schema.name}' already, give the schema another name")
    columns = [
        f"    {quoted(spec.name)} {spec.sql_type}{' not null' if spec.required else ''}" for spec in schema.fields
    ]
    con.execute(
        f"create table {quoted(schema.name)} (\n"
        "    id uuid primary key default uuid(),\n"
        "    user_id varchar not null check (user_id <> ''),\n"
        + ",\n".join(columns)
        + ",\n    created_at timestamptz not null default current_timestamp,"
        "\n    updated_at timestamptz not null default current_timestamp\n)"
    )


def _migrate(con: duckdb.DuckDBPyConnection, old: Schema, new: Schema) -> None:
    if old.name != new.name:
        raise InputError(f"schema '{new.name}' is declared as '{old.name}' already; names differ in more than case")
    before, after = {spec.name: spec for spec in old.fields}, {spec.name: spec for spec in new.fields}
    plan = [
        f"field '{name}' is gone: keep it as an optional one, or first {_drop(new, name)}"
        for name in before
        if name not in after
    ]
    steps: list[str] = []
    table = quoted(new.name)
    for name, spec in after.items():
        if name not in before:
            steps.append(f"alter table {table} add column {quoted(name)} {spec.sql_type}")
            if spec.required:
                plan.append(
                    f"field '{name}' is new and required, and the rows there are have no value for it: make it optional"
                )
            continue
        plan += _changed(before[name], spec, new, steps)
    if plan:
        raise InputError(
            f"schema '{new.name}' can't be changed like that. " + "; ".join(plan) + ". Or declare it under a new name."
        )
    for step in steps:
        con.execute(step)


def _changed(before: RecordField, after: RecordField, schema: Schema, steps: list[str]) -> list[str]:
    """What stands in the way of a changed field; what can be done is added to `steps`."""
    table, column = quoted(schema.name), quoted(after.name)
    if before.sql_type != after.sql_type:
        widened = before.kind == after.kind == "enum" and set(before.choices) <= set(after.choices)
        if not widened:
            return [
                f"field '{after.name}' would become {after.sql_type} and is {before.sql_type}: add an optional field "
                f"of the new type, then update {table} set new_field = try_cast({column} as {after.sql_type})"
            ]
        steps.append(f"alter table {table} alter {column} type {after.sql_type}")
    if after.required and not before.required:
        return [f"field '{after.name}' would become required: leave it optional"]
    if before.required and not after.required:
        steps.append(f"alter table {table} alter {column} drop not null")
    return []


def _drop(schema: Schema, name: str) -> str:
    return f"alter table {quoted(schema.name)} drop column {quoted(name)}"


def _comment(con: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    table = quoted(schema.name)
    con.execute(f"comment on table {table} is {literal(schema.description)}")
    described = {
        "id": "Identifies the record.",
        "user_id": "Whose record it is.",
        "created_at": "When it was written.",
        "updated_at": "When it was last changed.",
    }
    described |= {spec.name: spec.description for spec in schema.fields if spec.description}
    for name, text in described.items():
        con.execute(f"comment on column {table}.{quoted(name)} is {literal(text)}")
