"""Conversations from files into `chat_turns`: JSON Lines, CSV, Parquet, OpenAI chat messages, a ChatGPT export.

    from recall_sql.importers import import_file
    import_file(con, "chat.jsonl", session_id="s1")

Finds out what a file is and hands it to the module of that format; `landing.py` writes. Facts are not looked for here:
that is what the recipes of conversation_memory do afterwards.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb

from recall_sql.errors import InputError
from recall_sql.importers import chatgpt, openai_chat, tabular
from recall_sql.importers.fields import Columns, Row, Skipped, role_names
from recall_sql.importers.landing import ImportResult, Landing, Progress, Scope

__all__ = ["FORMATS", "ImportResult", "import_file"]

FORMATS = ("jsonl", "csv", "parquet", "openai", "chatgpt")
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
# Their messages stand in the order they were said; rows of a table may not.
_IN_ORDER = ("openai", "chatgpt")


def import_file(
    con: duckdb.DuckDBPyConnection,
    path: str | os.PathLike[str],
    *,
    format: str = "auto",
    mapping: Mapping[str, str] | None = None,
    role_map: Mapping[str, str] | None = None,
    agent_id: str | None = None,
    user_id: str | None = None,
    session_id: str | None = None,
    timezone: str = "UTC",
    skip_empty: bool = False,
    on_progress: Progress | None = None,
) -> ImportResult:
    """Adds the messages of a file to chat_turns, all of them or none; those that are there already are left alone.

    mapping: our field → the file's column, for JSONL, CSV, Parquet and lists of messages (fields: see `fields.FIELDS`).
    role_map: a speaker in the file → role. agent_id, user_id, session_id: beat what the file says; where neither says
    it, 'default', 'default' and the file's name without its suffix. timezone: of times without an offset.
    skip_empty: leave out messages without words instead of refusing the file.

    Raises InputError that names the line, or the place in the file, and what to do.
    """
    file = _checked(Path(path))
    kind = _detect(file) if format == "auto" else format
    if kind not in FORMATS:
        raise InputError(f"unknown format {kind!r}; there are auto, {', '.join(FORMATS)}")
    columns = Columns(mapping or {})
    if kind == "chatgpt" and mapping:
        raise InputError("a ChatGPT export has no columns to map; leave out --map")
    skipped = Skipped()
    scope = Scope(agent_id, user_id, session_id, default_session=file.stem)
    landing = Landing(con, file.name, scope, role_names(role_map or {}), timezone, skip_empty, kind in _IN_ORDER)
    try:
        if kind == "parquet":
            landing.fill_from_query(*tabular.parquet_query(con, file, columns))
        else:
            landing.fill(_rows(kind, file, columns, skipped), on_progress)
        return landing.land(skipped)
    finally:
        landing.clear()


def _rows(kind: str, file: Path, columns: Columns, skipped: Skipped) -> Iterator[Row]:
    if kind == "csv":
        return tabular.csv_rows(file, columns)
    if kind == "jsonl":
        return tabular.jsonl_rows(file, columns, skipped)
    if kind == "openai":
        return openai_chat.rows(file, columns, skipped)
    return chatgpt.rows(file, skipped)


def _checked(file: Path) -> Path:
    if file.is_dir():
        raise InputError(f"{file} is a directory; name a file in it")
    if not file.exists():
        raise InputError(f"there is no file {file}")
    if file.stat().st_size == 0:
        raise InputError(f"{file} is empty")
    return file


def _detect(file: Path) -> str:
    """The format, by the file's suffix; of a .json file by how it begins."""
    suffix = file.suffix.lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if suffix == ".json":
        return _detect_json(file)
    raise InputError(f"{file.name}: its name doesn't tell what it is; say --format {'|'.join(FORMATS)}")


def _detect_json(file: Path) -> str:
    """By the keys it begins with. Inside JSON text a quote is escaped, so that `"mapping":` can only be a key."""
    with file.open("rb") as stream:
        beginning = stream.read(65536).removeprefix(b"\xef\xbb\xbf").lstrip()
    if beginning.startswith(b"{") and not re.search(rb'"messages"\s*:', beginning):
        return "jsonl"
    return "chatgpt" if re.search(rb'"mapping"\s*:\s*\{', beginning) else "openai"
