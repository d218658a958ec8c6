"""Numbers for Prometheus: requests as they are answered, and what the database says when it is asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import duckdb
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

if TYPE_CHECKING:
    from recall_sql.worker import Worker

STATUSES = ("pending", "running", "waiting", "failed", "read", "done")


class Metrics:
    """The numbers of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "recall_http_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "recall_http_request_seconds", "From a request's arrival to its answer.", ["route"], registry=self.registry
        )
        self._turns = Gauge(
            "recall_turns", "Turns by how far their reading has come.", ["status"], registry=self.registry
        )
        self._tables = Gauge("recall_rows", "Rows of a table.", ["table"], registry=self.registry)
        self._worker = Gauge("recall_worker_alive", "Whether turns are being read.", registry=self.registry)
        ProcessCollector(registry=self.registry)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Counts a request. route: the pattern, never the path, which holds ids."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self, con: duckdb.DuckDBPyConnection, worker: Worker) -> bytes:
        """Prometheus' text format."""
        found = dict(_rows(con, "select status, count(*) from extraction_queue() group by status"))
        for status in STATUSES:
            self._turns.labels(status).set(found.get(status, 0))
        for table in ("chat_threads", "chat_turns", "chat_facts", "chat_fact_history"):
            ((count,),) = _rows(con, f"select count(*) from {table}")
            self._tables.labels(table).set(count)
        self._worker.set(worker.alive)
        return generate_latest(self.registry)


def _rows(con: duckdb.DuckDBPyConnection, sql: str) -> Iterable[tuple]:
    return con.execute(sql).fetchall()
