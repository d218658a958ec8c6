"""What each address does. A route finds out whose memory it is about, calls one method of it, and shapes the answer."""

from recall_sql.integrations.http.routes import facts, keys, operations, records, threads

ROUTERS = (threads.router, facts.router, records.router, keys.router, operations.router)

__all__ = ["ROUTERS"]
