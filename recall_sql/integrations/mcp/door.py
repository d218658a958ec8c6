"""Who calls, and whose memory that one gets: the server's start or the request's key decides, never an argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from recall_sql.access import ROLES, Principal, Role, Unauthorized
from recall_sql.connections import Connections
from recall_sql.memory import Memory

STATE = "recall_principal"  # where the HTTP side leaves the principal of a request


@dataclass(frozen=True, slots=True)
class Caller:
    """One call: by whom, and on which memory. The memory works on the calling thread's own cursor."""

    principal: Principal
    memory: Memory

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The calling thread's cursor."""
        return self.memory.con

    @property
    def user_id(self) -> str:
        """The person, also where nobody was named."""
        return self.memory.user_id


class Door:
    """What a server lets its callers do: at most `role`, to one agent and user if these are given.

    fixed: every call is this one's (stdio). Without it each request must bring a principal (HTTP).
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        *,
        agent_id: str | None = None,
        user_id: str | None = None,
        role: Role = "writer",
        fixed: bool = False,
    ) -> None:
        self._connections = Connections(con)
        self._agent_id, self._user_id, self.role = agent_id, user_id, role
        self.fixed = Principal(agent_id or "default", user_id or "default", role) if fixed else None

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The calling thread's cursor."""
        return self._connections.con

    def narrowed(self, principal: Principal) -> Principal:
        """What is left of somebody's rights at this door. Forbidden for another agent or user than the server's."""
        role = ROLES[min(ROLES.index(principal.role), ROLES.index(self.role))]
        agent_id, user_id = principal.agent(self._agent_id), principal.user(self._user_id)
        return replace(principal, agent_id=agent_id, user_id=user_id, role=role)

    def principal(self, request: Any) -> Principal:
        """Of a request as the transport gives it: None on stdio. Raises Unauthorized where there is none."""
        if self.fixed is not None:
            return self.fixed
        scope = getattr(request, "scope", None)
        state = scope.get("state") if isinstance(scope, Mapping) else None
        found = state.get(STATE) if state else None
        if not isinstance(found, Principal):
            raise Unauthorized("a key is needed: Authorization: Bearer …")
        return found

    def caller(self, request: Any) -> Caller:
        """Who calls, with the memory."""
        principal = self.principal(request)
        memory = Memory(self.con, agent_id=principal.agent(), user_id=principal.user())
        return Caller(principal, memory)
