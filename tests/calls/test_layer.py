"""The path of a model call, with models made for the test."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from recall_sql.calls import Question
from recall_sql.errors import ConfigError, ModelError
from recall_sql.models.base import Answer, Request
from recall_sql.session import instance_of


class Echo:
    provider, model, max_concurrency = "test", "echo", 8

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.running = self.most = 0

    async def generate(self, request: Request) -> Answer:
        self.prompts.append(request.prompt)
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.01)
        self.running -= 1
        if request.prompt == "fault":
            raise ZeroDivisionError("a fault of the plugin")
        if request.prompt == "refused":
            raise ModelError("GENERATE", "test:echo", "no", status=400, retry_after=2.0, transient=True)
        return Answer(request.prompt, tokens_in=3, tokens_out=4)


class Ones:
    provider, model, dimension, max_batch = "test", "ones", 2, 3

    def __init__(self, shape: tuple[int, ...] | None = None) -> None:
        self.batches: list[int] = []
        self.shape = shape

    def embed(self, texts):
        self.batches.append(len(texts))
        if self.shape:
            return np.ones(self.shape, np.float32)
        return np.array([[len(text), 1] for text in texts], np.float32)


def questions(*prompts: str) -> list[Question]:
    return [Question(Request(prompt), prompt) for prompt in prompts]


@pytest.fixture
def calls(con):
    con.execute("select recall_set('retries', 0)").fetchall()
    return instance_of(con).calls


def test_equal_questions_are_asked_once_and_answered_in_order(calls):
    echo = Echo()
    assert calls.ask("GENERATE", echo, questions("a", "b", "a"), memo=True) == ["a", "b", "a"]
    assert sorted(echo.prompts) == ["a", "b"]
    assert calls.ask("GENERATE", echo, questions("b", "c"), memo=True) == ["b", "c"]
    assert sorted(echo.prompts) == ["a", "b", "c"]
    assert calls.ask("GENERATE", echo, [], memo=True) == []


def test_another_function_version_or_server_asks_anew(calls):
    echo = Echo()
    calls.ask("GENERATE", echo, questions("a"), memo=True)
    calls.ask("EXTRACT_FACTS", echo, questions("a"), memo=True)
    calls.ask("GENERATE", echo, [Question(Request("a"), "a", version="2")], memo=True)
    calls.ask("GENERATE", echo, questions("a"), memo=True, address="http://elsewhere/v1")
    assert len(echo.prompts) == 4


def test_the_model_s_own_bound_on_concurrency(calls):
    echo = Echo()
    echo.max_concurrency = 2
    calls.ask("GENERATE", echo, questions(*map(str, range(10))), memo=True)
    assert echo.most == 2


def test_an_error_is_the_row_s_own_and_names_the_function(calls):
    good, bad = calls.ask("EXTRACT_FACTS", Echo(), questions("a", "refused"), memo=True)
    assert good == "a"
    assert isinstance(bad, ModelError) and bad.function == "EXTRACT_FACTS"
    assert (bad.status, bad.retry_after, bad.transient) == (400, 2.0, True)


def test_a_fault_of_a_plugin_raises_and_loses_no_answer(calls):
    echo = Echo()
    with pytest.raises(ZeroDivisionError):
        calls.ask("GENERATE", echo, questions("a", "fault", "b"), memo=True)
    assert calls.ask("GENERATE", echo, questions("a", "b"), memo=True) == ["a", "b"]
    assert len(echo.prompts) == 3


def test_embedding_in_batches_each_remembered(calls, con):
    ones = Ones()
    vectors = calls.embed(["a", "bb", "a", "ccc", "dddd"], ones, memo=True)
    assert vectors.tolist() == [[1, 1], [2, 1], [1, 1], [3, 1], [4, 1]]
    assert ones.batches == [3, 1]
    assert calls.embed(["dddd", "a"], ones, memo=True).tolist() == [[4, 1], [1, 1]]
    assert ones.batches == [3, 1]
    assert con.execute("select function, model, inputs from recall_calls").fetchall() == [
        ("EMBED", "test:ones", 3),
        ("EMBED", "test:ones", 1),
    ]


@pytest.mark.parametrize("shape", [(1, 2), (2, 2), (3, 3), (0, 2), (3,)])
def test_vectors_that_do_not_fit_the_texts_are_an_error(calls, shape):
    with pytest.raises(ModelError, match="came back for 3 texts of 2 dimensions"):
        calls.embed(["a", "b", "c"], Ones(shape), memo=True)


def test_an_unusable_model_is_an_error_of_configuration(con):
    from recall_sql.functions.generate import generator

    with pytest.raises(ConfigError, match="unknown model"):
        generator(instance_of(con), "nonsense")
