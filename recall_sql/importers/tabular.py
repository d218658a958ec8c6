"""Tables of messages: JSON Lines, CSV and Parquet. Lines are streamed, so that a large file needs little memory.

JSON Lines and CSV are read line by line here rather than by DuckDB's readers: those can't say which line a value came
from once it is read, guess delimiters, and limit a line's length. Parquet is read by DuckDB.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import duckdb

from recall_sql.errors import InputError
from recall_sql.importers.fields import FIELDS, Columns, Row, Skipped, message
from recall_sql.session import quoted

_DELIMITERS = ",;\t|"
_LONGEST_FIELD = 2**31 - 1  # characters; Python's own limit is 128 KB


def jsonl_rows(file: Path, columns: Columns, skipped: Skipped) -> Iterator[Row]:
    """One JSON object a line; empty lines are passed over."""
    for number, line in _lines(file):
        if not line.strip():
            continue
        where = f"{file.name}, line {number}"
        try:
            record = json.loads(line.rstrip())
        except json.JSONDecodeError as error:
            raise InputError(f"{where}: not JSON ({error.msg} at column {error.colno}); nothing was imported") from None
        except RecursionError:
            raise InputError(f"{where}: JSON nested too deeply; nothing was imported") from None
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected a JSON object, found {line.strip()[:40]}; nothing was imported")
        row = message(record, columns, number, where, skipped)
        if row is not None:
            yield row
    columns.check_all_seen(file.name)


def csv_rows(file: Path, columns: Columns) -> Iterator[Row]:
    """A header, then one message a record; the delimiter is the one of , ; tab | that the header holds most of."""
    previous = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield from _csv_rows(file, columns)
    finally:
        csv.field_size_limit(previous)


def _csv_rows(file: Path, columns: Columns) -> Iterator[Row]:
    _, first = next(_lines(file))
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader((line for _, line in _lines(file)), delimiter=delimiter, strict=True)
    header: list[str] = []
    begins = 1
    try:
        for record in reader:
            place, begins = begins, reader.line_num + 1
            if not record:
                continue
            if not header:
                header = [name.strip() for name in record]
                _check_header(header, columns, file)
                continue
            if len(record) != len(header):
                raise InputError(
                    f"{file.name}, line {place}: {len(record)} values, but the header names {len(header)} columns; "
                    "put values that hold the delimiter in double quotes. Nothing was imported"
                )
            yield _csv_row(dict(zip(header, record, strict=True)), columns, place)
    except csv.Error as error:
        raise InputError(f"{file.name}, line {begins}: not CSV ({error}); nothing was imported") from None


def _check_header(header: list[str], columns: Columns, file: Path) -> None:
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{file.name}: the header names the column {twice!r} twice")
    columns.check(header, file.name)


def _csv_row(record: dict[str, str], columns: Columns, place: int) -> Row:
    """CSV has no NULL: nothing between two delimiters is read as one, except in `content`."""
    found = {field: record.get(columns.of(field)) or None for field in FIELDS}
    return Row(place, **(found | {"content": record[columns.of("content")]}))


def parquet_query(con: duckdb.DuckDBPyConnection, file: Path, columns: Columns) -> tuple[str, list[str]]:
    """(SQL that reads the file as the columns of `Row`, its values)."""
    source = "read_parquet(?, file_row_number := true)"
    try:
        described = con.execute(f"describe from {source}", [literal_path(file)]).fetchall()
    except duckdb.Error as error:
        raise InputError(f"{file.name} can't be read as Parquet: {' '.join(str(error).split())}") from error
    types = {name: kind for name, kind, *_ in described if name != "file_row_number"}
    columns.check(types, file.name)
    for field in ("role", "content"):
        kind = types[columns.of(field)]
        if kind != "VARCHAR" and not kind.startswith("ENUM"):
            raise InputError(f"{file.name}: the column {columns.of(field)!r} is {kind}, and {field} must be text")
    chosen = ", ".join(_as_text(field, columns.of(field), types) for field in FIELDS)
    return f"select file_row_number + 1, {chosen} from {source}", [literal_path(file)]


def _as_text(field: str, column: str, types: dict[str, str]) -> str:
    return f"{quoted(column)}::varchar as {field}" if column in types else f"null::varchar as {field}"


def literal_path(file: Path) -> str:
    """A path in which DuckDB's file readers see no wildcards."""
    return "".join(f"[{c}]" if c in "[*?" else c for c in str(file))


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """(number, line with its end) of a UTF-8 file, without NUL characters."""
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if number == 1:
                if line.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise InputError(f"{file.name} is UTF-16 text; save it as UTF-8")
                line = line.removeprefix(b"\xef\xbb\xbf")
            try:
                yield number, line.decode().replace("\0", "")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{file.name}, line {number}: not UTF-8 text (byte {error.start + 1} of the line); "
                    "save the file as UTF-8. Nothing was imported"
                ) from None
