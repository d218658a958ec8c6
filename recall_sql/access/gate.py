"""Who is let into a server.

With a key: whoever the key is for. Without one: on loopback, where no key has ever been made, the person at this
machine, who may do everything; as soon as a key was made, nobody, since several users or programs share the machine
then. The server's operator may say `no_auth` on loopback, and nowhere else.
"""

from __future__ import annotations

import ipaddress

import duckdb

from recall_sql.access.keys import authenticate, were_made
from recall_sql.access.principal import LOCAL, Principal, Unauthorized
from recall_sql.errors import ConfigError


class Gate:
    """The door of a server that listens at `host`.

    Raises ConfigError if it would let in strangers: another address than loopback without a key, or with `no_auth`.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, *, host: str = "127.0.0.1", no_auth: bool = False) -> None:
        self.loopback = is_loopback(host)
        self._no_auth = no_auth
        if no_auth and not self.loopback:
            raise ConfigError(f"--no-auth is for this machine alone; {host} is seen by others")
        if not self.loopback and not were_made(con):
            raise ConfigError(
                f"{host} is seen by other machines, and there is no key yet: make one with "
                "`recall-sql keys add --agent NAME --role writer`, or listen on 127.0.0.1"
            )

    def enter(self, con: duckdb.DuckDBPyConnection, secret: str | None) -> Principal:
        """Who calls with this key, or without one. con: a cursor of the calling thread. Raises Unauthorized."""
        if secret is not None:
            return authenticate(con, secret)
        if self._no_auth or (self.loopback and not were_made(con)):
            return LOCAL
        raise Unauthorized("a key is needed: Authorization: Bearer …")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
