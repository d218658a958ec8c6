"""Records: say it, and it is a typed row; ask it, and it is SQL.

    records = Records(con)
    records.add_schema("payments", "Payments the user made to people or businesses", Payment)   # a pydantic class
    records.process("Paid Jayden $150 for training", user_id="ana")      # → {'matched': True, 'action': 'insert', …}
    records.query("How much have I paid Jayden?", user_id="ana")         # → {'sql': …, 'result': Decimal('150.00'), …}

Responsible for the public face. Reading messages is rules/ or a model, rows are store.py and the recipes in
recipes/structured_records/, questions are ask.py and the sandbox, several steps are agent.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recall_sql.records.face import Records
    from recall_sql.records.intents import Intent, Match
    from recall_sql.records.process import Answer
    from recall_sql.records.schemas import RecordField, Schema

__all__ = ["Answer", "Intent", "Match", "RecordField", "Records", "Schema"]

_HOME = {
    "Records": "face",
    "Intent": "intents",
    "Match": "intents",
    "Answer": "process",
    "RecordField": "schemas",
    "Schema": "schemas",
}


def __getattr__(name: str) -> Any:
    """Loads a module when it is first needed: who keeps facts only, pays for facts only."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
