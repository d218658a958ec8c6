"""The one path of every model call: dedupe within the chunk → memo → budget → requests → validation → memo and log.

Functions hand over one question per row and get one answer per row; which rows were equal, remembered or asked for is
not their business. What happens to requests under way is flight.py's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, cast

import duckdb
import numpy as np

from recall_sql.calls import log, loop
from recall_sql.calls.budget import Purse
from recall_sql.calls.estimate import Estimate
from recall_sql.calls.flight import Flight, Line, Question, of_function, together
from recall_sql.calls.limits import Limiter
from recall_sql.calls.memo import Entry, Keys, Memo, digest, stable
from recall_sql.calls.packing import EMBEDDING_TOKENS, batches, tokens_of
from recall_sql.calls.pricing import price_of
from recall_sql.errors import BudgetError, ConfigError, ModelError, RecallError
from recall_sql.models.base import Answer, Embedder, Generator, RemoteEmbedder, Request

if TYPE_CHECKING:
    from recall_sql.instance import Instance


class CallLayer:
    """Calls models on behalf of one database instance."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self.memo = Memo(instance)
        self._estimate: Estimate | None = None
        # used on the event loop only
        self._gates: dict[tuple[str, int], asyncio.Semaphore] = {}
        self._limiters: dict[tuple[str, str], Limiter] = {}
        self._purse = Purse()

    @contextmanager
    def estimating(self) -> Iterator[Estimate]:
        """Within the block no model is called: what would be asked is counted, and the rows get nothing."""
        self._estimate = Estimate(self._instance.settings.prices)
        try:
            yield self._estimate
        finally:
            self._estimate = None

    @property
    def is_estimating(self) -> bool:
        return self._estimate is not None

    # -- embeddings ----------------------------------------------------------------------------------------------------

    def embed(
        self,
        texts: Sequence[str],
        embedder: Embedder,
        *,
        memo: bool,
        address: str | None = None,
        failed: dict[int, RecallError] | None = None,
    ) -> np.ndarray:
        """One vector per text, float32 of shape (len(texts), dimension); each distinct text is embedded once.

        address: of the server that answers; the same name elsewhere may be another model. failed: if given, texts whose
        request failed are put there by position, with their error, instead of raising it; their vectors mean nothing.
        """
        model = f"{embedder.provider}:{embedder.model}"
        distinct = list(dict.fromkeys(texts))
        place = {text: row for row, text in enumerate(distinct)}
        vectors = np.empty((len(distinct), embedder.dimension), dtype=np.float32)
        keys = list(map(Keys("EMBED", model, address or "", str(embedder.dimension)).of, distinct))
        pending = list(range(len(distinct)))
        if memo and distinct:
            row_of = {key: row for row, key in enumerate(keys)}
            found, remembered = self.memo.vectors(keys, embedder.dimension)
            rows = [row_of[key] for key in found]
            vectors[rows] = remembered
            known = set(rows)
            pending = [row for row in pending if row not in known]
        self._count("EMBED", model, len(texts), len(distinct), len(pending))
        errors: dict[int, RecallError] = {}
        if self._estimate is not None:
            self._estimate.add("EMBED", model, {keys[row]: (tokens_of(distinct[row]), 0) for row in pending})
            vectors[pending] = np.eye(1, embedder.dimension, dtype=np.float32)
        elif pending:
            job = _EmbedJob(self._instance, model, address, distinct, keys, vectors, errors, memo)
            if hasattr(embedder, "embed_request"):
                self._embed_remote(cast(RemoteEmbedder, embedder), job, pending)
            else:
                job.embed_here(embedder, pending)
        if errors and failed is None:
            raise next(iter(errors.values()))
        if errors and failed is not None:
            failed.update({row: errors[place[text]] for row, text in enumerate(texts) if place[text] in errors})
        return vectors[[place[text] for text in texts]]

    def _embed_remote(self, embedder: RemoteEmbedder, job: _EmbedJob, pending: list[int]) -> None:
        async def everything() -> None:
            flight.line = self._line(job.model, job.address, embedder.max_concurrency)
            packs = batches(
                pending, lambda row: tokens_of(job.texts[row]), most=embedder.max_batch, tokens=EMBEDDING_TOKENS
            )
            await together([job.embed_there(flight, embedder, rows) for rows in packs])
            if isinstance(flight.hopeless, BudgetError):
                raise flight.hopeless

        flight = self._flight("EMBED")
        with self._own_connection() as cursor:
            loop.run(everything(), flight.news, lambda: job.write(flight, cursor))

    # -- answers -------------------------------------------------------------------------------------------------------

    def ask(
        self,
        function: str,
        generator: Generator,
        questions: Sequence[Question],
        *,
        memo: bool,
        address: str | None = None,
    ) -> list[str | RecallError | None]:
        """One answer per question, or the error that came instead. Equal questions are asked once.

        What was answered is remembered before this returns or raises, whatever happened to the rest. address: as for
        `embed`. None only where answers are being estimated.
        """
        model = f"{generator.provider}:{generator.model}"
        keys = _keys(function, model, address, questions)
        distinct = dict(zip(keys, questions, strict=True))
        answers: dict[str, str | RecallError] = dict(self.memo.answers(list(distinct))) if memo and distinct else {}
        pending = {key: question for key, question in distinct.items() if key not in answers}
        self._count(function, model, len(questions), len(distinct), len(pending))
        if self._estimate is not None:
            self._estimate.ask(function, model, pending)
        elif pending:
            answers |= self._ask_pending(function, model, address, generator, pending, memo)
        return [answers.get(key) for key in keys]

    def _ask_pending(
        self,
        function: str,
        model: str,
        address: str | None,
        generator: Generator,
        pending: dict[str, Question],
        memo: bool,
    ) -> dict[str, str | RecallError]:
        async def everything() -> None:
            flight.line = self._line(model, address, generator.max_concurrency)
            await flight.ask_all(generator, pending)

        flight = self._flight(function)
        self._run(everything(), flight, memo)
        return flight.answers

    def step(self, function: str, generator: Generator, request: Request, *, address: str | None = None) -> Answer:
        """A model's next message in a conversation with tools. Never remembered: what tools give back is of now.

        Budget, limits, retries and log are those of every call. Raises ModelError, BudgetError or ConfigError.
        """

        async def ask() -> None:
            flight.line = self._line(model, address, generator.max_concurrency)
            answer, attempt = await flight.generate(generator, request)
            flight.written(attempt)
            answers.append(answer)

        model = f"{generator.provider}:{generator.model}"
        answers: list[Answer] = []
        self._count(function, model, 1, 1, 1)
        flight = self._flight(function)
        try:
            self._run(ask(), flight, memo=False)
        except ModelError as error:
            raise of_function(function, error) from None
        return answers[0]

    def _run(self, work: Coroutine[Any, Any, None], flight: Flight, memo: bool) -> None:
        """Runs `work` on the event loop, and writes down what it brings as it comes."""

        def keep() -> None:
            entries, attempts = list(flight.entries), list(flight.attempts)
            log.write(self._instance, attempts, entries if memo else (), cursor=cursor)
            flight.written_down(len(entries), len(attempts))

        with self._own_connection() as cursor:
            loop.run(work, flight.news, keep)

    @contextmanager
    def _own_connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """One that no other takes along when it is closed, as it does its cursors.

        DuckDB 1.5 hands an interrupted statement back before its function has returned: the user may close the database
        while what was answered is still to be written.
        """
        try:
            connection = self._instance._reconnect()
        except ConfigError:  # in memory: what isn't written when that is closed is lost anyway
            connection = None
        if connection is None:
            with self._instance.cursor() as cursor:
                yield cursor
            return
        with closing(connection):
            yield connection

    # -- shared --------------------------------------------------------------------------------------------------------

    def _flight(self, function: str) -> Flight:
        settings = self._instance.settings
        return Flight(function, settings.values, settings.times_set.get("budget", 0))

    def _line(self, model: str, address: str | None, at_most: int) -> Line:
        """What requests to one model share; called on the event loop."""
        settings = self._instance.settings
        limit = min(settings.concurrency, at_most)
        gate = self._gates.setdefault((model, limit), asyncio.Semaphore(limit))
        limiter = self._limiters.setdefault((model.partition(":")[0], address or ""), Limiter())
        return Line(model, gate, limiter, self._purse, price_of(model, settings.prices))

    def _count(self, function: str, model: str, rows: int, distinct: int, pending: int) -> None:
        if rows and self._estimate is None:
            asked = log.Asked(function, model, rows, rows - distinct, distinct - pending)
            log.write(self._instance, asked=[asked])


