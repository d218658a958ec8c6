"""Reads what models write where JSON was asked for: thinking before it, prose and fences around it, slips in it.

Nothing is guessed: what can't be read as the JSON that was asked for raises InputError, whose text ends the sentence
'its answer …' and quotes nothing, because errors are logged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from recall_sql.errors import InputError

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THINKING = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_JSON_START = re.compile(r"""\{\s*["'}]|\[\s*[\[{\]]""")
_ANY_START = re.compile(r"""\{\s*["'}]|\[""")
_DECODER = json.JSONDecoder()
_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def without_thinking(text: str) -> str:
    """The text without <think>…</think>, also where a template swallowed the opening tag, and without NUL."""
    return _END_OF_THINKING.sub("", _THINKING.sub("", text.replace("\x00", ""))).strip().removeprefix("\ufeff").strip()


def unfenced(text: str) -> str:
    """What stands in the first code fence, or the text itself."""
    fenced = _FENCE.search(text)
    return fenced.group(1).strip() if fenced else text


def values(text: str, start: re.Pattern[str] = _JSON_START) -> Iterator[Any]:
    """The JSON values in a text, in order, whatever stands between them; a broken one is mended and is the last.

    What was cut off is mended up to its last closed bracket only: half a word is no value.
    """
    position = 0
    while found := start.search(text, position):
        try:
            value, position = _DECODER.raw_decode(text, found.start())
        except json.JSONDecodeError:
            from json_repair import repair_json

            whole = text[found.start() : max(text.rfind("}"), text.rfind("]")) + 1]
            if not whole:
                return
            value, position = repair_json(whole, return_objects=True), len(text)
        yield value


def as_json(answer: str, schema: dict[str, Any]) -> str:
    """The JSON of the schema's type in an answer, as text; an answer that is JSON already stays as it is."""
    text = without_thinking(answer)
    try:
        whole = json.loads(text)
    except ValueError:
        whole = None
    else:
        _check(whole, schema)
        return text
    problem = "isn't the JSON that was asked for"
    for value in values(unfenced(text), _ANY_START):
        try:
            _check(value, schema)
        except InputError as error:
            problem = str(error)
        else:
            return json.dumps(value, ensure_ascii=False)
    raise InputError(problem)


def _check(value: Any, schema: dict[str, Any]) -> None:
    """The outermost type and the required fields; the rest is the reader's business."""
    kind = schema.get("type")
    wanted = _TYPES.get(kind) if isinstance(kind, str) else None
    if wanted is not None and (not isinstance(value, wanted) or (wanted is not bool and isinstance(value, bool))):
        raise InputError(f"isn't the JSON that was asked for: a JSON {kind} was expected")
    if isinstance(value, dict):
        missing = [name for name in schema.get("required", ()) if name not in value]
        if missing and ("properties" in value or "$defs" in value):
            raise InputError("repeats the JSON schema instead of following it")
        if missing:
            raise InputError(f"isn't the JSON that was asked for: it lacks {', '.join(missing)}")
