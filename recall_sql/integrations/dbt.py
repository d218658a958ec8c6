"""The dbt-duckdb plugin: models, tests and hooks of a dbt project can use the functions, the macros and the recipes.

    plugins:
      - module: recall_sql.integrations.dbt
        config: {extractor: "ollama:qwen3"}      # settings of recall_sql, if the environment doesn't give them

Responsible for dbt's connections only. The project that uses it is recipes/dbt; what a recipe compiles to is
`recall_sql.runner`'s.
"""

from __future__ import annotations

from typing import Any

import duckdb
from dbt.adapters.duckdb.plugins import BasePlugin

from recall_sql.integrations import recipe_functions
from recall_sql.session import register
from recall_sql.settings import Settings


class Plugin(BasePlugin):
    """Puts recall_sql into dbt's database, and its library on the search path of every thread."""

    def initialize(self, plugin_config: dict[str, Any]) -> None:
        """Checks the settings before anything runs. dbt mixes DuckDB's own settings in, which aren't ours."""
        theirs = self.creds.settings or {} if self.creds else {}
        self.settings = {name: value for name, value in plugin_config.items() if name not in theirs}
        Settings(self.settings)

    def configure_connection(self, conn: duckdb.DuckDBPyConnection) -> None:
        """dbt has opened the database."""
        register(conn, settings=self.settings)
        recipe_functions.install(conn)

    def configure_cursor(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """A thread of dbt's has got its cursor."""
        register(cursor)
