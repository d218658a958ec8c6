"""The words of `lexicon.yaml` as sets, maps and regex alternatives. Holds no grammar."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import regex as re
import yaml

_FILE = Path(__file__).with_name("lexicon.yaml")


@cache
def _raw() -> dict[str, Any]:
    return yaml.load(_FILE.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@cache
def words(name: str) -> frozenset[str]:
    """A block of words as a set."""
    value = _raw()[name]
    if isinstance(value, dict):
        return frozenset(str(key) for key in value)
    return frozenset(word.strip() for word in value.split(",") if word.strip())


@cache
def mapping(name: str) -> dict[str, str]:
    """A block that maps a spelling to its canonical word."""
    return {str(key): str(value) for key, value in _raw()[name].items()}


@cache
def alternatives(name: str) -> str:
    """A regex alternative over a block, longest first, plural `s` not included."""
    return (
        "(?:"
        + "|".join(re.escape(w).replace(r"\ ", r"[\s-]") for w in sorted(words(name), key=lambda w: (-len(w), w)))
        + ")"
    )
