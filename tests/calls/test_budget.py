"""What calls cost, and a budget that stops them before it is spent."""

from __future__ import annotations

import duckdb
import pytest

import recall_sql
from recall_sql.calls.pricing import Price, price_of
from recall_sql.errors import BudgetError, ConfigError
from recall_sql.settings import parse_age, parse_budget
from tests.servers import ScriptedServer, chat, embeddings


@pytest.fixture
def server():
    with ScriptedServer(lambda call: chat("fine")) as running:
        yield running


@pytest.fixture
def con(server):
    with recall_sql.connect(settings={"llm": server.model(), "max_tokens": 20}) as connection:
        yield connection


def stopped(con: duckdb.DuckDBPyConnection, sql: str) -> str:
    with pytest.raises(duckdb.InvalidInputException) as caught:
        con.execute(sql).fetchall()
    assert isinstance(recall_sql.last_error(con), BudgetError)
    return str(caught.value)


def test_a_budget_in_calls_stops_and_keeps_what_is_done(con, server):
    con.execute("select recall_set('budget', '3 calls'), recall_set('on_error', 'null')").fetchall()
    message = stopped(con, "select generate('p' || range) from range(10)")
    assert "the budget of 3 calls doesn't allow another call: 3 calls spent" in message
    assert len(server.calls) == 3
    assert con.execute("select count(*) from recall_memo").fetchall() == [(3,)]
    con.execute("select recall_set('budget', '7 calls')").fetchall()  # begins anew
    assert con.execute("select count(generate('p' || range)) from range(10)").fetchall() == [(10,)]
    assert len(server.calls) == 10


def test_a_remembered_answer_costs_nothing(con):
    con.execute("select generate('a'), recall_set('budget', '1 call')").fetchall()
    assert con.execute("select generate('a')").fetchall() == [("fine",)]


def test_a_budget_in_tokens_counts_what_was_used(con, server):
    con.execute("select recall_set('budget', '100 tokens'), recall_set('concurrency', 1)").fetchall()
    stopped(con, "select generate('p' || range) from range(50)")  # 15 tokens each, at most 21 at the start
    assert len(server.calls) == 6


def test_a_budget_in_usd_needs_a_price(con, server, tmp_path):
    con.execute("select recall_set('budget', '1 USD')").fetchall()
    with pytest.raises(duckdb.InvalidInputException, match="nobody knows the price of http:scripted"):
        con.execute("select generate('a', {on_error: 'null'})").fetchall()
    assert server.calls == []
    prices = tmp_path / "prices.csv"
    prices.write_text("model,input,cached,output\nhttp:scripted,1000,1000,20000\n", "utf-8")
    con.execute("select recall_set('prices', ?), recall_set('concurrency', 1)", [str(prices)]).fetchall()
    stopped(con, "select generate('p' || range) from range(50)")  # 0.11 USD each, at most 0.402 at the start
    assert con.execute("select count(*), round(sum(cost_usd), 4) from recall_calls").fetchall() == [(6, 0.66)]


def test_embeddings_have_the_same_budget():
    with ScriptedServer(lambda call: embeddings([[1.0, 0.0]] * len(call.texts))) as server:
        settings = {"embedder": server.model(), "embedding_dimension": 2, "budget": "2 calls"}
        with recall_sql.connect(settings=settings) as con:
            stopped(con, "select count(embed('t' || range)) from range(1000)")
            assert con.execute("select count(*) from recall_memo").fetchall()[0][0] >= 488
        assert len(server.calls) == 2


def test_the_environment_sets_a_budget(monkeypatch, server):
    monkeypatch.setenv("RECALL_BUDGET", "1 call")
    with recall_sql.connect(settings={"llm": server.model()}) as con:
        stopped(con, "select generate('p' || range) from range(3)")
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2 USD", (2.0, "USD")),
        ("$0.50", (0.5, "USD")),
        ("100_000 tokens", (100_000.0, "tokens")),
        ("1,000 calls", (1000.0, "calls")),
        ("1 call", (1.0, "calls")),
    ],
)
def test_how_a_budget_is_written(text, read):
    assert parse_budget(text) == read


@pytest.mark.parametrize("text", ["2", "2 EUR", "much", "-1 USD", "1e3 tokens"])
def test_how_it_is_not(con, text):
    with pytest.raises(duckdb.InvalidInputException, match="a budget is written like '2 USD'"):
        con.execute("select recall_set('budget', ?)", [text]).fetchall()


def test_ages():
    assert [parse_age(text) for text in ("90 s", "2 minutes", "12 hours", "1 day", "2 weeks")] == [
        90,
        120,
        43_200,
        86_400,
        1_209_600,
    ]


# -- prices ------------------------------------------------------------------------------------------------------------


def test_the_longest_name_counts_and_an_unknown_price_is_no_zero():
    mini, full = price_of("openai:gpt-4o-mini-2024-07-18"), price_of("openai:gpt-4o-2024-08-06")
    assert mini is not None and full is not None and mini.input < full.input
    assert price_of("http:whatever") is None
    assert price_of("onnx:all-MiniLM-L6-v2") == Price(0, 0, 0)


def test_cached_tokens_have_their_own_price():
    price = Price(input=2.0, cached=0.5, output=8.0)
    assert price.cost(1_000_000, 400_000, 100_000) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.1 * 8)
    assert price.cost(None, None, None) is None
    assert Price(0, 0, 0).cost(None, None, None) == 0


@pytest.mark.parametrize("content", ["model,price\nx,1\n", "model,input,cached,output\nx,cheap,0,0\n"])
def test_a_price_file_that_can_not_be_used(tmp_path, content):
    file = tmp_path / "prices.csv"
    file.write_text(content, "utf-8")
    with pytest.raises(ConfigError, match=r"prices\.csv"):
        price_of("x", str(file))
    with pytest.raises(ConfigError, match="can't be read"):
        price_of("x", str(tmp_path / "none.csv"))


def test_the_cost_of_a_call_is_in_its_row_and_null_where_unknown(con, server, tmp_path):
    con.execute("select generate('a')").fetchall()
    prices = tmp_path / "prices.csv"
    prices.write_text("model,input,cached,output\nhttp:*,1,0.5,2\n", "utf-8")
    con.execute("select recall_set('prices', ?)", [str(prices)]).fetchall()
    con.execute("select generate('b')").fetchall()
    costs = con.execute("select cost_usd from recall_calls order by called_at").fetchall()
    assert costs[0] == (None,) and costs[1][0] == pytest.approx((10 * 1 + 5 * 2) / 1e6)
