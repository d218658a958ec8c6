"""Reads SQL as tokens: where statements end, where a placeholder really stands, and the `VECTOR(n)` type.

Built on DuckDB's own tokenizer, so strings, comments and quoted names are never mistaken for code. Knows nothing
about recipes or values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import duckdb

_WORD = re.compile(r'"(?:[^"]|"")*"|[\w$]+')

# Words that can't be a column's name and may stand before a call of a function named vector.
# fmt: off
_BEFORE_A_CALL = frozenset(
    {
        "all", "and", "any", "as", "asc", "between", "by", "case", "cross", "desc", "distinct", "else", "end",
        "except", "exists", "false", "from", "full", "group", "having", "in", "inner", "intersect", "interval",
        "is", "join", "lateral", "left", "like", "limit", "not", "null", "offset", "on", "or", "order", "outer",
        "qualify", "returning", "right", "select", "set", "some", "then", "true", "union", "using", "values",
        "when", "where", "window"
    }
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Token:
    """One token; `start` counts characters. `word` is its text in lower case if it is a word, else its first sign."""

    kind: str
    start: int
    word: str


@lru_cache(maxsize=64)  # the same recipe with other values is the same SQL
def tokens(sql: str) -> tuple[Token, ...]:
    """The tokens of `sql` without comments. DuckDB counts bytes; this counts characters."""
    found = []
    for start, kind in _characters(sql, duckdb.tokenize(sql)):
        name = str(kind).rpartition(".")[2]
        if name == "comment":  # 2.0 reports comments, 1.5 leaves them out
            continue
        match = _WORD.match(sql, start) if name in ("identifier", "keyword", "numeric_const") else None
        found.append(Token(name, start, match[0].lower() if match else sql[start : start + 1]))
    return tuple(found)


def _characters(sql: str, found: Sequence[tuple[int, object]]) -> Iterator[tuple[int, object]]:
    if sql.isascii():
        yield from found
        return
    encoded, bytes_seen, characters = sql.encode(), 0, 0
    for offset, kind in found:
        characters += len(encoded[bytes_seen:offset].decode())
        bytes_seen = offset
        yield characters, kind


@dataclass(frozen=True)
class Piece:
    """One statement of a text: `[head, start)` holds its leading comments, `[start, end)` the SQL without `;`."""

    head: int
    start: int
    end: int
    tokens: tuple[Token, ...]

    @cached_property
    def verb(self) -> str:
        """What the statement does: its first word, or for WITH the word of the statement it belongs to."""
        words = _outer_words(self.tokens)
        changes = [word for word in words if word in _CHANGES] if words[:1] == ["with"] else words
        return changes[0] if changes else "select"

    @cached_property
    def returns_rows(self) -> bool:
        """Whether its result is rows and not a count of changes."""
        return self.verb in _QUERIES or (self.verb in _CHANGES and "returning" in _outer_words(self.tokens))


_CHANGES = frozenset(("insert", "update", "delete", "merge"))
# fmt: off
_QUERIES = frozenset(
    {
        "select", "from", "values", "table", "show", "describe", "desc", "summarize", "explain", "call",
        "pragma", "execute", "pivot", "pivot_wider", "unpivot", "pivot_longer"
    }
)
# fmt: on


def _outer_words(found: Sequence[Token]) -> list[str]:
    """The words outside all parentheses."""
    depth, words = 0, []
    for token in found:
        if token.kind == "operator" and token.word in "()":
            depth += 1 if token.word == "(" else -1
        elif depth == 0 and token.kind in ("identifier", "keyword"):
            words.append(token.word)
    return words


@lru_cache(maxsize=64)
def split(sql: str) -> tuple[Piece, ...]:
    """Cuts a text at its semicolons; empty statements are left out."""
    pieces, current, head = [], [], 0
    for token in tokens(sql):
        if token.kind == "operator" and token.word == ";":
            if current:
                pieces.append(Piece(head, current[0].start, token.start, tuple(current)))
                current, head = [], token.start + 1
            continue
        current.append(token)
    if current:
        pieces.append(Piece(head, current[0].start, len(sql.rstrip()), tuple(current)))
    return tuple(pieces)


def placeholders(piece: Piece) -> set[tuple[int, str]]:
    """The `$name` that stand in code, as (position, name)."""
    pairs = zip(piece.tokens, piece.tokens[1:], strict=False)
    return {(a.start, b.word) for a, b in pairs if a.word == "$" and b.start == a.start + 1}


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters `[start, end)` are to become `text`."""

    start: int
    end: int
    text: str


def translate(sql: str) -> str:
    """The SynapCores type `VECTOR(n)` as DuckDB's `FLOAT[n]`; everything else, `vector(3)` as a call too, stays.

    >>> translate("create table t (v VECTOR(384)); select vector(3), 'VECTOR(3)'")
    "create table t (v FLOAT[384]); select vector(3), 'VECTOR(3)'"
    """
    return apply(sql, vector_edits(sql)) if "vector" in sql.lower() else sql


@lru_cache(maxsize=64)
def vector_edits(sql: str) -> tuple[Edit, ...]:
    """The edits of `translate`, so that the caller can keep track of its own positions."""
    edits: list[Edit] = []
    found = tokens(sql)
    for i, token in enumerate(found[:-3]):
        opening, size, closing = found[i + 1 : i + 4]
        shape = (token.word, opening.word, "0" if size.word.isdecimal() else size.word, closing.word)
        if shape == ("vector", "(", "0", ")") and _is_type(sql, found, i):
            edits.append(Edit(token.start, token.start + len("vector"), "FLOAT"))
            edits.append(Edit(opening.start, opening.start + 1, "["))
            edits.append(Edit(closing.start, closing.start + 1, "]"))
    return tuple(edits)


def _is_type(sql: str, found: Sequence[Token], i: int) -> bool:
    """Whether the word at `i` stands where a type must: after `::`, CAST's AS, TYPE, or a column's name.

    The body of a macro also follows AS, but no parenthesis closes right after it.
    """
    before = found[i - 1] if i else Token("", 0, "")
    two_before = found[i - 2] if i > 1 else Token("", 0, "")
    after = found[i + 4].word if i + 4 < len(found) else ""
    if before.word == "as":
        return after in (")", "[")
    if before.word == "type" or sql[: found[i].start].rstrip().endswith("::"):
        return True
    names_a_column = before.kind in ("identifier", "keyword") and before.word not in _BEFORE_A_CALL
    return names_a_column and two_before.word in ("(", ",", "add", "column", "exists")


def apply(sql: str, edits: Sequence[Edit]) -> str:
    """`sql` with the edits made; they must not overlap and come in order."""
    parts, done = [], 0
    for edit in edits:
        parts += [sql[done : edit.start], edit.text]
        done = edit.end
    return "".join([*parts, sql[done:]])


def moved(position: int, edits: Sequence[Edit]) -> int:
    """Where a position outside the edits is after them."""
    return position + sum(len(e.text) - (e.end - e.start) for e in edits if e.end <= position)
