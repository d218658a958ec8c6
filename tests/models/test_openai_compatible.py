"""The OpenAI-compatible backend against a scripted server, and against llama.cpp's own server."""

from __future__ import annotations

import asyncio
import json
import socket
import traceback
from email.utils import formatdate
from time import time

import numpy as np
import pytest

from recall_sql.errors import ConfigError, ModelError
from recall_sql.models import registry
from recall_sql.models.base import Answer, Embedder, Generator, Request
from tests.llama import llama_server
from tests.servers import Reply, ScriptedServer, chat, embeddings, error

CLOSED = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def ask(raw: str, request: Request | None = None, **options) -> Answer:
    return asyncio.run(registry.generator(raw, **options).generate(request or Request("Hello?")))


def failure_of(script, *, function: str = "generate", **options) -> ModelError:
    with ScriptedServer(script) as server, pytest.raises(ModelError) as caught:
        if function == "generate":
            ask(server.model(), **options)
        else:
            registry.embedder(server.model(), **options).embed(["a", "b"])
    return caught.value


# -- generation --------------------------------------------------------------------------------------------------------


def test_the_answer_and_its_cost():
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": 3,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    with ScriptedServer(lambda call: chat("Hi.", usage=usage)) as server:
        model = registry.generator(server.model("m"))
        assert isinstance(model, Generator)
        answer = asyncio.run(model.generate(Request("Hello?", system="Be brief.", temperature=0.5, max_tokens=7)))
    assert answer == Answer("Hi.", tokens_in=12, tokens_out=3, tokens_cached=8, finish_reason="stop")
    (call,) = server.calls
    assert call.path == "/v1/chat/completions"
    assert call.json == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}],
        "temperature": 0.5,
        "max_tokens": 7,
    }


@pytest.mark.parametrize(
    ("schema", "strict"),
    [(CLOSED, True), ({**CLOSED, "required": ["name"]}, False), ({"type": "array", "items": CLOSED}, True)],
)
def test_a_json_schema_is_sent_and_strict_only_where_openai_would_take_it(schema, strict):
    with ScriptedServer(lambda call: chat("{}")) as server:
        ask(server.model(), Request("x", json_schema=schema))
    sent = server.calls[0].json["response_format"]
    assert sent == {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": strict}}


def test_openai_itself_is_asked_in_its_own_words():
    with ScriptedServer(lambda call: chat("ok")) as server:
        options = {"base_url": server.url, "api_key": "sk-of-a-test"}
        ask("openai:gpt-4o-mini", Request("x", max_tokens=9), **options)
        ask("openai:o4-mini", Request("x"), **options)
    first, second = server.calls
    assert first.json["max_completion_tokens"] == 9 and "max_tokens" not in first.json
    assert first.headers["authorization"] == "Bearer sk-of-a-test"
    assert "temperature" in first.json and "temperature" not in second.json


def test_openais_address_and_key_come_from_its_own_variables(monkeypatch):
    with ScriptedServer(lambda call: chat("ok")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
        ask("openai:gpt-4o", timeout=31)  # a timeout of its own: a client of its own
    assert server.calls[0].headers["authorization"] == "Bearer sk-from-the-environment"


def test_openais_key_goes_to_no_other_host(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    with ScriptedServer(lambda call: chat("ok")) as server:
        ask(server.model())
        ask("ollama:qwen3", base_url=server.url)
    assert [call.headers["authorization"] for call in server.calls] == ["Bearer http", "Bearer ollama"]


def test_without_a_key_openai_is_refused_before_the_first_row(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        registry.generator("openai:gpt-4o-mini", timeout=32)


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (chat(None, refusal="I can't help with that."), "refused: I can't help"),
        (chat(None), "holds no text"),
        (chat(None, finish_reason="length"), "raise max_tokens"),
        (chat("", finish_reason="content_filter"), "content filter"),
        (Reply({"choices": []}), "no choices"),
        (Reply({"choices": None}), "no choices"),
        (Reply({}), "no choices"),
        (Reply([]), "no choices"),
        (Reply({"choices": [{"index": 0, "message": None, "finish_reason": None}]}), "holds no text"),
        (Reply(b'{"choices": [{"mess'), "can't be read"),
        (Reply(b"<html>Welcome</html>", headers={"Content-Type": "text/html"}), "no choices"),
    ],
)
def test_an_answer_without_an_answer(reply, cause):
    failure = failure_of(lambda call: reply)
    assert cause in str(failure)
    assert str(failure).startswith("GENERATE with http:scripted at http://127.0.0.1:")


def test_a_cut_off_answer_is_an_answer_that_says_so():
    with ScriptedServer(lambda call: chat("Once upon", finish_reason="length", usage={})) as server:
        assert ask(server.model()) == Answer("Once upon", finish_reason="length")


# -- faults ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "transient", "remedy"),
    [
        (400, False, ""),
        (401, False, "set RECALL_API_KEY"),
        (403, False, "set RECALL_API_KEY"),
        (404, False, "does the server know a model 'scripted'"),
        (408, True, ""),
        (409, True, ""),
        (429, True, "RECALL_CONCURRENCY"),
        (500, True, ""),
        (503, True, ""),
    ],
)
def test_a_status_says_whether_to_try_again_and_what_to_do(status, transient, remedy):
    attempts = []
    failure = failure_of(lambda call: attempts.append(call) or error(status, "the cause"))
    assert (failure.status, failure.transient, failure.retry_after) == (status, transient, None)
    assert f"HTTP {status}: the cause" in failure.cause and remedy in failure.remedy
    assert len(attempts) == 1  # the client itself does not retry


def test_a_wrong_openai_key_names_openais_variable():
    with ScriptedServer(lambda call: error(401)) as server, pytest.raises(ModelError, match="set OPENAI_API_KEY"):
        ask("openai:gpt-4o-mini", base_url=server.url, api_key="sk-wrong")


def test_a_model_ollama_has_not_got():
    with ScriptedServer(lambda call: error(404)) as server, pytest.raises(ModelError, match="ollama pull qwen3"):
        ask("ollama:qwen3", base_url=server.url)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After-Ms": "250"}, 0.25),
        (lambda: {"Retry-After": formatdate(time() + 3600, usegmt=True)}, 3600),
        (lambda: {"Retry-After": formatdate(time() - 3600, usegmt=True)}, 0),
        ({"Retry-After": "soon"}, None),
    ],
)
def test_how_long_the_server_asks_to_wait(headers, seconds):
    failure = failure_of(lambda call: error(429, headers=headers() if callable(headers) else headers))
    assert failure.retry_after == (
        seconds if seconds is None else pytest.approx(seconds, abs=60 if seconds > 60 else 0)
    )


