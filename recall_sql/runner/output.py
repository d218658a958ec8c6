"""Prints result tables: rich tables for people, JSON and CSV for programs.

Data is shown, never interpreted: no markup, and control characters are spelled out.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from recall_sql.errors import InputError
from recall_sql.runner.execute import ResultTable, RunResult

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Format = Literal["table", "json", "csv"]

_LONG_LIST = 8
# Characters that move the cursor or turn the direction of writing.
_UNSEEN = {*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)} - {ord("\n")}
_ESCAPES = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _UNSEEN} | {9: "\\t", 13: "\\r"}


def render_tables(result: RunResult, format: Format = "table", console: Console | None = None) -> None:
    """Prints the result tables of a run to the console (standard output by default).

    `json`: a list of objects for one result; for several an object with one list per title; `[]` for none.
    `csv`: header and rows; several results are separated by an empty line, each under a line `# title`.
    """
    from rich.console import Console  # loaded here, so that programs that never print start faster

    console = console or Console()
    if format == "table":
        for table in result.tables:
            _print_table(table, console)
    elif format == "json":
        console.file.write(_as_json(result) + "\n")
    elif format == "csv":
        console.file.write(_as_csv(result))
    else:
        raise InputError(f"unknown format {format}; there are table, json and csv")


def _print_table(result: ResultTable, console: Console) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    title = Text(escaped(result.title), style="bold") if result.title else None
    grid = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for column in result.table.schema:
        right = _is_number(str(column.type))
        grid.add_column(Text(escaped(column.name)), justify="right" if right else "left", overflow="fold")
    for row in _rows(result):
        grid.add_row(*(_cell(value) for value in row))
    console.print(grid)
    if result.table.num_rows == 0:
        console.print(Text("(no rows)", style="dim"))
    console.print()


def _is_number(arrow_type: str) -> bool:
    return arrow_type.startswith(("int", "uint", "float", "double", "halffloat", "decimal"))


def _rows(result: ResultTable) -> Iterator[tuple]:
    columns = [column.to_pylist() for column in result.table.columns]  # by position: names may repeat
    return zip(*columns, strict=True)


def _cell(value: object) -> Text:
    from rich.text import Text

    return Text("NULL", style="dim") if value is None else Text(escaped(shown(value)))


def escaped(text: str) -> str:
    """The text with control characters spelled out; line ends stay."""
    return text.translate(_ESCAPES)


def shown(value: object) -> str:
    """A value as a person wants to read it; a long list of numbers is cut: `[0.01, -0.02, … 384]`."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.6g}" if abs(value) < 1e6 else repr(value)
        case list() if len(value) > _LONG_LIST and all(isinstance(item, int | float) for item in value):
            return f"[{value[0]:.2g}, {value[1]:.2g}, … {len(value)}]"
        case list():
            return "[" + ", ".join("NULL" if item is None else shown(item) for item in value) + "]"
        case Mapping():
            return "{" + ", ".join(f"{key}: {'NULL' if v is None else shown(v)}" for key, v in value.items()) + "}"
        case bytes():
            return "".join(chr(byte) if 32 <= byte < 127 else f"\\x{byte:02X}" for byte in value)
    return str(value)


def _as_json(result: RunResult) -> str:
    tables = {title: _objects(table) for title, table in _titled(result)}
    document = tables if len(tables) > 1 else next(iter(tables.values()), [])
    return json.dumps(document, ensure_ascii=False, indent=2)


def _titled(result: RunResult) -> Iterator[tuple[str, ResultTable]]:
    """Every table with a title of its own."""
    seen: dict[str, int] = {}
    for number, table in enumerate(result.tables, start=1):
        title = table.title or f"result {number}"
        seen[title] = seen.get(title, 0) + 1
        yield (f"{title} ({seen[title]})" if seen[title] > 1 else title), table


def _objects(result: ResultTable) -> list[dict[str, object]]:
    names = result.table.column_names
    return [{name: _plain(value) for name, value in zip(names, row, strict=True)} for row in _rows(result)]


def _plain(value: object) -> object:
    """A value that JSON can hold: moments in ISO form, NaN and infinity as text, everything else unknown as text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal():
            return int(value) if value == value.to_integral_value() and value.as_tuple().exponent == 0 else float(value)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case list() | tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case bytes():
            return value.hex()
    return str(value)


def _as_csv(result: RunResult) -> str:
    parts = []
    for title, table in _titled(result):
        out = io.StringIO()
        if len(result.tables) > 1:
            out.write("# " + " ".join(title.split()) + "\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(table.table.column_names)
        writer.writerows([_csv_field(value) for value in row] for row in _rows(table))
        parts.append(out.getvalue())
    return "\n".join(parts)


def _csv_field(value: object) -> object:
    plain = _plain(value)
    if isinstance(plain, list | dict):
        return json.dumps(plain, ensure_ascii=False)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    return plain
