"""The one path of every model call: dedupe within the chunk → memo → model → validation → memo and log.

Functions hand over one question per row and get one answer per row; which rows were equal, remembered or asked for is
not their business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recall_sql.calls import log, loop
from recall_sql.calls.memo import Entry, Memo, digest, stable
from recall_sql.errors import InputError, ModelError, RecallError
from recall_sql.models.base import Embedder, Generator, Request

if TYPE_CHECKING:
    from recall_sql.instance import Instance


@dataclass(frozen=True)
class Question:
    """One request to a generator, with what the memo knows it by.

    text: the input the caller gave (its hash alone is kept). version: of the prompt that was made around it.
    check: raises InputError that ends the sentence 'its answer …' when the answer is of no use, so that it is neither
    remembered nor returned.
    """

    request: Request
    text: str
    version: str = "1"
    check: Callable[[str], object] | None = None


class CallLayer:
    """Calls models on behalf of one database instance."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self.memo = Memo(instance)
        self._gates: dict[tuple[str, int], asyncio.Semaphore] = {}  # used on the event loop only

    def embed(self, texts: Sequence[str], embedder: Embedder, *, memo: bool, address: str | None = None) -> np.ndarray:
        """One vector per text, float32 of shape (len(texts), dimension); each distinct text is embedded once.

        address: of the server that answers; the same name elsewhere may be another model.
        """
        model = f"{embedder.provider}:{embedder.model}"
        distinct = list(dict.fromkeys(texts))
        place = {text: row for row, text in enumerate(distinct)}
        vectors = np.empty((len(distinct), embedder.dimension), dtype=np.float32)
        keys = [digest("EMBED", model, address or "", str(embedder.dimension), text) for text in distinct]
        pending = list(range(len(distinct)))
        if memo:
            row_of = {key: row for row, key in enumerate(keys)}
            found, remembered = self.memo.vectors(keys, embedder.dimension)
            rows = [row_of[key] for key in found]
            vectors[rows] = remembered
            known = set(rows)
            pending = [row for row in pending if row not in known]
        if pending:
            self._embed_pending(embedder, model, distinct, keys, pending, vectors, memo)
        return vectors[[place[text] for text in texts]]

    def _embed_pending(
        self,
        embedder: Embedder,
        model: str,
        texts: list[str],
        keys: list[str],
        pending: list[int],
        vectors: np.ndarray,
        memo: bool,
    ) -> None:
        for start in range(0, len(pending), embedder.max_batch):
            rows = pending[start : start + embedder.max_batch]
            attempt = log.Attempt("EMBED", model, len(rows))
            try:
                answer = embedder.embed([texts[row] for row in rows])
                _check_shape(answer, len(rows), embedder)
                attempt.done()
            except BaseException as error:
                attempt.failed(error)
                raise
            finally:
                log.write(self._instance, [attempt])
            vectors[rows] = answer
            if memo:
                self.memo.add([Entry(keys[row], digest(texts[row]), "EMBED", model) for row in rows], answer)

    def ask(
        self,
        function: str,
        generator: Generator,
        questions: Sequence[Question],
        *,
        memo: bool,
        address: str | None = None,
    ) -> list[str | RecallError]:
        """One answer per question, or the error that came instead. Equal questions are asked once.

        What was answered is remembered before this returns or raises, whatever happened to the rest. address: as for
        `embed`.
        """
        model = f"{generator.provider}:{generator.model}"
        keys = [_key(function, model, address, question) for question in questions]
        distinct = dict(zip(keys, questions, strict=True))
        answers: dict[str, str | RecallError] = dict(self.memo.answers(list(distinct))) if memo else {}
        pending = {key: question for key, question in distinct.items() if key not in answers}
        if pending:
            self._ask_pending(function, model, generator, pending, answers, memo)
        return [answers[key] for key in keys]

    def _ask_pending(
        self,
        function: str,
        model: str,
        generator: Generator,
        pending: dict[str, Question],
        answers: dict[str, str | RecallError],
        memo: bool,
    ) -> None:
        attempts: list[log.Attempt] = []
        fresh: list[Entry] = []

        async def one(key: str, question: Question, gate: asyncio.Semaphore) -> None:
            async with gate:
                attempt = log.Attempt(function, model, 1)
                attempts.append(attempt)
                try:
                    answer = await generator.generate(question.request)
                    text = _sound(question, answer.text, function, model)
                except RecallError as error:  # kept for the row it belongs to, raised there
                    attempt.failed(error)
                    answers[key] = _of_function(function, error)
                else:
                    attempt.done(answer)
                    answers[key] = text
                    fresh.append(Entry(key, digest(question.text), function, model, text))

        async def everything() -> None:
            limit = min(self._instance.settings.concurrency, generator.max_concurrency)
            gate = self._gates.setdefault((model, limit), asyncio.Semaphore(limit))
            work = (one(key, question, gate) for key, question in pending.items())
            for outcome in await asyncio.gather(*work, return_exceptions=True):
                if isinstance(outcome, BaseException):  # a fault of ours or of a plugin
                    raise outcome

        future = loop.submit(everything())
        try:
            future.result()
        finally:
            future.cancel()
            if memo:
                self.memo.add(list(fresh))
            log.write(self._instance, list(attempts))


def _sound(question: Question, answer: str, function: str, model: str) -> str:
    """The answer without NUL characters, which no database should hold; ModelError if it is of no use."""
    text = answer.replace("\x00", "")
    if question.check is not None:
        try:
            question.check(text)
        except InputError as error:
            raise ModelError(
                function, model, f"its answer {error}", "ask again, or set a model that keeps to a format"
            ) from None
    return text


def _of_function(function: str, error: RecallError) -> RecallError:
    """A backend knows its own job only: the error names the SQL function that was called."""
    if not isinstance(error, ModelError) or error.function == function:
        return error
    named = ModelError(
        function,
        error.provider,
        error.cause,
        error.remedy,
        status=error.status,
        retry_after=error.retry_after,
        transient=error.transient,
    )
    named.__cause__ = error
    return named


def _check_shape(vectors: np.ndarray, texts: int, embedder: Embedder) -> None:
    """No row may get another row's vector, whatever a backend returns."""
    if vectors.shape != (texts, embedder.dimension):
        raise ModelError(
            "EMBED",
            f"{embedder.provider}:{embedder.model}",
            f"vectors of shape {vectors.shape} came back for {texts} texts of {embedder.dimension} dimensions",
            "the fault is the backend's; set RECALL_EMBEDDER to another",
        )


def _key(function: str, model: str, address: str | None, question: Question) -> str:
    request = question.request
    parameters = stable([request.system, request.temperature, request.max_tokens, request.json_schema])
    return digest(function, model, address or "", question.version, parameters, request.prompt)
