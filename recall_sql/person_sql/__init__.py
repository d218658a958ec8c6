"""SQL that somebody sends, over the rows of one person: read in the sandbox, written through the rules of belief.

No statement runs on the database itself. What MCP and HTTP let their callers say in SQL is said here, for both.
"""

from recall_sql.person_sql.plain import plain, values
from recall_sql.person_sql.statements import execute
from recall_sql.person_sql.tables import names, select

__all__ = ["execute", "names", "plain", "select", "values"]
