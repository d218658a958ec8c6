"""What a model is to the rest of the product: the protocols backends fulfil, and how a request and an answer look.

Backends live beside this file, one module each; `registry.py` turns a model string into one. Deduplication, memo,
concurrency, retries and logging are not theirs: they belong to `recall_sql/calls/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

import numpy as np

from recall_sql.facts import Fact


@dataclass(frozen=True)
class Request:
    """One prompt for a generator.

    prompt: the user's text. system: instructions before it, or None. temperature: 0 is greedy. max_tokens: bound on the
    answer, in the model's tokens, or None. json_schema: JSON Schema the answer must follow, or None for free text.
    tools: that the model may call, as OpenAI's chat completions describe them. since: messages after the prompt: what
    the model said and called, and what the tools gave back.
    """

    prompt: str
    system: str | None = None
    temperature: float = 0.0
    max_tokens: int | None = None
    json_schema: dict[str, Any] | None = None
    tools: Sequence[dict[str, Any]] = ()
    since: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants called. arguments: as it wrote them, which should be a JSON object."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """What came back: the text, and what it cost in tokens where the provider says so (None where it doesn't).

    tool_calls: where the request offered tools; the text may be '' then.
    """

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    finish_reason: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Embedded(Answer):
    """Vectors that came back, float32 of shape (texts, dimension), in the order of the texts. text stays ''."""

    text: str = ""
    vectors: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.float32))


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit-length vectors."""

    provider: str  # 'onnx', 'sentence-transformers', 'openai' …
    model: str  # name within the provider
    dimension: int  # length of every vector
    max_batch: int  # texts a call of `embed` may carry

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 array of shape (len(texts), dimension), in the order of `texts`. Raises ModelError."""
        ...


@runtime_checkable
class RemoteEmbedder(Embedder, Protocol):
    """An embedder that is asked over a network: several requests may be in flight, with retries, limits and budget."""

    max_concurrency: int

    async def embed_request(self, texts: Sequence[str]) -> Embedded:
        """The same as `embed`, with what it cost. Raises ModelError."""
        ...


@runtime_checkable
class Generator(Protocol):
    """Answers prompts. Asynchronous, so that many requests can be in flight from one chunk of rows."""

    provider: str
    model: str
    max_concurrency: int  # 1 for an in-process model

    async def generate(self, request: Request) -> Answer:
        """The answer to one request. Raises ModelError."""
        ...


@runtime_checkable
class Extractor(Protocol):
    """Finds facts without a generator (the rules backend)."""

    provider: str
    model: str

    def extract(
        self,
        text: str,
        *,
        now: datetime | None = None,
        categories: Sequence[str] | None = None,
        known: Sequence[dict[str, Any]] = (),
    ) -> list[Fact]:
        """The facts that `text`, said by the user at `now`, states about the user. Deterministic."""
        ...
