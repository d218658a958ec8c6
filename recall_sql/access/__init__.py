"""Who may do what: API keys, the principal behind a call, and what a server does where nobody has made a key.

    secret, key = add_key(con, agent_id="a1", role="writer")     # the secret is shown here and never again
    who = Gate(con, host="127.0.0.1").enter(secret)              # AccessError without a valid key
    who.require("writer")
    memory = Memory(con.cursor(), agent_id=who.agent(asked), user_id=who.user(asked_user))

Knows nothing about HTTP or MCP; both ask here.
"""

from recall_sql.access.gate import Gate, is_loopback
from recall_sql.access.keys import Key, add_key, authenticate, keys, revoke_key
from recall_sql.access.principal import LOCAL, ROLES, AccessError, Forbidden, Principal, Role, Unauthorized

__all__ = [
    "LOCAL",
    "ROLES",
    "AccessError",
    "Forbidden",
    "Gate",
    "Key",
    "Principal",
    "Role",
    "Unauthorized",
    "add_key",
    "authenticate",
    "is_loopback",
    "keys",
    "revoke_key",
]
