"""Finds `sql/` and `recipes/`: inside an installed wheel, or beside the package in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).resolve().parent


@cache
def _root() -> Path:
    packaged = _HERE / "_data"
    return packaged if packaged.is_dir() else _HERE.parent


def sql_dir() -> Path:
    """The folder with `schema/`, `library/` and `vocabulary/`."""
    return _root() / "sql"


def recipes_dir() -> Path:
    """The folder with the recipes that ship with the product."""
    return _root() / "recipes"
