"""The SQL functions: what there is (catalog.py), how it gets into DuckDB (registry.py), and one module each.

A function turns Arrow columns into questions and answers into an Arrow column. Whom it asks is models/, how it asks is
calls/, what is done with the answer is SQL.
"""

from recall_sql.functions.catalog import SqlFunction, all_functions
from recall_sql.functions.registry import install, remove

__all__ = ["SqlFunction", "all_functions", "install", "remove"]
