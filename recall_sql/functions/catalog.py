"""Every SQL function that recall_sql brings: name, arguments, result, meaning, and the module that does the work.

Reads like a reference and imports nothing of the modules it names: a session that never calls EMBED never pays for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

FACTS = (
    "STRUCT(category VARCHAR, fact_key VARCHAR, fact_value VARCHAR, confidence DOUBLE, kind VARCHAR, op VARCHAR, "
    "evidence VARCHAR, replaces VARCHAR)[]"
)
INTENT = (
    "STRUCT(matched BOOLEAN, schema VARCHAR, intent VARCHAR, confidence DOUBLE, data JSON, match JSON, updates JSON, "
    "reason VARCHAR)"
)
SETTINGS = "STRUCT(name VARCHAR, value VARCHAR, origin VARCHAR, description VARCHAR)[]"


@dataclass(frozen=True)
class SqlFunction:
    """A SQL function as the registry and the documentation see it.

    returns: a DuckDB type, in which {dimension} stands for the length of a vector. volatile: False lets the planner
    fold constant calls. work: 'module:function' within this package; it gets the instance and the argument columns of
    one chunk (at most 2,048 rows) and gives one Arrow array of as many rows. part_of: the macro that calls it for the
    user, who knows that name only.
    """

    name: str
    usage: str
    returns: str
    volatile: bool
    description: str
    work: str
    part_of: str = ""

    @property
    def title(self) -> str:
        """The name as errors and documents write it."""
        return self.part_of or self.name if self.name.startswith("recall_") else self.name.upper()

    def load(self) -> Callable[..., Any]:
        """The Python function that does the work."""
        module, _, function = self.work.partition(":")
        return getattr(import_module(f"recall_sql.functions.{module}"), function)


FUNCTIONS = (
    SqlFunction(
        name="embed",
        usage="EMBED(text[, model | {model, memo}])",
        returns="FLOAT[{dimension}]",
        volatile=False,
        description="The text as a unit-length vector. Equal texts are embedded once and remembered.",
        work="embed:run",
    ),
    SqlFunction(
        name="generate",
        usage="GENERATE(prompt[, model | {model, system, temperature, max_tokens, json_schema, on_error, memo}])",
        returns="VARCHAR",
        volatile=True,
        description="A model's answer to the prompt. Equal prompts are asked once, and answers are remembered.",
        work="generate:run",
    ),
    SqlFunction(
        name="extract_facts",
        usage="EXTRACT_FACTS(text[, model | {model, categories, known, context, now, on_error, memo}])",
        returns=FACTS,
        volatile=True,
        description="The facts that a user's words state about the user, as a list of structs.",
        work="extract_facts:run",
    ),
    SqlFunction(
        name="parse_facts",
        usage="PARSE_FACTS(payload)",
        returns=FACTS,
        volatile=False,
        description="A model's raw CSV or JSON answer as a list of facts.",
        work="parse_facts:run",
    ),
    SqlFunction(
        name="detect_intent",
        usage="DETECT_INTENT(message[, model | {schemas, user, now, timezone, model, recent, on_error, memo}])",
        returns=INTENT,
        volatile=True,
        description="Which kind of record a message is about and what it wants: insert, update, delete, query or none.",
        work="detect_intent:run",
    ),
    SqlFunction(
        name="recall_ask",
        usage="recall_ask(question, {user[, now, timezone, model, schemas]})",
        returns="STRUCT(sql VARCHAR, result JSON, explanation VARCHAR, error VARCHAR)",
        volatile=True,
        description="A question about one user's records as SQL, run in a sandbox, and what came out.",
        work="detect_intent:ask",
    ),
    SqlFunction(
        name="recall_add_schema",
        usage="recall_add_schema(definition)",
        returns="VARCHAR",
        volatile=True,
        description="Declares a kind of record from JSON (name, description, JSON Schema) and makes its table.",
        work="detect_intent:add_schema",
    ),
    SqlFunction(
        name="recall_set",
        usage="recall_set(name, value)",
        returns="VARCHAR",
        volatile=True,
        description="Sets a setting and returns it; NULL takes it back to the environment or its default.",
        work="own:set_setting",
    ),
    SqlFunction(
        name="recall_settings_list",
        usage="recall_settings_list(0)",
        returns=SETTINGS,
        volatile=True,
        description="What recall_settings() unnests.",
        work="own:list_settings",
    ),
    SqlFunction(
        name="recall_query_vector",
        usage="recall_query_vector(query)",
        returns="FLOAT[{dimension}]",
        volatile=False,
        description="The query of a search as a vector: a text is embedded, a vector stays as it is.",
        work="own:query_vector",
        part_of="VECTOR_SEARCH",
    ),
    SqlFunction(
        name="recall_input_hash",
        usage="recall_input_hash(text)",
        returns="VARCHAR",
        volatile=False,
        description="What recall_memo knows a text by.",
        work="own:input_hash",
    ),
    SqlFunction(
        name="recall_instance",
        usage="recall_instance(0)",
        returns="VARCHAR",
        volatile=True,
        description="Identifies the running instance.",
        work="own:identify",
    ),
    SqlFunction(
        name="count_tokens",
        usage="count_tokens(text)",
        returns="INTEGER",
        volatile=True,
        description="How many tokens a text is, by the tokenizer that is set; NULL if none is.",
        work="count_tokens:run",
    ),
    SqlFunction(
        name="search_tokens",
        usage="search_tokens(text[, language])",
        returns="VARCHAR[]",
        volatile=False,
        description="The words of a text as search knows them: folded, stemmed, or in pairs of characters.",
        work="tokens:tokens_of",
    ),
    SqlFunction(
        name="search_terms",
        usage="search_terms(query[, language])",
        returns="VARCHAR[]",
        volatile=False,
        description="What a query looks for: its distinct tokens without English function words.",
        work="tokens:terms_of",
    ),
)


def all_functions() -> tuple[SqlFunction, ...]:
    """Every SQL function that recall_sql registers, in the order of the reference."""
    return FUNCTIONS


def usage(title: str) -> str:
    """How a function is called, for error messages."""
    return next(function.usage for function in FUNCTIONS if function.title == title)
