"""The principal: for whom a call is made, and what it may touch.

Roles contain each other. reader: sees what the memory holds. writer: also tells it things, corrects and takes back.
admin: also speaks as SYSTEM, erases, makes keys, and sees how the server does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from recall_sql.errors import RecallError

Role = Literal["reader", "writer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)


class AccessError(RecallError):
    """A call that isn't let in. The message never holds a key."""


class Unauthorized(AccessError):
    """Nobody knows who calls: there is no key, or it isn't valid."""


class Forbidden(AccessError):
    """It is known who calls, and that one may not do this."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls. agent_id: the one bot, None for all of them. user_id: the one person, None for all of the bot's.

    key_id: the public part of the key, None where there was none.
    """

    agent_id: str | None
    user_id: str | None
    role: Role
    key_id: str | None = None

    def require(self, role: Role) -> None:
        """Forbidden unless this is at least a `role`."""
        if ROLES.index(self.role) < ROLES.index(role):
            raise Forbidden(f"this needs a key of role {role}; yours is a {self.role}'s")

    def agent(self, asked: str | None = None) -> str:
        """The bot whose memory the call is about. Forbidden if it asks for another one."""
        if self.agent_id is None:
            return asked or "default"
        if asked is not None and asked != self.agent_id:
            raise Forbidden("your key is for another agent")
        return self.agent_id

    def user(self, asked: str | None = None) -> str:
        """The person the call is about. Forbidden if it asks for another one."""
        if self.user_id is None:
            return asked or "default"
        if asked is not None and asked != self.user_id:
            raise Forbidden("your key is for another user")
        return self.user_id


LOCAL = Principal(agent_id=None, user_id=None, role="admin")
"""Whoever sits at this machine, where no key has been made."""
