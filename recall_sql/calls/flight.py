"""Requests of one chunk to one model while they are under way: gate, rate limits, budget, retries, validation.

Everything here runs on the event loop. What comes of it is left in two queues, which the caller's thread empties into
the database while other requests are still out: an answer that has arrived is as good as written.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from recall_sql.calls import log, retry
from recall_sql.calls.answers import without_thinking
from recall_sql.calls.budget import Cost, Purse
from recall_sql.calls.limits import Limiter
from recall_sql.calls.memo import Entry, digest
from recall_sql.calls.packing import PACK_TOKENS, PACKABLE_TOKENS, Packable, batches, tokens_of
from recall_sql.calls.pricing import Price
from recall_sql.errors import BudgetError, ConfigError, InputError, ModelError, RecallError
from recall_sql.models.base import Answer, Generator, Request
from recall_sql.settings import Values

T = TypeVar("T", bound=Answer)
UNBOUNDED = 1024  # tokens an answer is guessed to have where nothing bounds it
HOPELESS = frozenset({401, 403, 404})  # no other row will fare better
GIVEN_UP = 16  # rows in a row that failed for good: the server is down
QUOTED = 2000  # characters of a useless answer that the model is shown again
CORRECTION = """{prompt}

Your last answer can't be used: it {error}. It was:
{answer}

