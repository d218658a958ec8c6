"""Memory: the Python face of the recipes. Every method runs one recipe or macro and says which; the rules are theirs.

memory = Memory(con, user_id="lina")
memory.add("s1", "user", "I'm vegetarian now")
memory.extract()
memory.context("s1", "where shall we eat?")
"""

from __future__ import annotations

from recall_sql.memory.conversations import Context
from recall_sql.memory.person import compact, forget_person
from recall_sql.memory.scope import RefusedError, Row, native, run
from recall_sql.memory.whole import Memory

__all__ = ["Context", "Memory", "RefusedError", "Row", "compact", "forget_person", "native", "run"]
