"""GENERATE and EMBED through any OpenAI-compatible endpoint: OpenAI, Ollama, vLLM, llama.cpp's server …

Responsible for the request, for reading and checking the answer, and for errors that name cause and remedy and never a
key. Retries, rate limits and memo are the business of recall_sql/calls: the client's own retries are off.
"""

from __future__ import annotations

import asyncio
import email.utils
import re
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import openai

from recall_sql.errors import ConfigError, ModelError
from recall_sql.models.base import Answer, Embedded, Request, ToolCall

TRANSIENT = frozenset({408, 409, 425, 429})  # and every 5xx
TOO_LONG = re.compile(  # as OpenAI, vLLM, llama.cpp, Ollama and text-embeddings-inference word it
    r"context_length|context (length|size|window)|maximum .{0,20}(tokens|length)|max.{0,10}tokens per request"
    r"|too (many tokens|long|large)|exceed_context|physical batch size|must have less than",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Endpoint:
    """Where requests go. provider: openai, ollama or http. base_url, api_key: None for the openai package's own."""

    provider: str
    model: str
    base_url: str | None
    api_key: str | None
    timeout: float

    @property
    def name(self) -> str:
        where = f" at {self.base_url}" if self.base_url else ""
        return f"{self.provider}:{self.model}{where}"

    def client_arguments(self) -> dict[str, Any]:
        """A server without a key is sent the provider's name; OPENAI_API_KEY goes to no other host than OpenAI's."""
        key = self.api_key or (None if self.provider == "openai" else self.provider)
        return {"base_url": self.base_url, "api_key": key, "timeout": self.timeout, "max_retries": 0}


class OpenAIGenerator:
    """Chat completions of one model. Raises ConfigError where there is no key for OpenAI."""

    max_concurrency = 256  # what one connection pool can carry; the caller's own bound is lower

    def __init__(self, provider: str, model: str, *, base_url: str | None, api_key: str | None, timeout: float) -> None:
        self.provider, self.model = provider, model
        self._endpoint = Endpoint(provider, model, base_url, api_key, timeout)
        _sync_client(self._endpoint)  # a missing key shows now, not at row 1

    async def generate(self, request: Request) -> Answer:
        """The answer. Raises ModelError, with status, retry_after and transient, for whatever goes wrong."""
        client = _async_client(self._endpoint)
        completion, failure = None, None
        try:
            completion = await client.chat.completions.create(**_chat_arguments(self._endpoint, request))
        except (openai.OpenAIError, ValueError) as error:
            failure = _model_error("GENERATE", self._endpoint, error)
        if failure:
            raise failure  # outside of the handler, so that no request with its key hangs on it as context
        return _read_answer(self._endpoint, completion)


class OpenAIEmbedder:
    """Embeddings of one model.

    dimensions: length to ask the endpoint for, None for the model's own. known: the model's own length where it is
    known; else the first request finds out. Vectors are brought to unit length; '' is sent as ' ': endpoints refuse ''.
    """

    max_batch = 256
    max_concurrency = 64

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        dimensions: int | None = None,
        known: int | None = None,
    ) -> None:
        self.provider, self.model = provider, model
        self._endpoint = Endpoint(provider, model, base_url, api_key, timeout)
        self._asked, self._dimension = dimensions, dimensions or known
        _sync_client(self._endpoint)  # a missing key shows now, not at row 1

    @property
    def dimension(self) -> int:
        """Length of every vector; asks the endpoint once where it isn't known."""
        if self._dimension is None:
            self._dimension = self.embed(["dimension"]).shape[1]
        return self._dimension

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (len(texts), dimension), in the order of `texts`. ModelError unless every text got its vector."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        response, failure = None, None
        try:
            response = _sync_client(self._endpoint).embeddings.create(**self._arguments(texts))
        except (openai.OpenAIError, ValueError) as error:
            failure = _model_error("EMBED", self._endpoint, error)
        if failure:
            raise failure
        return self._read(response, len(texts)).vectors

    async def embed_request(self, texts: Sequence[str]) -> Embedded:
        """The same from the event loop, where many requests are in flight, with the tokens it took."""
        client = _async_client(self._endpoint)
        response, failure = None, None
        try:
            response = await client.embeddings.create(**self._arguments(texts))
        except (openai.OpenAIError, ValueError) as error:
            failure = _model_error("EMBED", self._endpoint, error)
        if failure:
            raise failure
        return self._read(response, len(texts))

    def _arguments(self, texts: Sequence[str]) -> dict[str, Any]:
        size: dict[str, Any] = {"dimensions": self._asked} if self._asked else {}
        given = [text or " " for text in texts]
        return {"model": self.model, "input": given, "encoding_format": "float", **size}

    def _read(self, response: Any, expected: int) -> Embedded:
        vectors = _read_vectors(self._endpoint, response, expected)
        if self._dimension is None:
            self._dimension = vectors.shape[1]
        if vectors.shape[1] != self._dimension:
            raise _unusable(
                "EMBED", self._endpoint, f"vectors have {vectors.shape[1]} numbers, not {self._dimension}", DIMENSIONS
            )
        return Embedded(tokens_in=getattr(getattr(response, "usage", None), "prompt_tokens", None), vectors=vectors)


