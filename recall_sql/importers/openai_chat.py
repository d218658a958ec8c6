"""A list of OpenAI chat messages: `[{"role": …, "content": …}, …]`, or the request body that holds it under `messages`.

Such a file is one conversation and is read whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recall_sql.errors import InputError
from recall_sql.importers.fields import Columns, Row, Skipped, message


def rows(file: Path, columns: Columns, skipped: Skipped) -> Iterator[Row]:
    """One row per message with words; messages that only call a tool or hold only images are counted and left out."""
    document = read_json(file)
    messages = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(messages, list):
        raise InputError(f"{file.name}: expected a list of messages, [{{'role': …, 'content': …}}, …]")
    for number, record in enumerate(messages, start=1):
        where = f"{file.name}, message {number}"
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected a JSON object with role and content")
        row = message(record, columns, number, where, skipped)
        if row is not None:
            yield row
    columns.check_all_seen(file.name)


def read_json(file: Path) -> Any:
    """The JSON document in a file; InputError names line and column."""
    try:
        return json.loads(file.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name}: not UTF-8 text (byte {error.start + 1}); save it as UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"{file.name}, line {error.lineno}"
        raise InputError(f"{where}: not JSON ({error.msg} at column {error.colno}); nothing was imported") from None
    except RecursionError:
        raise InputError(f"{file.name}: JSON nested too deeply; nothing was imported") from None
