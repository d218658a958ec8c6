"""Commands about records: schema add, schema list, process, ask."""

from __future__ import annotations

import json
from pathlib import Path

import click

from recall_sql.cli.frame import db_option, format_option, opened, wide_console
from recall_sql.errors import InputError

user_option = click.option(
    "--user-id", required=True, envvar="RECALL_USER", show_envvar=True, metavar="ID", help="The person."
)
zone_option = click.option(
    "--timezone", metavar="ZONE", help="Where the person is, for example Europe/Berlin; UTC if not given."
)
model_option = click.option(
    "--model", metavar="MODEL", help="Who reads: rules or a model string; the setting extractor, if not given."
)


@click.group()
def schema() -> None:
    """Kinds of record: what can be said and asked about."""


@schema.command("add")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@db_option
def schema_add(files: tuple[Path, ...], db: str) -> None:
    """Declare kinds of record from JSON files, and make or migrate their tables.

    \b
    A file holds {"name": "payments", "description": "…", "schema": {a JSON Schema}}.
    """
    from recall_sql.records.schemas import from_json
    from recall_sql.records.tables import declare

    read = []
    for file in files:  # all of them, before anything is declared
        try:
            read.append((file, from_json(file.read_text("utf-8"))))
        except InputError as error:
            raise InputError(f"{file}: {error}") from error
    with opened(db) as con:
        for file, found in read:
            try:
                done = declare(con, found)
            except InputError as error:
                raise InputError(f"{file}: {error}") from error
            click.echo(f"{found.name}: {done}, with {', '.join(found.names)}")


@schema.command("list")
@db_option
def schema_list(db: str) -> None:
    """Show the kinds of record and their fields."""
    from rich.table import Table

    from recall_sql.records import Records

    table = Table("kind", "field", "type", "required", "description", box=None)
    with opened(db, must_exist=True) as con:
        for found in Records(con).schemas():
            table.add_row(found.name, "", "", "", found.description)
            for field in found.fields:
                table.add_row("", field.name, field.sql_type, "yes" if field.required else "", field.description)
    wide_console().print(table)


@click.command()
@click.argument("message", required=False)
@db_option
@click.option(
    "--user-id", envvar="RECALL_USER", show_envvar=True, metavar="ID", help="The person; with a message it is needed."
)
@zone_option
@model_option
@click.option("--dry-run", is_flag=True, help="With a message: say what it would do.")
@format_option
def process(
    message: str | None,
    db: str,
    user_id: str | None,
    timezone: str | None,
    model: str | None,
    dry_run: bool,
    format_: str,
) -> None:
    """Do what MESSAGE says; without one, what every waiting message of record_messages says."""
    from recall_sql.records import Records
    from recall_sql.records.intents import as_json
    from recall_sql.runner import execute, load, render_tables

    with opened(db, must_exist=True) as con:
        records = Records(con)
        if message is not None:
            done = records.process(message, user_id or "", timezone=timezone, model=model, dry_run=dry_run)
            click.echo(json.dumps(json.loads(as_json(done) or "{}"), ensure_ascii=False, indent=2))
            return
        values = {
            "schemas": [found.name for found in records.schemas()],
            "user_id": user_id or None,
            "timezone": timezone,
            "model": model,
        }
        result = execute(con, load("structured_records/process"), values)
        click.echo(render_tables(result, format=format_))


@click.command()
@click.argument("question")
@db_option
@user_option
@zone_option
@model_option
@click.option("--sql", "show_sql", is_flag=True, help="Show the SQL, too.")
def ask(question: str, db: str, user_id: str, timezone: str | None, model: str | None, show_sql: bool) -> None:
    """Answer a QUESTION about one person's records."""
    from recall_sql.records import Records

    with opened(db, must_exist=True) as con:
        found = Records(con).query(question, user_id, timezone=timezone, model=model)
    if show_sql and found["sql"]:
        click.echo(found["sql"], err=True)
    if "error" in found:
        raise InputError(found["error"])
    _show(found["result"])


def _show(result: object) -> None:
    if not isinstance(result, list):
        click.echo("" if result is None else str(result))
        return
    from rich.table import Table

    rows = [row for row in result if isinstance(row, dict)]
    table = Table(*(rows[0] if rows else ()), box=None)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    wide_console().print(table if rows else "no records")


COMMANDS = [schema, process, ask]
