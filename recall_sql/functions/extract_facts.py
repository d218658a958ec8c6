"""EXTRACT_FACTS(text[, opts]): the facts a user's words state about the user.

With rules it is the deterministic extractor of models/rules; with any other model it is a prompt with a JSON schema.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from recall_sql.calls import Question
from recall_sql.calls.memo import stable
from recall_sql.calls.packing import Packable
from recall_sql.errors import InputError
from recall_sql.functions import arguments, fact_rows, generate, parse_facts
from recall_sql.functions.arguments import Column
from recall_sql.models.base import Request

if TYPE_CHECKING:
    from recall_sql.instance import Instance
    from recall_sql.models.rules import RulesExtractor

PROMPT_VERSION = "1"
MAX_TOKENS = 1024
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["facts"],
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["category", "fact_key", "fact_value", "confidence", "kind", "op", "evidence", "replaces"],
                "properties": {
                    "category": {"type": "string"},
                    "fact_key": {"type": "string"},
                    "fact_value": {"type": "string"},
                    "confidence": {"type": "number"},
                    "kind": {"type": "string", "enum": ["KNOWLEDGE", "RULE", "PREFERENCE"]},
                    "op": {"type": "string", "enum": ["assert", "retract"]},
                    "evidence": {"type": "string"},
                    "replaces": {"type": ["string", "null"]},
                },
            },
        }
    },
}


class ExtractOptions(arguments.Options):
    categories: tuple[str, ...] | None = None
    known: tuple[dict[str, Any], ...] | None = None
    context: tuple[dict[str, Any], ...] | None = None
    now: datetime | None = None
    on_error: Literal["fail", "null"] | None = None


def run(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """A list of facts per row; NULL for NULL."""
    column, opts = arguments.split("EXTRACT_FACTS", columns)
    texts = arguments.texts("EXTRACT_FACTS", "text", column)
    options = arguments.options("EXTRACT_FACTS", ExtractOptions, opts, len(texts))
    facts: list[list[dict[str, Any]] | None] = [None] * len(texts)
    asked: dict[tuple[str, str | None, bool | None], list[int]] = {}
    for row, text in enumerate(texts):
        if text is None:
            continue
        option = options[row]
        model = option.model or instance.settings.extractor
        if model == "rules":
            facts[row] = _by_rules(text, option)
        else:
            asked.setdefault((model, option.on_error, option.memo), []).append(row)
    for (model, _, _), rows in asked.items():
        questions = [_question(texts[row] or "", options[row]) for row in rows]
        answers = generate.ask(instance, "EXTRACT_FACTS", questions, model, options[rows[0]])
        for row, answer in zip(rows, answers, strict=True):
            facts[row] = None if answer is None else parse_facts.parse(answer)
    return fact_rows.as_array(facts)


@cache
def _rules() -> RulesExtractor:
    from recall_sql.models.rules import RulesExtractor

    return RulesExtractor()


def _by_rules(text: str, option: ExtractOptions) -> list[dict[str, Any]]:
    """What the rules find in `text`; what they find in the user's turns before it counts as known."""
    extractor = _rules()
    known = [*(option.known or ())]
    for turn in option.context or ():
        if turn.get("role", "user") == "user" and turn.get("content"):
            earlier = extractor.extract(str(turn["content"]), now=option.now, known=known)
            known += [fact.model_dump(include={"category", "fact_key", "fact_value"}) for fact in earlier]
    found = extractor.extract(text, now=option.now, categories=option.categories, known=known)
    return [fact.model_dump() for fact in found]


def _question(text: str, option: ExtractOptions) -> Question:
    """known_by leaves the model out, which the memo knows already, and what has no say in the answer."""
    told = option.model_dump(include={"categories", "known", "context", "now"}, exclude_none=True)
    return Question(
        partial(_request, text, option),
        text,
        PROMPT_VERSION,
        check=_is_list_of_facts,
        known_by=stable(told) if told else "",
        packable=_packable(),
    )


def _request(text: str, option: ExtractOptions) -> Request:
    prompt = _template("extract_user.jinja").render(
        text=text,
        known=[{"alias": None, "fact_id": None, **fact} for fact in option.known or ()],
        context=option.context or (),
        now=option.now,
        categories=option.categories,
    )
    return Request(prompt=prompt, system=_system(), temperature=0.0, max_tokens=MAX_TOKENS, json_schema=SCHEMA)


@cache
def _system() -> str:
    return _template("extract_system.jinja").render()


@cache
def _packable() -> Packable:
    return Packable(_system(), "facts", json.dumps(SCHEMA["properties"]["facts"]))


def _is_list_of_facts(answer: str) -> None:
    try:
        parse_facts.parse(answer)
    except InputError:
        echoed = '"properties"' in answer
        raise InputError(
            "repeats the JSON schema instead of following it" if echoed else "isn't a list of facts"
        ) from None


@cache
def _template(name: str) -> Any:
    from jinja2 import Environment, StrictUndefined

    source = resources.files("recall_sql").joinpath("prompts", name).read_text("utf-8")
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False, default=str)
    return environment.from_string(source)