def test_an_error_page_is_quoted_briefly():
    page = b"<html>" + b"x" * 10_000
    failure = failure_of(lambda call: Reply(page, status=502, headers={"Content-Type": "text/html"}))
    assert failure.status == 502 and failure.transient and len(str(failure)) < 600


def test_a_broken_connection_is_worth_another_try():
    failure = failure_of(lambda call: chat("Hello", cut=True))
    assert failure.transient and failure.status is None and "connection failed" in failure.cause


def test_a_timeout_is_worth_another_try():
    failure = failure_of(lambda call: chat("late", delay=1.0), timeout=0.2)
    assert failure.transient and "no answer within 0.2 s" in failure.cause


def test_nobody_listens():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match=f"is the server running at {url}") as caught:
            ask(f"{url}#m")
    assert caught.value.transient


@pytest.mark.parametrize("function", ["generate", "embed"])
@pytest.mark.parametrize(
    "reply",
    [
        lambda key: error(401, f"Incorrect API key provided: {key}."),
        lambda key: error(401, f"Incorrect API key provided: {key[:8]}********{key[-4:]}."),
        lambda key: error(500, json.dumps({"headers": {"authorization": f"Bearer {key}"}})),
        lambda key: Reply(f"{key} is not JSON".encode()),
    ],
)
def test_a_key_never_shows(function, reply):
    key = "sk-canary-1234567890abcdef"
    failure = failure_of(lambda call: reply(key), function=function, api_key=key)
    shown = "".join(traceback.format_exception(failure)) + repr(failure.__dict__)
    assert "canary" not in shown and key[-4:] not in shown
    assert failure.__cause__ is None and failure.__context__ is None  # nothing that holds the request hangs on it


# -- concurrency -------------------------------------------------------------------------------------------------------


def test_many_requests_are_in_flight_and_every_one_gets_its_own_answer():
    def later_ones_first(call):
        return chat(f"re: {call.prompt}", delay=0.2 - 0.01 * int(call.prompt))

    with ScriptedServer(later_ones_first) as server:
        model = registry.generator(server.model())

        async def all_at_once():
            return await asyncio.gather(*(model.generate(Request(str(n))) for n in range(16)))

        answers = asyncio.run(all_at_once())
        again = asyncio.run(all_at_once())  # another event loop: another connection pool
    assert [answer.text for answer in answers] == [f"re: {n}" for n in range(16)]
    assert again == answers
    assert server.most_in_flight >= 8


