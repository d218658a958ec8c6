"""What a backfill reads: the files behind a path or pattern, their format, and one SQL query over all of them.

DuckDB reads, so a path may be anything it can open, and memory doesn't depend on the size of the files. Rows come out
as text, in the order of the files; what is wrong with a row is said in a column and decided elsewhere.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from recall_sql import extensions
from recall_sql.errors import InputError
from recall_sql.importers.fields import FIELDS, Columns
from recall_sql.importers.tabular import literal_path
from recall_sql.session import quoted

FORMATS = ("parquet", "jsonl", "csv")
_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
}
_BY_HTTPFS = ("http", "https", "s3", "gs", "gcs", "r2", "hf")
_COMPRESSED = (".gz", ".zst")
_DELIMITERS = ",;\t|"
_SAMPLE = 2048  # JSON rows whose keys are looked at
_LONGEST = 2**24  # bytes of one JSON row; DuckDB sets aside twice as much per thread


@dataclass(frozen=True)
class Source:
    """Files of one format. fingerprint: changes when a file is added, removed or written anew."""

    name: str
    format: str
    files: tuple[str, ...]
    size: int
    fingerprint: str


def find(con: duckdb.DuckDBPyConnection, source: str, format: str = "auto") -> Source:
    """The files that `source` (a file, a pattern, a directory, or an address that DuckDB can read) means.

    Raises InputError where there are none, or where they aren't of one format that is known; ConfigError for an address
    where DuckDB's extension httpfs, which is loaded here, isn't to be had.
    """
    if format not in ("auto", *FORMATS):
        raise InputError(f"unknown format {format!r}; there are auto, {', '.join(FORMATS)}")
    patterns = _patterns(source, format)
    if source.partition("://")[0].lower() in _BY_HTTPFS:
        extensions.load(con, "httpfs")
    try:
        found = con.execute(
            "select filename, size, last_modified::varchar from read_blob($1) order by filename", [patterns]
        ).fetchall()
    except duckdb.Error as error:
        raise InputError(f"{source} can't be read: {' '.join(str(error).split())}") from error
    if not found:
        raise InputError(f"there is no file {source}")
    files = [(name, size, changed) for name, size, changed in found if size]
    if not files:
        raise InputError(f"{source}: {'the file is' if len(found) == 1 else 'all files are'} empty")
    kind = _format_of([name for name, *_ in files]) if format == "auto" else format
    fingerprint = hashlib.blake2b(repr(files).encode(), digest_size=16).hexdigest()
    return Source(source, kind, tuple(name for name, *_ in files), sum(size for _, size, _ in files), fingerprint)


def _patterns(source: str, format: str) -> list[str]:
    path = Path(source).expanduser()
    if path.is_file():
        return [literal_path(path)]
    if not path.is_dir():
        return [str(path) if source.startswith("~") else source]
    inside = _inside(path)
    wanted = {kind: found for kind, found in inside.items() if format in ("auto", kind)}
    if not wanted:
        raise InputError(
            f"{source} is a directory without Parquet, JSONL or CSV files; name a pattern, such as {path}/*"
        )
    if len(wanted) > 1:
        raise InputError(f"{source} holds {' and '.join(wanted)} files; say which: --format {'|'.join(wanted)}")
    return next(iter(wanted.values()))


def _inside(folder: Path) -> dict[str, list[str]]:
    """By format, the files in a directory and those below it."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        kind = _kind(path.name)
        if kind and path.is_file() and not path.name.startswith((".", "_")):
            found.setdefault(kind, []).append(literal_path(path))
    return found


def _kind(name: str) -> str | None:
    suffixes = Path(name.partition("?")[0] if "://" in name else name).suffixes
    if suffixes and suffixes[-1].lower() in _COMPRESSED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1].lower()) if suffixes else None


def _format_of(files: Sequence[str]) -> str:
    kinds = {kind: name for name in files if (kind := _kind(name)) is not None}
    unknown = next((name for name in files if _kind(name) is None), None)
    if unknown is not None:
        hint = "; `recall-sql import` reads OpenAI messages and ChatGPT exports" if unknown.endswith(".json") else ""
        raise InputError(f"{unknown}: its name doesn't tell what it is; say --format {'|'.join(FORMATS)}{hint}")
    if len(kinds) > 1:
        names = " and ".join(Path(name).name for name in kinds.values())
        raise InputError(f"the files are of several formats ({names}); read one format after the other")
    return next(iter(kinds))


def rows_query(
    con: duckdb.DuckDBPyConnection, source: Source, columns: Columns, *, tolerant: bool = False
) -> tuple[str, list[object]]:
    """(SQL that gives file, FIELDS, unreadable and passed_over of every row, its values).

    unreadable: what is wrong with the row as such, or NULL. passed_over: why a message without words is none, or NULL.
    tolerant: CSV lines that can't be taken apart are put into DuckDB's table reject_errors instead of raising.
    Raises InputError for a column that isn't there.
    """
    try:
        if source.format == "jsonl":
            return _json(con, source, columns)
        if source.format == "csv":
            return _csv(con, source, columns, tolerant)
        return _parquet(con, source, columns)
    except duckdb.Error as error:
        raise InputError(f"{source.name} can't be read as {source.format}: {' '.join(str(error).split())}") from error


