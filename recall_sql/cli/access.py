"""Commands about who may use a memory through a server: keys add, keys list, keys revoke."""

from __future__ import annotations

import click

from recall_sql.cli.frame import db_option, opened, wide_console


@click.group("keys")
def keys_() -> None:
    """Keys for the servers: who may read, write or administer which agent's memory."""


@keys_.command("add")
@db_option
@click.option("--agent", "agent_id", required=True, metavar="ID", help="The bot whose memory the key opens.")
@click.option("--user", "user_id", metavar="ID", help="The one person it opens; every person of the bot, if not given.")
@click.option("--role", type=click.Choice(["reader", "writer", "admin"]), default="reader", show_default=True)
@click.option("--label", metavar="TEXT", help="What the key is for.")
def add(db: str, agent_id: str, user_id: str | None, role: str, label: str | None) -> None:
    """Make a key and print it; it can't be shown again.

    \b
    recall-sql keys add --agent a1 --role writer
    """
    from recall_sql.access import add_key

    with opened(db, must_exist=True) as con:
        secret, key = add_key(con, agent_id=agent_id, user_id=user_id, role=role, label=label)
    click.echo(secret)
    whose = f"agent {key.agent_id}, {f'user {key.user_id}' if key.user_id else 'every user'}"
    click.echo(f"Key {key.key_id}: {key.role} of {whose}. Keep it; only its hash is stored.", err=True)


@keys_.command("list")
@db_option
def list_(db: str) -> None:
    """Show the keys there are, without their secrets."""
    from rich.table import Table

    from recall_sql.access import keys

    table = Table("key", "agent", "user", "role", "label", "created", "revoked", box=None)
    with opened(db, must_exist=True, read_only=True, check_embedding=False) as con:
        for key in keys(con):
            times = (f"{at:%Y-%m-%d %H:%M}" if at else "" for at in (key.created_at, key.revoked_at))
            table.add_row(key.key_id, key.agent_id, key.user_id or "(every)", key.role, key.label or "", *times)
    wide_console().print(table)


@keys_.command("revoke")
@click.argument("key_id")
@db_option
def revoke(key_id: str, db: str) -> None:
    """From now on the key KEY_ID opens nothing."""
    from recall_sql.access import revoke_key

    with opened(db, must_exist=True) as con:
        key = revoke_key(con, key_id)
    click.echo(f"Key {key.key_id} is revoked.")


COMMANDS = (keys_,)
