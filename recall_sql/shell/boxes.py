"""Prints rows in a box: types under the names, a count below. Data is shown, never interpreted."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recall_sql.runner import ResultTable
from recall_sql.runner.output import escaped, shown

_SHORT = {
    "string": "varchar",
    "int32": "integer",
    "int64": "bigint",
    "double": "double",
    "float": "float",
    "bool": "boolean",
}


def print_box(result: ResultTable, console: Console, most: int) -> None:
    """The first `most` rows (0 for all)."""
    table = result.table
    shown_rows = table if most == 0 else table.slice(0, most)
    grid = Table(box=box.SQUARE, title=escaped(result.title) or None, title_justify="left", title_style="bold")
    for column in table.schema:
        kind = str(column.type)
        right = kind.startswith(("int", "uint", "float", "double", "decimal"))
        head = Text(escaped(column.name), style="bold") + Text("\n" + escaped(type_name(kind)), style="dim")
        grid.add_column(head, justify="right" if right else "left", overflow="fold")
    columns = [column.to_pylist() for column in shown_rows.columns]
    for row in zip(*columns, strict=True):
        grid.add_row(*(Text("NULL", style="dim") if value is None else Text(escaped(shown(value))) for value in row))
    console.print(grid)
    left_out = table.num_rows - shown_rows.num_rows
    rows = f"{table.num_rows:,} row" + ("" if table.num_rows == 1 else "s")
    console.print(Text(rows + (f" ({most} shown; .maxrows 0 shows all)" if left_out else ""), style="dim"))


def type_name(arrow_type: str) -> str:
    """An Arrow type in DuckDB's words, where they differ for the common ones."""
    if arrow_type.startswith("timestamp"):
        return "timestamptz" if "tz=" in arrow_type else "timestamp"
    if arrow_type.startswith("fixed_size_list"):
        return f"float[{arrow_type.rpartition('[')[2].rstrip(']')}]"
    return _SHORT.get(arrow_type, arrow_type.partition("<")[0])
