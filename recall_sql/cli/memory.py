"""Commands about a memory: init, import, facts, search, context, demo, doctor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import duckdb

from recall_sql.cli.frame import (
    count_progress,
    db_option,
    format_option,
    opened,
    pairs,
    step_progress,
    wide_console,
)
from recall_sql.errors import InputError
from recall_sql.runner import execute, load, render_tables

agent_option = click.option("--agent-id", metavar="ID", help="The bot.")
user_option = click.option("--user-id", metavar="ID", help="The person.")
session_option = click.option("--session-id", metavar="ID", help="The conversation.")
map_option = click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Which column holds role, content, created_at, session_id, user_id, agent_id, id or title, "
    "where it isn't called so; may be repeated.",
)
role_map_option = click.option(
    "--role-map",
    multiple=True,
    metavar="WORD=ROLE,…",
    help="Which role a speaker has: marta=user,helper=assistant. Roles: user, assistant, system, tool, document, code. "
    "Understood already: human (user); ai, bot, model, gpt (assistant); developer (system); function (tool).",
)
_TURN_COLUMNS = ["rank", "score", "user_id", "session_id", "created_at", "role", "content"]
_FACT_COLUMNS = ["rank", "score", "user_id", "session_id", "category", "fact_key", "fact_value", "confidence"]

timezone_option = click.option("--timezone", default="UTC", show_default=True, help="Of times that don't say theirs.")
skip_empty_option = click.option(
    "--skip-empty", is_flag=True, help="Leave out empty messages instead of refusing the file."
)


@click.command()
@db_option
def init(db: str) -> None:
    """Create a database with the tables, or add the tables to a database that has none."""
    from recall_sql.session import instance_of

    existed = Path(db).exists()
    with opened(db) as con:
        instance = instance_of(con)
        tables = [
            name
            for (name,) in con.execute(
                "select table_name from duckdb_tables() where database_name = ? and comment is not null order by all",
                [instance.database],
            ).fetchall()
        ]
    click.echo(
        f"{db}: {'is ready' if existed else 'created'}, with vectors of {instance.dimension} dimensions "
        f"by {instance.settings.embedder}."
    )
    click.echo(f"Tables: {', '.join(tables)}")


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@db_option
@agent_option
@user_option
@session_option
@click.option("--format", "format_", default="auto", show_default=True, help="Or jsonl, csv, parquet, openai, chatgpt.")
@map_option
@role_map_option
@timezone_option
@skip_empty_option
def import_(
    file: str,
    db: str,
    agent_id: str | None,
    user_id: str | None,
    session_id: str | None,
    format_: str,
    mapping: tuple[str, ...],
    role_map: tuple[str, ...],
    timezone: str,
    skip_empty: bool,
) -> None:
    """Add the conversations in FILE, all or nothing; a message that is there already is not added again.

    FILE is JSON Lines, CSV or Parquet (one message a row), a JSON list of OpenAI chat messages, or the
    conversations.json of a ChatGPT export. Ids given here beat those in the file; without either, the
    session is called like the file.

    \b
    recall-sql import chat.jsonl --session-id s1
    recall-sql import export.csv --map role=sender --map content=text --role-map marta=user,helper=assistant
    """
    from recall_sql.importers import import_file

    columns, roles = pairs("--map", mapping), pairs("--role-map", role_map, lists=True)
    with opened(db) as con, count_progress("messages read") as on_progress:
        result = import_file(
            con,
            file,
            format=format_,
            mapping=columns,
            role_map=roles,
            agent_id=agent_id,
            user_id=user_id,
            session_id=session_id,
            timezone=timezone,
            skip_empty=skip_empty,
            on_progress=on_progress,
        )
    click.echo(str(result))


@click.command()
@db_option
@agent_option
@user_option
@session_option
@click.option("--category", metavar="NAME", help="dietary, budget, pet …")
@click.option("--history", is_flag=True, help="How the beliefs came to be: every event, refused ones included.")
@click.option(
    "--as-of", metavar="TIME", help="What was believed at that moment (ISO 8601), by what had been recorded until then."
)
@format_option
def facts(db: str, history: bool, as_of: str | None, format_: str, **filters: str | None) -> None:
    """Show what is believed now, with --as-of what was believed then, or with --history how it came to be."""
    if history and as_of:
        raise click.UsageError("--history and --as-of don't go together.")
    recipe = load("conversation_memory/history" if history else "conversation_memory/facts")
    if as_of:
        filters["as_of"] = as_of
    with opened(db, must_exist=True, read_only=True, check_embedding=False) as con:
        result = execute(con, recipe, filters)
        first = con.execute("select min(recorded_at) from chat_fact_history").fetchall()[0][0] if as_of else None
    render_tables(result, format_, wide_console())
    if first is not None and result.tables[0].table.num_rows == 0:
        click.echo(
            f"recall-sql: --as-of goes by when a belief was recorded; the first was at {first:%Y-%m-%d %H:%M}", err=True
        )


@click.command()
@db_option
@agent_option
@user_option
@click.option("--session-id", metavar="ID", required=True, help="The conversation.")
@click.option("--query", metavar="TEXT", help="What the user asks now; what is near it comes first.")
@format_option
def context(db: str, session_id: str, query: str | None, format_: str, **scope: str | None) -> None:
    """Print what the model should read before it answers: facts, turns that matter, the last turns."""
    given = {name: value for name, value in {**scope, "query": query}.items() if value is not None}
    recipe = load("conversation_memory/context")
    with opened(db, must_exist=True, read_only=True, check_embedding=query is not None) as con:
        result = execute(con, recipe, {"session_id": session_id, **given})
        text = result.tables[0].table.column("context")[0].as_py()
        if not text:
            raise InputError(_unknown_session(con, session_id))
    if format_ == "table":
        click.echo(text)
    else:
        render_tables(result, format_, wide_console())


def _unknown_session(con: duckdb.DuckDBPyConnection, session_id: str) -> str:
    found = con.execute(
        "select user_id, session_id from chat_threads order by session_id = ? desc, created_at desc limit 8",
        [session_id],
    ).fetchall()
    known = ", ".join(f"{session!r} of user {user!r}" for user, session in found)
    return f"nothing is known of the session {session_id!r} of that user; there are: {known or 'none'}"


@click.command()
@click.option("--db", default="demo.duckdb", show_default=True, metavar="FILE", help="Made anew on every run.")
def demo(db: str) -> None:
    """Run the whole pipeline on an example conversation and show what comes of it."""
    from recall_sql.demo import run_demo

    console = wide_console()
    run_demo(db, say=click.echo, show=lambda result: render_tables(result, "table", console), progress=step_progress)


@click.command()
@click.option("--db", metavar="FILE", envvar="RECALL_DB", help="Say what is in this database, too.")
def doctor(db: str | None) -> None:
    """Say what is installed, which model each function will use, and what is set, in plain words."""
    from recall_sql.doctor import examine, examine_database

    for section in examine():
        _print_section(*section)
    if db is not None:
        _print_section(*examine_database(db))


def _print_section(title: str, rows: list[tuple[str, str]]) -> None:
    click.secho(title, bold=True)
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        click.echo(f"  {name:<{width}}  {value}".rstrip())
    click.echo()


@click.command()
@click.argument("query")
@db_option
@agent_option
@user_option
@session_option
@click.option("-k", type=click.IntRange(1), default=10, show_default=True, help="How many.")
@click.option("--facts", "among_facts", is_flag=True, help="Search facts, not turns.")
@format_option
def search(query: str, db: str, k: int, among_facts: bool, format_: str, **scope: str | None) -> None:
    """Find the turns (or facts) nearest to QUERY, by words and by meaning; of everybody, unless a person is named.

    \b
    recall-sql search "what did I say about trains?" --user-id lena
    recall-sql search budget --facts
    """
    given = {name: value for name, value in scope.items() if value is not None}
    given |= {"query": query, "k": k, "of": "chat_facts" if among_facts else "chat_turns"}
    with opened(db, must_exist=True, read_only=True) as con:
        result = execute(con, load("search/find"), given)
    (found,) = result.tables
    shown = _FACT_COLUMNS if among_facts else _TURN_COLUMNS
    render_tables(replace(result, tables=(replace(found, table=found.table.select(shown)),)), format_, wide_console())


COMMANDS = (init, import_, facts, search, context, demo, doctor)
