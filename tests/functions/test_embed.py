"""EMBED: types, options, memo, and what DuckDB's planner does with it."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

import recall_sql
from recall_sql.session import instance_of
from tests.servers import ScriptedServer, embeddings


def asked(con: duckdb.DuckDBPyConnection) -> int:
    """Texts that a model was asked to embed so far."""
    store = instance_of(con).store
    return con.execute(f"select coalesce(sum(inputs), 0)::int from {store}.recall_calls").fetchall()[0][0]


def refused(con: duckdb.DuckDBPyConnection, sql: str) -> str:
    with pytest.raises(duckdb.InvalidInputException) as caught:
        con.execute(sql).fetchall()
    return str(caught.value)


def test_a_unit_vector_of_floats(con):
    kind, length = con.execute(
        "select typeof(v), list_dot_product(v::float[], v::float[]) from (select embed('hello') as v)"
    ).fetchall()[0]
    assert kind == "FLOAT[384]" and length == pytest.approx(1, abs=1e-5)


def test_near_texts_are_near(con):
    near, far = con.execute(
        "select array_cosine_similarity(embed('I eat no meat'), embed('I am a vegetarian')),"
        " array_cosine_similarity(embed('I eat no meat'), embed('the train leaves at nine'))"
    ).fetchall()[0]
    assert near > far + 0.2


def test_null_in_null_out(con):
    rows = con.execute("select embed(t) is null from (values ('a'), (null), ('b'), (null)) x(t)").fetchall()
    assert [row[0] for row in rows] == [False, True, False, True]
    assert con.execute("select embed(null)").fetchall() == [(None,)]
    assert con.execute("select count(embed(null::varchar)) from range(5000)").fetchall() == [(0,)]
    assert asked(con) == 2


def test_no_rows(con):
    assert con.execute("select embed('x' || range) from range(0)").fetchall() == []
    con.execute("create table nothing (text varchar)")
    assert con.execute("select count(embed(text)) from nothing").fetchall() == [(0,)]
    assert asked(con) == 0


@pytest.mark.parametrize("text", ["", " ", "\n", "🙂", "مرحبا", "会議", "a\u0000b", "x" * 1_000_000])
def test_any_text(con, text):
    assert con.execute("select len(embed(?))", [text]).fetchall() == [(384,)]


def test_more_rows_than_a_chunk(con):
    rows = con.execute("select count(distinct embed('t' || (range % 7))), count(*) from range(5000)").fetchall()
    assert rows == [(7, 5000)] and asked(con) == 7


def test_every_row_gets_its_own_vector(con):
    con.execute("create table t as select 'text number ' || (range * 7919 % 300) as text from range(3000)")
    wrong = con.execute(
        "with once as (select distinct text, embed(text, {memo: false}) as v from t)"
        " select count(*) from t join once using (text) where array_distance(embed(t.text), once.v) > 1e-4"
    ).fetchall()
    assert wrong == [(0,)]


def test_enum_json_and_dictionary_text(con):
    con.execute("create type mood as enum ('happy', 'sad')")
    assert con.execute("select embed('sad'::mood) = embed('sad')").fetchall() == [(True,)]
    assert con.execute("""select embed('{"a": 1}'::json) = embed('{"a": 1}')""").fetchall() == [(True,)]
    con.execute("create table moods as select if(range % 2 = 0, 'happy', 'sad')::mood as m from range(3000)")
    assert con.execute("select count(distinct embed(m)) from moods").fetchall() == [(2,)]


@pytest.mark.parametrize("value", ["1", "1.5", "true", "'x'::blob", "['a']", "{a: 1}", "date '2026-01-01'"])
def test_another_type_is_refused_by_name(con, value):
    assert "EMBED: text must be VARCHAR, not" in refused(con, f"select embed({value})")


def test_what_is_wrong_with_the_call(con):
    assert "EMBED takes 1 to 2 arguments, not 3: EMBED(text[, model | {model, memo}])" in refused(
        con, "select embed('a', 'b', 'c')"
    )
    assert "EMBED: unknown option 'modle'; did you mean 'model'?" in refused(con, "select embed('a', {modle: 'x'})")
    assert "EMBED: option 'memo'" in refused(con, "select embed('a', {memo: 'perhaps'})")
    assert "EMBED: the second argument must be a model string or a struct" in refused(con, "select embed('a', 3)")
    assert "EMBED: unknown model 'minilmm': did you mean 'minilm'?" in refused(con, "select embed('a', 'minilmm')")


def test_options_as_string_struct_and_null(con):
    for second in ("'minilm'", "{model: 'minilm'}", "null", "{model: null}", "{memo: true}"):
        assert con.execute(f"select embed('hello', {second}) = embed('hello')").fetchall() == [(True,)], second
    assert asked(con) == 1


def test_a_model_per_row(con):
    con.execute("create table t as select * from (values ('a', 'minilm'), ('b', null), ('c', 'minilm')) x(text, model)")
    assert con.execute("select count(embed(text, model)), count(embed(text, {model: model})) from t").fetchall() == [
        (3, 3)
    ]
    assert asked(con) == 3


def test_remembered_across_statements_and_not_when_asked_not_to(con):
    con.execute("select embed('a'), embed('b')").fetchall()
    con.execute("select embed('b'), embed('a')").fetchall()
    assert asked(con) == 2
    con.execute("select embed('a', {memo: false})").fetchall()
    assert asked(con) == 3
    con.execute("select recall_set('memo', false)").fetchall()
    con.execute("select embed('a')").fetchall()
    assert asked(con) >= 4


def test_a_rolled_back_statement_has_not_forgotten_what_it_embedded(con):
    con.execute("begin")
    con.execute("create table t as select embed('x' || range) from range(20)").fetchall()
    con.execute("rollback")
    assert asked(con) == 20
    con.execute("create table t as select embed('x' || range) from range(20)").fetchall()
    assert asked(con) == 20


@pytest.mark.parametrize(
    "sql",
    [
        "explain select embed('constant')",
        "prepare p as select embed('constant')",
        "select embed('constant') from range(3000)",
        "create view v as select embed('constant') as e",
        "select count(*) from range(5) where embed('constant')[1] < 2 and embed('constant')[2] < 2 and range < 9",
        "select count(*) from (select embed('constant') as e from range(9)) where e[1] < 2 or e[2] < 2 or e[3] < 2",
    ],
)
def test_the_planner_may_fold_and_repeat_the_call_but_the_model_answers_once(con, sql):
    for _ in range(2):
        con.execute(sql.replace("create view", "create or replace view")).fetchall()
        con.execute("deallocate p").fetchall() if sql.startswith("prepare") else None
    con.execute("select embed('constant')").fetchall()
    assert asked(con) == 1


def test_several_predicates_on_a_column_embed_each_text_once(con):
    con.execute("create table t as select 'text ' || range as text from range(100)")
    con.execute(
        "select count(*) from t where embed(text)[1] > 0 or embed(text)[2] > 0 or embed(text)[3] > 0"
    ).fetchall()
    assert asked(con) == 100


def test_another_length_than_the_database_s_is_refused(con):
    with ScriptedServer(lambda call: embeddings([[1.0, 0.0, 0.0]] * len(call.texts))) as server:
        message = refused(con, f"select embed('a', '{server.model()}')")
    assert "makes 3-dimension vectors, but this database was opened for 384" in message


def test_a_remote_model(tmp_path):
    def script(call):
        return embeddings([[float(len(text)), 1.0, 0.0] for text in call.texts])

    with ScriptedServer(script) as server:
        settings = {"embedder": server.model(), "embedding_dimension": 3}
        with recall_sql.connect(tmp_path / "m.duckdb", settings=settings) as con:
            first, second = con.execute("select embed(t) from (values ('a'), ('bbb')) x(t)").fetchall()
            assert np.allclose(first[0], np.array([1, 1, 0]) / np.sqrt(2))
            assert np.allclose(second[0], np.array([3, 1, 0]) / np.sqrt(10))
            con.execute("select embed('a')").fetchall()
            assert [call.texts for call in server.calls] == [["a", "bbb"]]


def test_the_same_name_at_another_server_is_another_model(con):
    def script(value):
        return lambda call: embeddings([[value] + [1.0] * 383] * len(call.texts))

    with ScriptedServer(script(1.0)) as one, ScriptedServer(script(50.0)) as two:
        first, second = (con.execute("select embed('a', ?)", [s.model("same")]).fetchall() for s in (one, two))
        assert first != second


def test_a_failure_says_function_provider_cause_and_remedy(con):
    message = refused(con, "select embed('a', 'http://127.0.0.1:9/v1#m')")
    assert "EMBED with http:m at http://127.0.0.1:9/v1: the connection failed" in message
    assert "is the server running at http://127.0.0.1:9/v1?" in message
    assert con.execute("select status, error is not null from recall_calls").fetchall() in ([], [("error", True)])


def test_what_was_embedded_before_a_failure_is_not_embedded_again(tmp_path):
    def script(call):
        ok = len(server.calls) == 1 or server.healed
        return embeddings([[1.0, float(len(text))] for text in call.texts] if ok else [])

    with ScriptedServer(script) as server:
        server.healed = False
        with recall_sql.connect(
            tmp_path / "m.duckdb",
            settings={"embedder": server.model(), "embedding_dimension": 2, "retries": 0, "concurrency": 1},
        ) as con:
            con.execute("create table t as select 'text ' || range as text from range(500)")
            assert "0 vectors came back for 244 texts" in refused(con, "select count(embed(text)) from t")
            server.healed = True
            assert con.execute("select count(embed(text)) from t").fetchall() == [(500,)]
            assert [len(call.texts) for call in server.calls] == [256, 244, 244]
            assert con.execute("select inputs, status from recall_calls order by called_at").fetchall() == [
                (256, "ok"),
                (244, "error"),
                (244, "ok"),
            ]