# -- embedding ---------------------------------------------------------------------------------------------------------


def test_vectors_come_back_by_index_and_of_unit_length():
    def backwards(call):
        vectors = [[float(len(text)), 1.0, 0.0] for text in call.texts]
        return embeddings(vectors[::-1], indexes=list(range(len(vectors)))[::-1])

    with ScriptedServer(backwards) as server:
        model = registry.embedder(server.model())
        vectors = model.embed(["a", "bbb", ""])
        assert isinstance(model, Embedder) and model.dimension == 3
        assert len(server.calls) == 1
    expected = np.array([[1, 1, 0], [3, 1, 0], [1, 1, 0]], np.float32)
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    assert vectors.dtype == np.float32
    assert server.calls[0].json["input"] == ["a", "bbb", " "]  # an endpoint refuses an empty text


def test_a_dimension_can_be_asked_for_and_is_otherwise_found_out():
    with ScriptedServer(lambda call: embeddings([[1.0] * call.json.get("dimensions", 5)] * len(call.texts))) as server:
        assert registry.embedder(server.model(), dimensions=2).dimension == 2
        assert server.calls == []
        assert registry.embedder(server.model(), dimensions=2).embed(["a"]).shape == (1, 2)
        assert server.calls[0].json["dimensions"] == 2
        assert registry.embedder(server.model()).dimension == 5
        assert registry.embedder(server.model()).embed([]).shape == (0, 5)


@pytest.mark.parametrize(
    ("reply", "cause"),
    [  # F22 of the field cases, and its relatives
        (embeddings([[1.0, 0.0]]), "1 vectors came back for 2 texts"),
        (embeddings([[1.0, 0.0]] * 3), "3 vectors came back for 2 texts"),
        (embeddings([[1.0, 0.0], []]), "different or no length"),
        (embeddings([[], []]), "different or no length"),
        (embeddings([[1.0, 0.0], [1.0]]), "different or no length"),
        (embeddings([[1.0, 0.0]] * 2, indexes=[0, 0]), "not numbered 0 to 1"),
        (embeddings([[1.0, 0.0]] * 2, indexes=[1, 2]), "not numbered 0 to 1"),
        (embeddings([[1.0, 0.0], [0.0, 0.0]]), "zero or holds numbers"),
        (embeddings([[1.0, 0.0], [float("nan"), 1.0]]), "zero or holds numbers"),
        (embeddings([[1.0, 0.0, 0.0]] * 2), "vectors have 3 numbers, not 2"),
        (Reply({"data": None}), "for 2 texts"),
        (Reply({}), "for 2 texts"),
        (Reply(b'{"data": [{"emb'), "can't be read"),
        (error(500), "HTTP 500"),
    ],
)
def test_no_text_gets_a_vector_that_is_not_its_own(reply, cause):
    failure = failure_of(lambda call: reply, function="embed", dimensions=2)
    assert cause in str(failure) and failure.function == "EMBED" and failure.transient


# -- a real server -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama():
    """The /v1 address of llama.cpp's own HTTP server, and its key."""
    server = llama_server(context=1024, slots=2, key="key-of-llama-server")
    yield f"{server.listening_address}/v1", "key-of-llama-server"


def test_llama_cpps_server_follows_a_schema(llama):
    url, key = llama
    request = Request("I am Ann, I am 31.", system="Give name and age.", max_tokens=60, json_schema=CLOSED)
    answer = ask(f"{url}#smollm2", request, api_key=key)
    assert set(json.loads(answer.text)) == {"name", "age"}
    assert answer.tokens_in > 10 and answer.tokens_out > 5 and answer.finish_reason == "stop"


def test_llama_cpps_server_refuses_a_prompt_that_is_too_long_and_a_wrong_key(llama):
    url, key = llama
    with pytest.raises(ModelError, match="exceeds the available context size") as caught:
        ask(f"{url}#smollm2", Request("word " * 2000), api_key=key)
    assert caught.value.status == 400 and not caught.value.transient
    with pytest.raises(ModelError, match="set RECALL_API_KEY"):
        ask(f"{url}#smollm2", api_key="another-key")
