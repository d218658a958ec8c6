"""The SQL functions: one module each, and the registry that puts them into a DuckDB instance.

A function turns Arrow columns into questions and answers into an Arrow column. Whom it asks is models/, how it asks is
calls/, what is done with the answer is SQL.
"""

from recall_sql.functions.registry import SqlFunction, all_functions, install

__all__ = ["SqlFunction", "all_functions", "install"]
