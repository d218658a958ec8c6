"""Who calls, and whose memory the call is about: what a route begins with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Security
from fastapi.security import HTTPBearer

from recall_sql.access import Forbidden, Principal, Role
from recall_sql.errors import InputError
from recall_sql.integrations.http.service import Service
from recall_sql.integrations.http.shapes import Id
from recall_sql.memory import Memory
from recall_sql.memory.scope import of_another

_scheme = HTTPBearer(
    auto_error=False,
    scheme_name="key",
    description="A key that `recall-sql keys add` made: Authorization: Bearer recall_…",
)
Key = Annotated[Any, Security(_scheme)]  # only for the document: doorman.py has looked at it
AgentPath = Annotated[Id, Path(description="The bot. A key opens one.")]
AgentQuery = Annotated[Id | None, Query(description="The bot; the key's, or default, if not given.")]
UserQuery = Annotated[Id | None, Query(description="The person; the key's, or default, if not given.")]


@dataclass(frozen=True)
class Caller:
    """A call that was let in. agent_id and user_id: what the address asks for, and the key allows."""

    service: Service
    principal: Principal
    agent_id: str
    user_id: str | None

    def memory(self, user_id: str | None = None) -> Memory:
        """The memory the call is about, on this thread's cursor. user_id: as the body says. Raises Forbidden."""
        return of_another(self.service.memory, self.agent_id, self.user(user_id))

    def user(self, user_id: str | None = None) -> str:
        """The person, as the address or the body says. InputError where they disagree."""
        if user_id is not None and self.user_id is not None and user_id != self.user_id:
            raise InputError("user_id is one in the address and another in the body")
        return self.principal.user(user_id or self.user_id)

    def speaks_as(self, *sources: str) -> None:
        """Forbidden unless the caller may say what these say: who speaks as SYSTEM can't be contradicted."""
        if "SYSTEM" in map(str.upper, sources):
            try:
                self.principal.require("admin")
            except Forbidden:
                raise Forbidden("only a key of role admin speaks as SYSTEM") from None


def _at_least(role: Role, *, in_path: bool) -> Callable[..., Caller]:
    def let_in(request: Request, agent_id: str | None, user_id: str | None) -> Caller:
        principal: Principal = request.state.principal
        principal.require(role)
        agent = principal.agent(agent_id)
        if user_id is not None:
            principal.user(user_id)
        return Caller(request.app.state.service, principal, agent, user_id)

    def of_path(request: Request, agent_id: AgentPath, user_id: UserQuery = None, _key: Key = None) -> Caller:
        return let_in(request, agent_id, user_id)

    def of_query(request: Request, agent_id: AgentQuery = None, user_id: UserQuery = None, _key: Key = None) -> Caller:
        return let_in(request, agent_id, user_id)

    return of_path if in_path else of_query


Reader = Annotated[Caller, Depends(_at_least("reader", in_path=True))]
Writer = Annotated[Caller, Depends(_at_least("writer", in_path=True))]
Admin = Annotated[Caller, Depends(_at_least("admin", in_path=True))]
AnyReader = Annotated[Caller, Depends(_at_least("reader", in_path=False))]
AnyWriter = Annotated[Caller, Depends(_at_least("writer", in_path=False))]
AnyAdmin = Annotated[Caller, Depends(_at_least("admin", in_path=False))]
