"""The command index: what speeds search up."""

from __future__ import annotations

import click

from recall_sql.cli.frame import db_option, opened


@click.command()
@click.argument("table", default="chat_turns")
@db_option
@click.option(
    "--at-least",
    type=click.IntRange(0),
    default=20_000,
    show_default=True,
    metavar="N",
    help="Give bits to tables with so many vectors.",
)
@click.option("--verify", is_flag=True, help="Compare the bits that are there with their vectors, too.")
@click.option("--hnsw", is_flag=True, help="Build an HNSW index on chat_turns; needs DuckDB's extension vss. Slow.")
@click.option("--drop-hnsw", is_flag=True, help="Remove it.")
def index(table: str, db: str, at_least: int, verify: bool, hnsw: bool, drop_hnsw: bool) -> None:
    """Bring the search tables up to date. Search is right without them, and faster with them.

    \b
    recall-sql index                       the words of new turns; bits for the vectors of a large memory
    recall-sql index docs --at-least 0     bits for a table of yours with turn_id and embedding
    recall-sql index --hnsw                an HNSW index, for hnsw_search()
    """
    from recall_sql import indexing

    if (hnsw or drop_hnsw) and table != "chat_turns":
        raise click.UsageError("the HNSW index is one on chat_turns")
    if hnsw and drop_hnsw:
        raise click.UsageError("--hnsw or --drop-hnsw, not both")
    with opened(db, must_exist=True) as con:
        for name, count in indexing.index(con, table, at_least=at_least, verify=verify).items():
            click.echo(f"{name.replace('_', ' ')}: {count:,}")
        if hnsw:
            indexing.build_hnsw(con)
            click.echo("HNSW index built: from hnsw_search('…')")
        if drop_hnsw:
            click.echo("HNSW index removed" if indexing.drop_hnsw(con) else "there was no HNSW index")


COMMANDS = (index,)