def _parquet(con: duckdb.DuckDBPyConnection, source: Source, columns: Columns) -> tuple[str, list[object]]:
    files = [_literal(name) for name in source.files]
    reader = "read_parquet($1, union_by_name := true, filename := 'recall_file')"
    types = {name: kind for name, kind, *_ in con.execute(f"describe from {reader}", [files]).fetchall()}
    columns.check([name for name in types if name != "recall_file"], source.name)
    for field in ("role", "content"):
        kind = types[columns.of(field)]
        if kind != "VARCHAR" and not kind.startswith("ENUM"):
            raise InputError(f"{source.name}: the column {columns.of(field)!r} is {kind}, and {field} must be text")
    return _flat(columns, types, reader), [files]


def _csv(con: duckdb.DuckDBPyConnection, source: Source, columns: Columns, tolerant: bool) -> tuple[str, list[object]]:
    """Nothing is guessed from the rows: the header names the columns, and the delimiter is the one it holds most of."""
    how = "ignore_errors := true, store_rejects := true" if tolerant else "ignore_errors := false"
    alike: dict[str, list[str]] = {}
    for name in source.files:
        alike.setdefault(_first_line(con, _literal(name)), []).append(_literal(name))
    queries, values = [], []
    for header, files in alike.items():
        delimiter = max(_DELIMITERS, key=header.count)
        names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{files[0]}: the header names the column {twice!r} twice")
        columns.check(names, files[0])
        typed = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in names)
        place = len(values)
        reader = (
            f"read_csv(${place + 1}, auto_detect := false, header := true, delim := ${place + 2}, quote := '\"',"
            f" escape := '\"', columns := {{{typed}}}, filename := 'recall_file', {how})"
        )
        queries.append(_flat(columns, dict.fromkeys(names, "VARCHAR"), reader))
        values += [files, delimiter]
    return " union all ".join(queries), values


def _first_line(con: duckdb.DuckDBPyConnection, file: str) -> str:
    how = "auto_detect := false, header := false, delim := chr(1), quote := '', escape := ''"
    line = f"read_csv($1, {how}, columns := {{'line': 'VARCHAR'}})"
    return con.execute(f"select line from {line} limit 1", [file]).fetchall()[0][0].removeprefix("\ufeff")


def _flat(columns: Columns, types: dict[str, str], reader: str) -> str:
    chosen = ", ".join(
        f"{quoted(columns.of(field))}::varchar as {field}"
        if columns.of(field) in types
        else f"null::varchar as {field}"
        for field in FIELDS
    )
    return (
        f"select recall_file as file, {chosen}, null::varchar as unreadable, null::varchar as passed_over from {reader}"
    )


def _json(con: duckdb.DuckDBPyConnection, source: Source, columns: Columns) -> tuple[str, list[object]]:
    """Content may be text or a list of parts, as chat APIs write it; malformed lines come as NULL."""
    files = [_literal(name) for name in source.files]
    reader = (
        "read_json_objects($1, format := 'newline_delimited', ignore_errors := true, filename := 'recall_file',"
        f" maximum_object_size := {_LONGEST})"
    )
    keys = con.execute(
        f"select distinct unnest(json_keys(json)) from (from {reader} limit {_SAMPLE})"
        " where json_type(json) = 'OBJECT'",
        [files],
    ).fetchall()
    columns.check(sorted(key for (key,) in keys), source.name)
    scalars = ", ".join(
        f"json_extract_string(json, {_path(columns.of(field))}) as {field}" for field in FIELDS if field != "content"
    )
    content = _path(columns.of("content"))
    lists = " or ".join(
        f"json_type(json, {_path(columns.of(field))}) in ('ARRAY', 'OBJECT')" for field in FIELDS if field != "content"
    )
    return (
        f"""
        with records as (
            select
                recall_file as file, {scalars},
                case json_type(json, {content})
                    when 'ARRAY' then array_to_string(list_filter(list_transform(
                        from_json(json_extract(json, {content}), '["json"]'),
                        lambda part: case json_type(part)
                            when 'OBJECT'
                                then coalesce(
                                    json_extract_string(part, '$.text'), json_extract_string(part, '$.refusal')
                                )
                            when 'VARCHAR' then json_extract_string(part, '$')
                        end
                    ), lambda words: words is not null), chr(10))
                    else coalesce(json_extract_string(json, {content}), json_extract_string(json, '$.refusal'))
                end as content,
                case
                    when json is null then 'not JSON'
                    when json_type(json) <> 'OBJECT' then 'not a JSON object'
                    when json_type(json, {content}) = 'OBJECT' then 'content is a JSON object, not text'
                    when {lists} then 'a field holds a list or an object, not text'
                end as unreadable,
                json_type(json, '$.tool_calls') = 'ARRAY' or json_type(json, '$.function_call') = 'OBJECT' as is_call,
                json_type(json, {content}) = 'ARRAY' and json_array_length(json, {content}) > 0 as has_parts
            from {reader}
        )
        select
            file, {", ".join(FIELDS)}, unreadable,
            case
                when trim(coalesce(content, '')) <> '' then null
                when is_call then 'tool calls without words'
                when has_parts then 'images, audio or files without words'
            end as passed_over
        from records
    """,
        [files],
    )


def _path(name: str) -> str:
    """JSON path of a top-level key, as a SQL literal."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return _text(f'$."{escaped}"')


def _text(value: str) -> str:
    """A SQL string literal."""
    return "'" + value.replace("'", "''") + "'"


def _literal(name: str) -> str:
    """A file that was found is named without wildcards."""
    return name if "://" in name else literal_path(Path(name))
