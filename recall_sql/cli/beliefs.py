"""Commands about single beliefs and about a person's rights: remember, why, forget, export, compact."""

from __future__ import annotations

import json
from datetime import datetime

import click

from recall_sql.cli.frame import db_option, format_option, opened, wide_console
from recall_sql.errors import InputError
from recall_sql.runner import load, render_tables

agent_option = click.option("--agent-id", metavar="ID", default="default", show_default=True, help="The bot.")
user_option = click.option("--user-id", metavar="ID", default="default", show_default=True, help="The person.")
KINDS = click.Choice(["KNOWLEDGE", "RULE", "PREFERENCE"], case_sensitive=False)
SOURCES = click.Choice(["SYSTEM", "USER", "AGENT", "TOOL", "DOCUMENT", "CODE"], case_sensitive=False)


@click.command()
@click.argument("value")
@db_option
@agent_option
@user_option
@click.option(
    "--session-id", metavar="ID", default="", help="The conversation it holds for; all of them, if not given."
)
@click.option("--category", metavar="NAME", default="note", show_default=True, help="dietary, budget, pet …")
@click.option("--key", "fact_key", metavar="NAME", help="The attribute; made from the words, if not given.")
@click.option("--kind", type=KINDS, default="KNOWLEDGE", show_default=True, help="RULE is always in the context.")
@click.option("--source", type=SOURCES, default="USER", show_default=True, help="Who says so.")
def remember(db: str, agent_id: str, user_id: str, value: str, kind: str, source: str, **more: str | None) -> None:
    """Write the fact VALUE down word for word; refused where a more trusted source has spoken."""
    from recall_sql.memory import Memory

    with opened(db) as con:
        memory = Memory(con, agent_id=agent_id, user_id=user_id)
        kept = memory.remember(value, kind=kind.upper(), source=source.upper(), **more)
    click.echo(f"{kept['category']}.{kept['fact_key']} = {kept['fact_value']} ({str(kept['fact_id'])[:8]})")


@click.command()
@click.argument("fact")
@db_option
@click.option("--agent-id", metavar="ID", help="The bot.")
@click.option("--user-id", metavar="ID", help="The person.")
@format_option
def why(db: str, fact: str, format_: str, **scope: str | None) -> None:
    """Show why FACT is believed: the belief, the events that made it, the turns they come from.

    FACT is a fact_id, its first eight letters, or category.key.
    """
    from recall_sql.runner import execute

    given = {name: value for name, value in scope.items() if value is not None}
    with opened(db, must_exist=True, read_only=True, check_embedding=False) as con:
        result = execute(con, load("beliefs/why"), {"fact": fact, **given})
    render_tables(result, format_, wide_console())


@click.command()
@db_option
@click.option("--user-id", metavar="ID", help="Everything about this person.")
@click.option("--agent-id", metavar="ID", help="Everything of this bot.")
@click.option("--session-id", metavar="ID", help="Everything from this conversation.")
@click.option("--fact", metavar="FACT", help="A fact_id, its first eight letters, or (with --user-id) category.key.")
@click.option("--before", metavar="TIME", help="What was said before, in ISO 8601.")
@click.option("--with-turns", is_flag=True, help="With --fact: the turns that state it, too.")
@click.option("--compact/--no-compact", "then_compact", default=True, show_default=True, help="Clear freed blocks too.")
@click.option("--yes", is_flag=True, help="Don't ask.")
def forget(db: str, before: str | None, with_turns: bool, then_compact: bool, yes: bool, **named: str | None) -> None:
    """Erase a person, a bot's memory, a conversation, a fact, or what is older than a moment, from the file too."""
    from recall_sql.memory import compact, forget_person, run

    given: dict[str, object] = {name: value for name, value in named.items() if value is not None}
    if before is not None:
        given["before"] = _moment("--before", before)
    if not given:
        raise click.UsageError("Name what to forget: --user-id, --agent-id, --session-id, --fact or --before.")
    if not yes:
        click.confirm(f"Erase {', '.join(f'{name} {value}' for name, value in given.items())} from {db}?", abort=True)
    with opened(db, must_exist=True, check_embedding=False) as con:
        if set(given) == {"user_id"}:
            gone = forget_person(con, str(given["user_id"]))
        else:
            gone = run(con, "beliefs/forget", **given, with_turns=with_turns).tables[0].table.to_pylist()[0]
        if not any(gone.values()):
            whose = ", ".join(f"{name} {value}" for name, value in given.items())
            raise InputError(f"there is nothing to forget of {whose} in {db}")
    click.echo("Forgotten: " + ", ".join(f"{count} {what}" for what, count in gone.items()))
    if named["fact"] is not None and not with_turns:
        click.echo("The turns that state it stay; --with-turns erases them, too", err=True)
    if then_compact:
        compact(db)


@click.command()
@db_option
@click.option("--user-id", metavar="ID", required=True, help="The person.")
def export(db: str, user_id: str) -> None:
    """Print everything held about one person, as JSON."""
    from recall_sql.memory import Memory

    with opened(db, must_exist=True, read_only=True, check_embedding=False) as con:
        held = Memory(con, user_id=user_id).export()
    click.echo(json.dumps(held, ensure_ascii=False, indent=2))


@click.command()
@db_option
def compact(db: str) -> None:
    """Write the file anew without what deleting left in it. Nobody else may have it open."""
    from recall_sql.memory import compact as rewrite

    click.echo(f"{db}: {rewrite(db):,} bytes gained")


def _moment(option: str, text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{option}: {text!r} isn't a time like 2026-03-01T12:00:00+00:00") from error
    return moment if moment.tzinfo else moment.astimezone()


COMMANDS = (remember, why, forget, export, compact)