class _EmbedJob:
    """The distinct texts of one chunk on their way to vectors. errors: by position, for those that failed."""

    def __init__(
        self,
        instance: Instance,
        model: str,
        address: str | None,
        texts: list[str],
        keys: list[str],
        vectors: np.ndarray,
        errors: dict[int, RecallError],
        memo: bool,
    ) -> None:
        self._instance, self.model, self.address = instance, model, address
        self.texts, self._keys, self._vectors, self._errors, self._memo = texts, keys, vectors, errors, memo

    def embed_here(self, embedder: Embedder, pending: list[int]) -> None:
        """In this process, batch by batch; each is remembered when it is done."""
        price = price_of(self.model, self._instance.settings.prices)
        for start in range(0, len(pending), embedder.max_batch):
            rows = pending[start : start + embedder.max_batch]
            attempt = log.Attempt("EMBED", self.model, len(rows))
            done: list[int] = []
            try:
                self._take(embedder, rows, embedder.embed([self.texts[row] for row in rows]))
                attempt.done()
                attempt.cost_usd = price and price.cost(None, None, None)
                done = rows
            except ModelError as error:
                attempt.failed(error)
                self._errors.update(dict.fromkeys(rows, error))
            except BaseException as error:
                attempt.failed(error)
                raise
            finally:
                self._save(done, [attempt])

    async def embed_there(self, flight: Flight, embedder: RemoteEmbedder, rows: list[int]) -> None:
        """By one request; halves it where it is too long for the provider."""
        texts = [self.texts[row] for row in rows]
        tokens = sum(map(tokens_of, texts))
        try:
            answer, attempt = await flight.send(
                lambda: embedder.embed_request(texts), inputs=len(rows), tokens_in=tokens, tokens_out=0
            )
            flight.written(attempt)
            self._take(embedder, rows, answer.vectors)
        except BudgetError as error:
            flight.hopeless = error
        except ConfigError:  # not the rows'
            raise
        except RecallError as error:
            if isinstance(error, ModelError) and error.too_long and len(rows) > 1:
                half = len(rows) // 2
                await together([self.embed_there(flight, embedder, part) for part in (rows[:half], rows[half:])])
            else:
                self._errors.update(dict.fromkeys(rows, error))
        else:
            flight.entries.extend(rows)
            flight.news.set()

    def write(self, flight: Flight, cursor: duckdb.DuckDBPyConnection) -> None:
        """Writes down what a flight has brought so far."""
        rows, attempts = list(flight.entries), list(flight.attempts)
        self._save(rows, attempts, cursor)
        flight.written_down(len(rows), len(attempts))

    def _take(self, embedder: Embedder, rows: list[int], vectors: np.ndarray) -> None:
        """No row may get another row's vector, whatever a backend returns."""
        if vectors.shape != (len(rows), embedder.dimension):
            raise ModelError(
                "EMBED",
                self.model,
                f"vectors of shape {vectors.shape} came back for {len(rows)} texts of {embedder.dimension} dimensions",
                "the fault is the backend's; set RECALL_EMBEDDER to another",
            )
        self._vectors[rows] = vectors

    def _save(
        self, rows: list[int], attempts: list[log.Attempt], cursor: duckdb.DuckDBPyConnection | None = None
    ) -> None:
        if not self._memo or not rows:
            log.write(self._instance, attempts, cursor=cursor)
            return
        entries = [Entry(self._keys[row], digest(self.texts[row]), "EMBED", self.model) for row in rows]
        log.write(self._instance, attempts, entries, self._vectors[rows], cursor=cursor)


def _keys(function: str, model: str, address: str | None, questions: Sequence[Question]) -> list[str]:
    """The memo's key of every question; what neighbours have in common is hashed once."""
    keys: list[str] = []
    shared: tuple[str, str] | None = None
    maker = Keys()
    for question in questions:
        if question.known_by is not None:
            common, own = (question.version, question.known_by), question.text
        else:
            request = question.made()
            parameters = stable([request.system, request.temperature, request.max_tokens, request.json_schema])
            common, own = (question.version, parameters), request.prompt
        if common != shared:
            shared, maker = common, Keys(function, model, address or "", *common)
        keys.append(maker.of(own))
    return keys