# -- requests ----------------------------------------------------------------------------------------------------------


def _chat_arguments(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    system = [{"role": "system", "content": request.system}] if request.system else []
    arguments: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [*system, {"role": "user", "content": request.prompt}, *request.since],
    }
    if request.tools:
        arguments["tools"] = list(request.tools)
    reasoning = endpoint.provider == "openai" and re.match(r"o\d|gpt-5(?!.*chat)", endpoint.model)
    if not reasoning:  # those models refuse any temperature but their own
        arguments["temperature"] = request.temperature
    if request.max_tokens is not None:
        name = "max_completion_tokens" if endpoint.provider == "openai" else "max_tokens"
        arguments[name] = request.max_tokens
    if request.json_schema is not None:
        schema = {"name": "answer", "schema": request.json_schema, "strict": _is_strict(request.json_schema)}
        # not as response_format: the package walks through all of a schema, longer than everything else about a call
        arguments["extra_body"] = {"response_format": {"type": "json_schema", "json_schema": schema}}
    return arguments


def _is_strict(schema: Any) -> bool:
    """Whether OpenAI takes the schema as strict: every object closed and every property of it required."""
    if isinstance(schema, list):
        return all(_is_strict(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(schema.get("properties", ())):
            return False
    return all(_is_strict(part) for part in schema.values())


# -- answers -----------------------------------------------------------------------------------------------------------


def _read_answer(endpoint: Endpoint, completion: Any) -> Answer:
    choices = getattr(completion, "choices", None)
    if not choices:
        raise _unusable("GENERATE", endpoint, "the answer holds no choices")
    message, reason = choices[0].message, choices[0].finish_reason
    if getattr(message, "refusal", None):
        refusal = f"the model refused: {_short(message.refusal)}"
        raise ModelError("GENERATE", endpoint.name, refusal, "reword the prompt")
    if reason == "content_filter":
        raise ModelError("GENERATE", endpoint.name, "the provider's content filter stopped it", "reword the prompt")
    text, wanted = getattr(message, "content", None), getattr(message, "tool_calls", None) or []
    calls = tuple(ToolCall(call.id, call.function.name, call.function.arguments or "") for call in wanted)
    if text is None and not calls:
        remedy = "raise max_tokens" if reason == "length" else ""
        raise ModelError("GENERATE", endpoint.name, f"the answer holds no text (finish_reason {reason})", remedy)
    usage = getattr(completion, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return Answer(
        text=text or "",
        tokens_in=getattr(usage, "prompt_tokens", None),
        tokens_out=getattr(usage, "completion_tokens", None),
        tokens_cached=getattr(details, "cached_tokens", None),
        finish_reason=reason,
        tool_calls=calls,
    )


DIMENSIONS = "the endpoint may serve another model than before; a database holds vectors of one length"


def _read_vectors(endpoint: Endpoint, response: Any, expected: int) -> np.ndarray:
    """The vectors in the order of the texts, of unit length; ModelError unless there is a sound one for every text."""
    items = getattr(response, "data", None) or []
    if len(items) != expected:
        raise _unusable("EMBED", endpoint, f"{len(items)} vectors came back for {expected} texts")
    by_index = {item.index: item.embedding for item in items}
    if set(by_index) != set(range(expected)):
        raise _unusable("EMBED", endpoint, f"the vectors are not numbered 0 to {expected - 1}: some text has none")
    lengths = {len(vector or ()) for vector in by_index.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise _unusable("EMBED", endpoint, f"vectors of different or no length came back: {sorted(lengths)}")
    vectors = np.array([by_index[row] for row in range(expected)], np.float32)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise _unusable("EMBED", endpoint, "a vector is zero or holds numbers that aren't finite")
    return vectors / norms


# -- errors ------------------------------------------------------------------------------------------------------------


def _unusable(function: str, endpoint: Endpoint, cause: str, remedy: str = "") -> ModelError:
    return ModelError(function, endpoint.name, cause, remedy or "is it an OpenAI-compatible endpoint?", transient=True)


def _model_error(function: str, endpoint: Endpoint, error: Exception) -> ModelError:
    if isinstance(error, openai.APITimeoutError):
        cause = f"no answer within {endpoint.timeout:g} s"
        return ModelError(function, endpoint.name, cause, "is the server overloaded?", transient=True)
    if isinstance(error, openai.APIConnectionError):
        reason = _without_keys(_short(error.__cause__ or error), endpoint)
        remedy = f"is the server running at {endpoint.base_url or 'the address in OPENAI_BASE_URL'}?"
        return ModelError(function, endpoint.name, f"the connection failed ({reason})", remedy, transient=True)
    if isinstance(error, openai.APIStatusError):
        return _status_error(function, endpoint, error)
    cause = f"the answer can't be read ({_without_keys(_short(error), endpoint)})"
    return _unusable(function, endpoint, cause)


def _status_error(function: str, endpoint: Endpoint, error: openai.APIStatusError) -> ModelError:
    status = error.status_code
    body = error.body if isinstance(error.body, dict) else {}
    message = body.get("message") or body.get("detail") or error.body or error.response.reason_phrase
    return ModelError(
        function,
        endpoint.name,
        f"HTTP {status}: {_without_keys(_short(message), endpoint)}",
        _remedy(endpoint, status),
        status=status,
        retry_after=_retry_after(error.response.headers),
        transient=(status in TRANSIENT or status >= 500) and body.get("code") != "insufficient_quota",
        too_long=status in (400, 413, 422, 500) and bool(TOO_LONG.search(f"{body.get('code')} {message}")),
    )


def _remedy(endpoint: Endpoint, status: int) -> str:
    if status in (401, 403):
        key = "OPENAI_API_KEY" if endpoint.provider == "openai" else "RECALL_API_KEY"
        return f"set {key} to a key that may use this model"
    if status == 404:
        pull = f" (ollama pull {endpoint.model})" if endpoint.provider == "ollama" else ""
        return f"does the server know a model '{endpoint.model}'{pull}, and does the address end in /v1?"
    if status == 429:
        return "lower RECALL_CONCURRENCY, or check the account's quota"
    return ""


def _retry_after(headers: Any) -> float | None:
    """Seconds to wait, from Retry-After-Ms or Retry-After (seconds or an HTTP date)."""
    milliseconds, wait = _number(headers.get("retry-after-ms")), headers.get("retry-after")
    if milliseconds is not None:
        return milliseconds / 1000
    if wait is None or _number(wait) is not None:
        return _number(wait)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(wait).timestamp() - time.time())
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"\d+(\.\d+)?", text) else None


def _short(message: object) -> str:
    return " ".join(str(message).split())[:300]


def _without_keys(text: str, endpoint: Endpoint) -> str:
    """Servers quote the key they refuse, whole or in parts; a part is as secret as the whole."""
    for key in _keys(endpoint):
        text = text.replace(key, "[key]")
    return re.sub(r"\b(sk|Bearer)[-_ ][\w*.-]{6,}", "[key]", text)


def _keys(endpoint: Endpoint) -> Iterable[str]:
    keys = (endpoint.api_key, _sync_client(endpoint).api_key)
    return [key for key in keys if key and len(key) > 6]


# -- clients -----------------------------------------------------------------------------------------------------------

_sync_clients: dict[tuple[Any, ...], openai.OpenAI] = {}
_async_clients: WeakKeyDictionary[Any, dict] = WeakKeyDictionary()  # by loop: a connection pool belongs to one
_lock = threading.Lock()


def _client_key(endpoint: Endpoint) -> tuple[Any, ...]:
    return (endpoint.base_url, endpoint.api_key, endpoint.provider, endpoint.timeout)


def _async_client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    with _lock:
        clients = _async_clients.setdefault(asyncio.get_running_loop(), {})
        key = _client_key(endpoint)
        if key not in clients:
            clients[key] = openai.AsyncOpenAI(**endpoint.client_arguments())
        return clients[key]


def _sync_client(endpoint: Endpoint) -> openai.OpenAI:
    with _lock:
        key = _client_key(endpoint)
        if key not in _sync_clients:
            _sync_clients[key] = _open_sync(endpoint)
        return _sync_clients[key]


def _open_sync(endpoint: Endpoint) -> openai.OpenAI:
    try:
        return openai.OpenAI(**endpoint.client_arguments())
    except openai.OpenAIError as error:
        raise ConfigError(
            f"'{endpoint.provider}:{endpoint.model}' needs a key: set OPENAI_API_KEY, or choose a local model "
            "(RECALL_LLM=smollm2 or ollama:MODEL, RECALL_EMBEDDER=minilm)"
        ) from error
