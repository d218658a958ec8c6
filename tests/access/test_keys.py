"""Keys: shown once, stored as a hash, bound to an agent, a user and a role; and who is let in without one."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import recall_sql
from recall_sql import InputError, Memory
from recall_sql.access import (
    LOCAL,
    ROLES,
    Forbidden,
    Gate,
    Principal,
    Unauthorized,
    add_key,
    authenticate,
    is_loopback,
    keys,
    revoke_key,
)
from recall_sql.cli import cli
from recall_sql.errors import ConfigError
from recall_sql.session import SCHEMA_VERSION


def test_a_key_is_recognised_and_stored_nowhere(db: Path) -> None:
    with recall_sql.connect(db) as con:
        secret, key = add_key(con, agent_id="a1", user_id="lina", role="writer", label="the app")
        assert authenticate(con, secret) == Principal("a1", "lina", "writer", key.key_id)
        assert keys(con) == [key]
        assert con.sql("from recall_runs").fetchall() == []
        con.execute("checkpoint")
    assert secret.rsplit("_", 1)[1].encode() not in db.read_bytes()
    assert secret not in repr(key)


@pytest.mark.parametrize(
    "wrong", ["", "recall_", "recall_12345678_" + "x" * 43, "ünicode", "' or 1=1 --", "a" * 10_000, "\x00"]
)
def test_what_is_no_key_is_refused_without_being_repeated(con: duckdb.DuckDBPyConnection, wrong: str) -> None:
    add_key(con, agent_id="a1")
    with pytest.raises(Unauthorized) as refused:
        authenticate(con, wrong)
    assert str(refused.value) == "the key isn't valid"


def test_a_revoked_key_opens_nothing(con: duckdb.DuckDBPyConnection) -> None:
    secret, key = add_key(con, agent_id="a1")
    first = revoke_key(con, key.key_id).revoked_at
    assert first is not None and revoke_key(con, key.key_id).revoked_at == first
    with pytest.raises(Unauthorized):
        authenticate(con, secret)
    with pytest.raises(InputError, match="no such key"):
        revoke_key(con, secret)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"role": "root"}, "no role 'root'"),
        ({"agent_id": " "}, "agent_id"),
        ({"user_id": ""}, "user_id"),
        ({"user_id": "a\0b"}, "user_id"),
    ],
)
def test_a_key_for_nobody_is_refused(con: duckdb.DuckDBPyConnection, given: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        add_key(con, **{"agent_id": "a1", **given})
    assert keys(con) == []


def test_a_role_holds_the_ones_before_it() -> None:
    for has in ROLES:
        for needed in ROLES:
            principal = Principal("a1", None, has)
            if ROLES.index(has) >= ROLES.index(needed):
                principal.require(needed)
            else:
                with pytest.raises(Forbidden, match=f"role {needed}"):
                    principal.require(needed)


def test_a_key_says_whose_memory_it_is() -> None:
    bound, unbound = Principal("a1", "lina", "reader"), Principal("a1", None, "reader")
    assert (bound.agent(), bound.agent("a1"), bound.user(), bound.user("lina")) == ("a1", "a1", "lina", "lina")
    assert (unbound.user(), unbound.user("marc")) == ("default", "marc")
    assert (LOCAL.agent(), LOCAL.agent("a2")) == ("default", "a2")
    for ask in (lambda: bound.agent("a2"), lambda: bound.user("marc"), lambda: unbound.agent("A1")):
        with pytest.raises(Forbidden, match="another"):
            ask()


def test_this_machine_is_let_in_until_a_key_was_made(con: duckdb.DuckDBPyConnection) -> None:
    gate = Gate(con)
    assert gate.enter(con, None) is LOCAL
    with pytest.raises(Unauthorized):
        gate.enter(con, "recall_wrong")  # who gives a key wants to be that one
    _, key = add_key(con, agent_id="a1", role="admin")
    for _ in range(2):
        with pytest.raises(Unauthorized, match="a key is needed"):
            gate.enter(con, None)
        revoke_key(con, key.key_id)  # and revoking the last one doesn't open the door again
    assert Gate(con, no_auth=True).enter(con, None) is LOCAL


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_others_are_let_in_with_a_key_only(con: duckdb.DuckDBPyConnection, host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(ConfigError, match="no key yet"):
        Gate(con, host=host)
    secret, _ = add_key(con, agent_id="a1")
    gate = Gate(con, host=host)
    assert gate.enter(con, secret).agent_id == "a1"
    with pytest.raises(Unauthorized):
        gate.enter(con, None)
    with pytest.raises(ConfigError, match="this machine alone"):
        Gate(con, host=host, no_auth=True)


def test_loopback_has_several_names() -> None:
    assert all(map(is_loopback, ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LocalHost"]))


def test_forgetting_a_person_ends_their_keys_and_keeps_the_door_closed(con: duckdb.DuckDBPyConnection) -> None:
    secret, _ = add_key(con, agent_id="a1", user_id="lina", label="Lina's phone")
    other, _ = add_key(con, agent_id="a1", user_id="marc")
    Memory(con, agent_id="a1", user_id="lina").forget(session_id="s1")
    assert authenticate(con, secret).user_id == "lina"
    Memory(con, agent_id="a1", user_id="lina").forget(everything=True)
    with pytest.raises(Unauthorized):
        authenticate(con, secret)
    assert authenticate(con, other).user_id == "marc"
    assert "ina" not in str(keys(con))


def test_keys_on_the_command_line(db: Path) -> None:
    def run(*arguments: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(cli, ["keys", *arguments, "--db", str(db)])
        return result.exit_code, result.stdout, result.stderr

    assert "there is no database" in run("add", "--agent", "a1", "--role", "reader")[2] and not db.exists()
    recall_sql.connect(db).close()
    code, secret, about = run("add", "--agent", "a1", "--user", "lina", "--role", "writer", "--label", "app")
    assert code == 0 and "writer of agent a1, user lina" in about
    with recall_sql.connect(db) as con:
        key_id = authenticate(con, secret.strip()).key_id
    assert key_id is not None
    code, listed, _ = run("list")
    assert code == 0 and key_id in listed and "lina" in listed and secret.strip() not in listed
    assert run("revoke", key_id)[0] == 0
    with recall_sql.connect(db) as con, pytest.raises(Unauthorized):
        authenticate(con, secret.strip())
    assert run("revoke", "nope")[0] != 0
    assert run("add", "--role", "writer")[0] == 2


def test_a_database_from_before_there_were_keys_gets_the_table(db: Path) -> None:
    with recall_sql.connect(db) as con:
        con.execute("drop table recall_keys")
        con.execute("insert into chat_turns (role, content) values ('user', 'hello')")
        con.execute("update recall_meta set value = '1' where name = 'schema_version'")
    with recall_sql.connect(db) as con:
        assert keys(con) == [] and con.execute("select content from chat_turns").fetchall() == [("hello",)]
        assert con.execute("select value from recall_meta where name = 'schema_version'").fetchall() == [
            (str(SCHEMA_VERSION),)
        ]
