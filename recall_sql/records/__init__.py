"""Records: say it, and it is a typed row; ask it, and it is SQL.

    records = Records(con)
    records.add_schema("payments", "Payments the user made to people or businesses", Payment)   # a pydantic class
    records.process("Paid Jayden $150 for training", user_id="ana")      # → {'matched': True, 'action': 'insert', …}
    records.query("How much have I paid Jayden?", user_id="ana")         # → {'sql': …, 'result': Decimal('150.00'), …}

Responsible for the public face. Reading messages is rules/ or a model, rows are store.py and the recipes in
recipes/structured_records/, questions are ask.py and the sandbox, several steps are agent.py.
"""

from recall_sql.records.face import Records
from recall_sql.records.intents import Intent, Match
from recall_sql.records.process import Answer
from recall_sql.records.schemas import RecordField, Schema

__all__ = ["Answer", "Intent", "Match", "RecordField", "Records", "Schema"]
