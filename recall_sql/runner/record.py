"""One row of `recall_runs` per run: what ran, with which parameters, how it ended.

Written on a cursor of its own, outside the run's transaction, so that a run that was rolled back leaves its record.
Where the table doesn't exist or can't be written, nothing is recorded; that never fails a run.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import duckdb

from recall_sql.runner.params import Param

_log = logging.getLogger(__name__)

_FIND_TABLE = """
select t.database_name, t.schema_name
from duckdb_tables() t join duckdb_databases() d using (database_name)
where t.table_name = 'recall_runs' and not t.temporary and not d.readonly
order by t.database_name = $current desc
"""


class RunRecord:
    """The record of one run; `finish` may be called once."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, table: str, run_id: UUID) -> None:
        self._cursor, self._table, self._run_id = cursor, table, run_id

    @classmethod
    def start(
        cls,
        con: duckdb.DuckDBPyConnection,
        run_id: UUID,
        recipe: str,
        params: str,
        started_at: datetime,
    ) -> RunRecord | None:
        """Writes the row with status `running`; None where there is no table to write to."""
        current = con.execute("select current_database()").fetchone()
        cursor = con.cursor()
        try:
            found = cursor.execute(_FIND_TABLE, {"current": current[0] if current else ""}).fetchone()
            if found is None:
                cursor.close()
                return None
            table = ".".join('"' + part.replace('"', '""') + '"' for part in (*found, "recall_runs"))
            cursor.execute(
                f"insert into {table} (run_id, recipe, params, status, started_at)"
                " values ($run_id, $recipe, $params, 'running', $started_at)",
                {"run_id": run_id, "recipe": recipe, "params": params, "started_at": started_at},
            )
        except duckdb.Error as error:
            _log.warning("run %s is not recorded: %s", run_id, error)
            cursor.close()
            return None
        return cls(cursor, table, run_id)

    def finish(
        self, status: str, finished_at: datetime, steps: Sequence[Mapping], changed: int, error: str | None = None
    ) -> None:
        """Writes how the run ended and closes the cursor."""
        ended = {"status": status, "finished_at": finished_at, "error": error, "changed": changed}
        try:
            self._cursor.execute(
                f"update {self._table} set status = $status, finished_at = $finished_at, error = $error,"
                " steps = $steps, rows_changed = $changed where run_id = $run_id",
                {**ended, "steps": json.dumps(list(steps), ensure_ascii=False), "run_id": self._run_id},
            )
        except duckdb.Error as failure:
            _log.warning("the end of run %s is not recorded: %s", self._run_id, failure)
        finally:
            self._cursor.close()


def recorded_params(params: Sequence[Param], given: Mapping[str, object]) -> str:
    """The given values as JSON, secret ones as ***."""
    secret = {param.name for param in params if param.secret}
    shown = {name: "***" if name in secret else value for name, value in given.items()}
    return json.dumps(shown, ensure_ascii=False, default=str)