Answer again, in the form that was asked for and with nothing around it."""


@dataclass(frozen=True)
class Question:
    """One request to a generator, with what the memo knows it by.

    request: or what makes it, if that is work which a remembered answer saves. text: the input the caller gave; its
    hash alone is kept. version: of the prompt that was made around it. known_by: stands, together with the text, for
    prompt and parameters in the memo's key. check: raises InputError that ends the sentence 'its answer …' when the
    answer is of no use, so that it is neither remembered nor returned. read: the same, and returns what shall be
    remembered. packable: how it may share a request with others.
    """

    request: Request | Callable[[], Request]
    text: str
    version: str = "1"
    check: Callable[[str], object] | None = None
    read: Callable[[str], str] | None = None
    known_by: str | None = None
    packable: Packable | None = None

    def made(self) -> Request:
        return self.request() if callable(self.request) else self.request

    @property
    def structured(self) -> bool:
        return self.check is not None or self.read is not None


@dataclass
class Line:
    """What requests to one model share, for as long as the database is open."""

    model: str
    gate: asyncio.Semaphore
    limiter: Limiter
    purse: Purse
    price: Price | None


@dataclass
class Flight:
    """One chunk's requests. answers: by memo key. entries, attempts: not written down yet. news: there are some."""

    function: str
    settings: Values
    budget_set: int
    line: Line = field(init=False)
    answers: dict[str, str | RecallError] = field(default_factory=dict)
    entries: deque[Any] = field(default_factory=deque)
    attempts: deque[log.Attempt] = field(default_factory=deque)
    news: threading.Event = field(default_factory=threading.Event)
    hopeless: RecallError | None = None
    _given_up: int = 0

    # -- one request ---------------------------------------------------------------------------------------------------

    async def send(
        self, ask: Callable[[], Awaitable[T]], *, inputs: int, tokens_in: int, tokens_out: int, first: int = 1
    ) -> tuple[T, log.Attempt]:
        """The answer to one request, tried as often as the settings allow, and its attempt, which the caller logs.

        inputs, tokens_in, tokens_out: what is in it, and the most that may come of it. first: number of its first try.
        """
        try:
            async for trial in retry.trials(self.settings.retries, self.settings.backoff):
                with trial:
                    number = trial.retry_state.attempt_number + first - 1
                    answer, attempt = await self._try(ask, inputs, tokens_in, tokens_out, number)
        except ModelError as error:
            self._note(error)
            raise
        self._given_up = 0
        return answer, attempt

    async def _try(
        self, ask: Callable[[], Awaitable[T]], inputs: int, tokens_in: int, tokens_out: int, number: int
    ) -> tuple[T, log.Attempt]:
        line, settings, expected = self.line, self.settings, tokens_in + tokens_out
        async with line.gate:
            if self.hopeless is not None:
                raise self.hopeless
            most = Cost(1, expected, line.price and line.price.cost(tokens_in, 0, tokens_out))
            reserved = await line.purse.reserve(settings.budget, self.budget_set, most, line.model)
            attempt, used = None, Cost(0, 0, 0.0)
            try:
                await line.limiter.admit(expected, settings.rpm, settings.tpm)
                attempt = log.Attempt(self.function, line.model, inputs, number)
                answer = await ask()
                used = self._used(attempt, answer, most)
                line.limiter.settle(expected, used.tokens, settings.tpm)
                return answer, attempt
            except BaseException as error:
                self._failed(attempt, error)
                raise
            finally:
                line.purse.settle(self.budget_set, reserved, used if used.calls else Cost(attempt is not None, 0, 0.0))

    def _used(self, attempt: log.Attempt, answer: Answer, most: Cost) -> Cost:
        attempt.done(answer)
        if self.line.price is not None:
            attempt.cost_usd = self.line.price.cost(answer.tokens_in, answer.tokens_cached, answer.tokens_out)
        counted = answer.tokens_in is not None
        tokens = (answer.tokens_in or 0) + (answer.tokens_out or 0) if counted else most.tokens
        return Cost(1, tokens, most.usd if attempt.cost_usd is None else attempt.cost_usd)

    def _failed(self, attempt: log.Attempt | None, error: BaseException) -> None:
        if attempt is not None:
            attempt.failed(error)
            self.written(attempt)
        if isinstance(error, ModelError) and error.retry_after and error.retry_after <= retry.LONGEST_WAIT:
            self.line.limiter.pause(error.retry_after)

    def written(self, attempt: log.Attempt) -> None:
        """Puts an attempt into the queue, once nothing about it will change any more."""
        self.attempts.append(attempt)
        self.news.set()

    def written_down(self, entries: int, attempts: int) -> None:
        """Takes the first ones off the queues: they are in the database. Called by the thread that wrote them."""
        for queue, count in ((self.entries, entries), (self.attempts, attempts)):
            for _ in range(count):
                queue.popleft()

    def _note(self, error: ModelError) -> None:
        """Whether it is of any use to go on with the rows that haven't been asked."""
        self._given_up += error.transient
        if error.status in HOPELESS or self._given_up >= GIVEN_UP:
            self.hopeless = error

    # -- questions -----------------------------------------------------------------------------------------------------

    async def ask_all(self, generator: Generator, pending: dict[str, Question]) -> None:
        """Answers every question, in packs where that is set and possible.

        They go out in the order of their texts: prompts that begin alike follow each other, and a server that keeps the
        beginning of the last ones needn't read it again.
        """
        pending = _by_beginning(pending)
        packs, alone = self._packs(pending)
        work = [self._one(generator, key, pending[key]) for key in alone]
        work += [self._pack(generator, keys, pending) for keys in packs]
        await together([self._within_budget(one) for one in work])
        if isinstance(self.hopeless, BudgetError):
            raise self.hopeless

    async def _within_budget(self, work: Awaitable[None]) -> None:
        """Once the budget is spent nothing is asked any more, but what is under way comes in."""
        try:
            await work
        except BudgetError as error:
            self.hopeless = error

    def _packs(self, pending: dict[str, Question]) -> tuple[list[list[str]], list[str]]:
        kinds: dict[Packable, list[str]] = {}
        alone = []
        for key, question in pending.items():
            if self.settings.pack > 1 and question.packable and tokens_of(question.text) <= PACKABLE_TOKENS:
                kinds.setdefault(question.packable, []).append(key)
            else:
                alone.append(key)
        packs = []
        for keys in kinds.values():
            sizes = {key: tokens_of(pending[key].made().prompt) for key in keys}
            packs += batches(keys, sizes.__getitem__, most=self.settings.pack, tokens=PACK_TOKENS)
        return [pack for pack in packs if len(pack) > 1], alone + [pack[0] for pack in packs if len(pack) == 1]

    async def _one(self, generator: Generator, key: str, question: Question) -> None:
        try:
            text = await self._answer(generator, question)
        except (BudgetError, ConfigError):  # not the row's
            raise
        except RecallError as error:  # kept for the row it belongs to, raised there
            self.answers[key] = of_function(self.function, error)
        else:
            self._keep(key, question, text)

    def _keep(self, key: str, question: Question, text: str) -> None:
        self.answers[key] = text
        self.entries.append(Entry(key, digest(question.text), self.function, self.line.model, text))
        self.news.set()

    async def _answer(self, generator: Generator, question: Question) -> str:
        """The answer, sound; a useless one is shown to the model once, with what is wrong with it."""
        request = question.made()
        answer, attempt = await self.generate(generator, request)
        for second in (False, True):
            try:
                return _sound(question, answer)
            except InputError as error:
                attempt.of_no_use(f"its answer {error}")
                if second:
                    raise self._useless(answer, error) from None
                request = _corrected(request, answer, error)
            finally:
                self.written(attempt)
            answer, attempt = await self.generate(generator, request, first=attempt.attempt + 1)
        raise AssertionError("there is no third try")

    def _useless(self, answer: Answer, error: InputError) -> ModelError:
        remedy = "raise max_tokens" if answer.finish_reason == "length" else "set a model that keeps to a format"
        return ModelError(self.function, self.line.model, f"its answer {error} (asked twice)", remedy)

    async def generate(self, generator: Generator, request: Request, first: int = 1) -> tuple[Answer, log.Attempt]:
        """One request to a generator, as `send`."""
        prompt = tokens_of(request.prompt) + tokens_of(request.system or "")
        prompt += sum(tokens_of(json.dumps(part, default=str)) for part in (*request.tools, *request.since))
        longest = request.max_tokens or UNBOUNDED
        return await self.send(
            lambda: generator.generate(request), inputs=1, tokens_in=prompt, tokens_out=longest, first=first
        )

    async def _pack(self, generator: Generator, keys: list[str], pending: dict[str, Question]) -> None:
        """One request for several questions. Those left unanswered are asked alone; one that is too long is halved."""
        questions = [pending[key] for key in keys]
        requests = [question.made() for question in questions]
        longest = sum(request.max_tokens or UNBOUNDED for request in requests)
        assert questions[0].packable is not None
        packed = questions[0].packable.request([request.prompt for request in requests], longest)
        prompt = tokens_of(packed.prompt) + tokens_of(packed.system or "")
        try:
            answer, attempt = await self.send(
                lambda: generator.generate(packed), inputs=len(keys), tokens_in=prompt, tokens_out=longest
            )
        except ModelError as error:
            if not error.too_long:
                failed = of_function(self.function, error)
                self.answers.update(dict.fromkeys(keys, failed))
                return
            found: dict[int, str] = {}
        else:
            found = questions[0].packable.take_apart(answer.text, len(keys))
            if answer.finish_reason == "length":
                found = dict(list(found.items())[:-1])  # the last one may be cut
            sound = {place: text for place, text in found.items() if _is_sound(questions[place], text)}
            for place, text in sound.items():
                self._keep(keys[place], questions[place], text)
            if len(sound) < len(keys):
                attempt.of_no_use(f"{len(keys) - len(sound)} of {len(keys)} inputs have no answer of their own")
            self.written(attempt)
            found = sound
        rest = [key for place, key in enumerate(keys) if place not in found]
        if found or len(rest) <= 2:
            await together([self._one(generator, key, pending[key]) for key in rest])
        else:
            half = len(rest) // 2
            await together([self._pack(generator, part, pending) for part in (rest[:half], rest[half:]) if part])


