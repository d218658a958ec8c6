"""What is read from a message, whatever file it comes from: fields, columns, roles, the words in `content`.

Plain values in, plain values out; doesn't know files or databases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from recall_sql.errors import InputError

ROLES = ("user", "assistant", "system", "tool", "document", "code")
SYNONYMS = {
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "gpt": "assistant",
    "developer": "system",  # OpenAI's newer word for system
    "function": "tool",  # OpenAI's older word for tool
}
REQUIRED = ("role", "content")
FIELDS = (*REQUIRED, "created_at", "session_id", "user_id", "agent_id", "id", "title")

Skipped = Counter  # reason, in words → number of messages


class Row(NamedTuple):
    """A message as it stands in the file. `place` is its line, or its number where the file has no lines."""

    place: int
    role: str | None
    content: str | None
    created_at: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    id: str | None = None
    title: str | None = None


class Columns:
    """Which column of the file holds which field: as mapped, else the column of the same name."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        for field in mapping:
            if field not in FIELDS:
                close = get_close_matches(field, FIELDS, n=1)
                hint = f"did you mean {close[0]}? " if close else ""
                raise InputError(
                    f"--map {field}={mapping[field]}: {hint}It is --map FIELD=COLUMN; fields: {', '.join(FIELDS)}"
                )
        self._mapped = dict(mapping)
        self._unseen = {column for column in mapping.values() if column}

    def of(self, field: str) -> str:
        """The file's name for a field; '' if it was mapped to nothing."""
        return self._mapped.get(field, field)

    def check(self, present: Iterable[str], where: str) -> None:
        """Refuses a table without a column that is needed or was named."""
        names = list(present)
        for field in FIELDS:
            column = self.of(field)
            if column not in names and (field in REQUIRED or (field in self._mapped and column)):
                raise InputError(f"{where}: {self.missing(field, names)}")

    def missing(self, field: str, present: Iterable[str]) -> str:
        """The message about a field that isn't there."""
        has = ", ".join(present) or "none"
        if field in self._mapped:
            return f"there is no column {self.of(field)!r} for {field}; the columns are: {has}"
        return f"there is no column {field!r}; the columns are: {has}. Say which one it is: --map {field}=COLUMN"

    def pick(self, record: Mapping[str, Any], where: str) -> dict[str, Any]:
        """The fields of one record, by our names. `role` and `content` must be there (content may be null)."""
        found = {}
        for field in FIELDS:
            column = self.of(field)
            if column in record:
                self._unseen.discard(column)
                found[field] = record[column]
            elif field in REQUIRED:
                raise InputError(f"{where}: {self.missing(field, record)}")
        return found

    def check_all_seen(self, where: str) -> None:
        """After the last record: refuses a mapping to a column that no record had."""
        if self._unseen:
            raise InputError(f"{where}: no line has the column {min(self._unseen)!r} that --map names")


def role_names(role_map: Mapping[str, str]) -> dict[str, str]:
    """Every word for a speaker that is understood, in lower case → role."""
    names = {**{role: role for role in ROLES}, **SYNONYMS}
    for word, role in role_map.items():
        if role.strip().lower() not in ROLES:
            raise InputError(f"--role-map {word}={role}: {role!r} is not a role; roles: {', '.join(ROLES)}")
        names[word.strip().lower()] = role.strip().lower()
    return names


def scalar(value: Any, field: str, where: str) -> str | None:
    """A value that should be text: numbers as they are written, true and false in words."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise InputError(f"{where}: {field} must be text, not a {'list' if isinstance(value, list) else 'JSON object'}")


def words(content: Any, where: str) -> tuple[str | None, int]:
    """(the text of a message, how many of its parts are no text). Content is text, null, or a list of parts."""
    if not isinstance(content, list):
        return scalar(content, "content", where), 0
    texts, others = [], 0
    for part in content:
        if isinstance(part, dict):
            part = part.get("text", part.get("refusal"))
        if isinstance(part, str):
            texts.append(part)
        else:
            others += 1
    return "\n".join(texts), others


def message(record: Mapping[str, Any], columns: Columns, place: int, where: str, skipped: Skipped) -> Row | None:
    """A JSON message as a row; None, and counted, if it holds no words by its nature (a tool call, an image)."""
    found = columns.pick({"content": None, **record} if _speechless(record) else record, where)
    text, others = words(found["content"], where)
    if text is None and isinstance(record.get("refusal"), str):
        text = record["refusal"]
    if not (text or "").strip():
        if _speechless(record):
            skipped["tool calls without words"] += 1
            return None
        if others:
            skipped["images, audio or files without words"] += 1
            return None
    rest = {field: scalar(found.get(field), field, where) for field in FIELDS if field != "content"}
    return Row(place, content=text, **rest)


def _speechless(record: Mapping[str, Any]) -> bool:
    return bool(record.get("tool_calls") or record.get("function_call"))
