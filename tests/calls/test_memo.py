"""What is remembered, under which key, and where."""

from __future__ import annotations

import numpy as np

import recall_sql
from recall_sql.calls.memo import Entry, digest, stable
from recall_sql.session import instance_of


def test_a_digest_tells_parts_apart():
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")
    assert digest("a", "b") == digest("a", "b") and len(digest("a")) == 32


def test_stable_is_the_same_for_equal_values():
    assert stable({"b": 1, "a": [2]}) == stable({"a": [2], "b": 1})


def test_answers_and_vectors_come_back_by_key(con):
    memo = instance_of(con).calls.memo
    k1, k2, k3, nothing = map(digest, ("k1", "k2", "k3", "nothing"))
    memo.add([Entry(k1, "h1", "GENERATE", "m", "one"), Entry(k2, "h2", "GENERATE", "m", "two")])
    memo.add([Entry(k3, "h3", "EMBED", "m")], np.array([[1.0, 2.0]], np.float32))
    assert memo.answers([k2, k3, nothing]) == {k2: "two"}
    keys, vectors = memo.vectors([k1, k3], 2)
    assert keys == [k3] and vectors.tolist() == [[1.0, 2.0]]
    assert memo.vectors([nothing], 2)[1].shape == (0, 2)
    memo.add([])


def test_the_same_key_twice_is_harmless(con):
    memo = instance_of(con).calls.memo
    for _ in range(2):
        memo.add([Entry(digest("k"), "h", "GENERATE", "m", "one")])
    assert memo.answers([digest("k")]) == {digest("k"): "one"}


def test_it_holds_hashes_and_never_what_was_said(db):
    with recall_sql.connect(db) as con:
        con.execute("select embed('my secret is 4711')").fetchall()
        rows = con.execute("select key, input_hash, function, model from recall_memo").fetchall()
    assert rows[0][1] == digest("my secret is 4711") and rows[0][2:] == ("EMBED", "onnx:all-MiniLM-L6-v2")
    assert b"my secret" not in db.read_bytes()


def test_a_person_s_inputs_can_be_forgotten(con):
    con.execute("select embed('secret'), embed('other')").fetchall()
    con.execute("delete from recall_memo where input_hash = ?", [digest("secret")])
    con.execute("select embed('secret'), embed('other')").fetchall()
    assert con.execute("select sum(inputs)::int from recall_calls").fetchall() == [(3,)]


def test_another_database_remembers_nothing_of_this_one(con):
    con.execute("select embed('a')").fetchall()
    with recall_sql.connect() as other:
        assert other.execute("select count(*) from recall_memo").fetchall() == [(0,)]
