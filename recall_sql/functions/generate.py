"""GENERATE(prompt[, opts]): a model's answer to a prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from pydantic import Field, field_validator

from recall_sql.calls import Question
from recall_sql.calls.answers import as_json
from recall_sql.calls.memo import stable
from recall_sql.functions import arguments
from recall_sql.functions.arguments import Column
from recall_sql.functions.grouping import grouped
from recall_sql.models import registry
from recall_sql.models.base import Generator, Request

if TYPE_CHECKING:
    from recall_sql.instance import Instance


class GenerateOptions(arguments.Options):
    system: str | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, ge=1)
    json_schema: str | None = None
    on_error: Literal["fail", "null"] | None = None

    @field_validator("json_schema", mode="before")
    @classmethod
    def _as_json(cls, value: Any) -> Any:
        """A struct in SQL arrives as a dict; text must be a JSON object."""
        if isinstance(value, dict):
            return json.dumps(value)
        if isinstance(value, str) and not isinstance(json.loads(value), dict):
            raise ValueError("a JSON schema is an object")
        return value


def run(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """VARCHAR per row; NULL for NULL."""
    column, opts = arguments.split("GENERATE", columns)
    prompts = arguments.texts("GENERATE", "prompt", column)
    options = arguments.options("GENERATE", GenerateOptions, opts, len(prompts))
    answers: list[str | None] = [None] * len(prompts)
    for option, rows in grouped(options, prompts):
        ask_for = _asker(instance, option)
        questions = [ask_for(prompts[row]) for row in rows]
        for row, answer in zip(rows, ask(instance, "GENERATE", questions, option.model, option), strict=True):
            answers[row] = "" if answer is None and instance.calls.is_estimating else answer
    return pa.array(answers, pa.string())


def ask(
    instance: Instance, function: str, questions: list[Question], model: str | None, option: Any
) -> list[str | None]:
    """The answers to `questions`; a failed one raises, or is None where on_error is 'null'."""
    settings = instance.settings
    memo = settings.memo if option.memo is None else option.memo
    on_error = option.on_error or settings.on_error
    name = model or settings.llm
    results = instance.calls.ask(
        function, generator(instance, name), questions, memo=memo, address=registry.parse(name).base_url
    )
    answers: list[str | None] = []
    for result in results:
        if isinstance(result, BaseException):
            if on_error == "fail":
                raise result
            answers.append(None)
        else:
            answers.append(result)
    return answers


def generator(instance: Instance, model: str) -> Generator:
    """The generator that `model` names, with the key and timeout in force."""
    settings = instance.settings
    key = settings.api_key.get_secret_value() if settings.api_key else None
    return registry.generator(model, api_key=key, timeout=settings.timeout)


def _asker(instance: Instance, option: GenerateOptions) -> Callable[[Any], Question]:
    """Makes questions of prompts; what all of them have in common is made once."""
    settings = instance.settings
    schema = json.loads(option.json_schema) if option.json_schema else None
    common: dict[str, Any] = {
        "system": option.system,
        "temperature": settings.temperature if option.temperature is None else option.temperature,
        "max_tokens": option.max_tokens or settings.max_tokens,
        "json_schema": schema,
    }
    known_by = stable(common)
    read = None if schema is None else partial(as_json, schema=schema)

    def question(prompt: str) -> Question:
        return Question(lambda: Request(prompt, **common), prompt, read=read, known_by=known_by)

    return question