def _by_beginning(pending: Mapping[str, Question]) -> dict[str, Question]:
    """The questions with their requests made, in the order of instructions and prompts."""
    made = {key: replace(question, request=question.made()) for key, question in pending.items()}
    return dict(sorted(made.items(), key=lambda item: (item[1].made().system or "", item[1].made().prompt)))


async def together(work: Iterable[Awaitable[None]]) -> None:
    """Runs all of it side by side and to its end; then raises the first fault, which is ours or a plugin's."""
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


def _sound(question: Question, answer: Answer) -> str:
    """The answer without NUL characters, which no database should hold; InputError if it is of no use."""
    if not question.structured:
        return answer.text.replace("\x00", "")
    if answer.finish_reason == "length":
        raise InputError("was cut off at max_tokens")
    text = without_thinking(answer.text)
    if question.check is not None:
        question.check(text)
    return question.read(text) if question.read is not None else text


def _is_sound(question: Question, text: str) -> bool:
    try:
        _sound(question, Answer(text))
    except InputError:
        return False
    return True


def _corrected(request: Request, answer: Answer, error: InputError) -> Request:
    longer = request.max_tokens and answer.finish_reason == "length" and request.max_tokens * 2
    if longer:
        return replace(request, max_tokens=longer)
    quoted = without_thinking(answer.text)[:QUOTED]
    return replace(request, prompt=CORRECTION.format(prompt=request.prompt, error=error, answer=quoted))


def of_function(function: str, error: RecallError) -> RecallError:
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
        too_long=error.too_long,
    )
    named.__cause__ = error
    return named
