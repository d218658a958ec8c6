"""The functions of `regex` with every pattern compiled once: its own cache costs more per call than most searches."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import regex
from regex import I, Match, Pattern, compile, escape

__all__ = [
    "I",
    "Match",
    "Pattern",
    "compile",
    "escape",
    "findall",
    "finditer",
    "fullmatch",
    "match",
    "search",
    "split",
    "sub",
]

_compiled = lru_cache(maxsize=4096)(regex.compile)


def search(pattern: str, text: str) -> Match[str] | None:
    return _compiled(pattern).search(text)


def match(pattern: str, text: str) -> Match[str] | None:
    return _compiled(pattern).match(text)


def fullmatch(pattern: str, text: str) -> Match[str] | None:
    return _compiled(pattern).fullmatch(text)


def findall(pattern: str, text: str) -> list[Any]:
    return _compiled(pattern).findall(text)


def finditer(pattern: str, text: str) -> Any:
    return _compiled(pattern).finditer(text)


def sub(pattern: str, replacement: Any, text: str, *, count: int = 0, flags: int = 0) -> str:
    return _compiled(pattern, flags).sub(replacement, text, count)


def split(pattern: str, text: str) -> list[Any]:
    return _compiled(pattern).split(text)
