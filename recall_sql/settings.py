"""What can be set, and what is in force: set by hand beats the environment, which beats the default.

The only place that reads the environment. One `Settings` object belongs to one database instance, because a SQL
function can't see the session variables of its caller.
"""

from __future__ import annotations

import difflib
import re
import threading
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from recall_sql import interrupts
from recall_sql.errors import ConfigError
from recall_sql.models import registry

MODELS = ("llm", "extractor", "embedder")
FILES = ("prices", "tokenizer")


class Values(BaseSettings):
    """Every setting: its type, default and meaning. In the environment each is RECALL_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="RECALL_", extra="ignore", validate_default=True)

    llm: str = Field(
        "smollm2", description="Model of GENERATE: smollm2, openai:…, ollama:…, http://host/v1#model, gguf:/path"
    )
    extractor: str = Field("rules", description="Who finds facts in EXTRACT_FACTS: rules, or a model as for llm")
    embedder: str = Field("minilm", description="Model of EMBED: minilm, sentence-transformers:…, openai:…")
    embedding_dimension: int | None = Field(
        None, ge=1, le=65536, description="Length of a vector, where the model's name doesn't tell"
    )
    api_key: SecretStr | None = Field(None, description="Key for http(s)://…#model endpoints")
    timeout: float = Field(60.0, gt=0, description="Seconds to wait for one answer")
    concurrency: int = Field(16, ge=1, le=1024, description="Requests in flight to a model at once")
    retries: int = Field(5, ge=0, le=100, description="Further tries after a failure that may pass: 429, 5xx, timeouts")
    backoff: float = Field(0.5, gt=0, description="Seconds before the second try, doubled from try to try")
    rpm: int | None = Field(None, ge=1, description="Requests a minute that a provider allows")
    tpm: int | None = Field(None, ge=1, description="Tokens a minute that a provider allows")
    budget: str | None = Field(None, description="Most to spend from now on: 2 USD, 100000 tokens or 50 calls")
    prices: str | None = Field(None, description="CSV file of prices that beats the built-in one")
    pack: int = Field(1, ge=1, le=100, description="Short inputs of EXTRACT_FACTS that may share a request to a model")
    temperature: float = Field(0.0, ge=0, le=2, description="Temperature of GENERATE where the call names none")
    max_tokens: int = Field(512, ge=1, description="Longest answer of GENERATE in tokens, where the call names none")
    tokenizer: str | None = Field(
        None, description="A model's tokenizer.json; CONTEXT counts with it. Else four bytes are taken for a token"
    )
    agent_hops: int = Field(8, ge=1, le=50, description="Model calls that one message about records may take at most")
    memo: bool = Field(True, description="Remember answers and never pay for one twice")
    memo_max_age: str | None = Field(None, description="How long an answer is remembered: 12 hours, 30 days …")
    on_error: Literal["fail", "null"] = Field(
        "fail", description="What one failed row does: fail the statement, or become NULL"
    )

    @field_validator("budget")
    @classmethod
    def _budget(cls, value: str | None) -> str | None:
        if value is not None:
            parse_budget(value)
        return value

    @field_validator("memo_max_age")
    @classmethod
    def _age(cls, value: str | None) -> str | None:
        if value is not None:
            parse_age(value)
        return value


def parse_budget(text: str) -> tuple[float, str]:
    """'2 USD', '100_000 tokens' or '50 calls' as amount and unit. ValueError if it is none of them."""
    found = re.fullmatch(r"\s*(\d[\d_,]*(?:\.\d+)?)\s*(usd|tokens?|calls?)\s*|\s*\$\s*(\d+(?:\.\d+)?)\s*", text.lower())
    if found is None:
        raise ValueError("a budget is written like '2 USD', '100000 tokens' or '50 calls'")
    amount, unit, dollars = found.groups()
    if dollars:
        return float(dollars), "USD"
    units = {"u": "USD", "t": "tokens", "c": "calls"}
    return float(amount.replace("_", "").replace(",", "")), units[unit[0]]


def parse_age(text: str) -> float:
    """'12 hours', '30 days' … in seconds. ValueError if it isn't a length of time."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(second|minute|hour|day|week|s|min|h|d|w)s?\s*", text.lower())
    if found is None:
        raise ValueError("an age is written like '90 minutes', '12 hours' or '30 days'")
    seconds = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
    return float(found[1]) * seconds[found[2][0]]


class Settings:
    """The settings of one database instance. Thread-safe."""

    def __init__(self, overrides: dict[str, Any] | None = None) -> None:
        self._lock = threading.Lock()
        self._overrides: dict[str, Any] = {}
        self._fixed: frozenset[str] = frozenset()
        self.times_set: dict[str, int] = {}  # a budget set again begins anew
        self._values = self._build({})
        for name, value in (overrides or {}).items():
            self.set(name, value)
        interrupts.watch()  # here, because a database's settings are made by the thread that opens it

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._values, name)

    def set(self, name: str, value: Any) -> None:
        """Set one setting; None takes the setting back to the environment or its default.

        Raises ConfigError for an unknown name (with a suggestion), a value that doesn't fit, a model string that can't
        be read, a file that isn't there, or another value for a setting that is fixed. What comes from the environment
        is checked when it is used, so that one bad variable doesn't keep everything from starting.
        """
        if name not in Values.model_fields:
            close = difflib.get_close_matches(name, Values.model_fields, 1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ConfigError(f"unknown setting {name!r}; {hint}settings: {', '.join(Values.model_fields)}")
        with self._lock:
            overrides = dict(self._overrides)
            overrides.pop(name, None)
            if value is not None:
                _check(name, value)
                overrides[name] = value
            values = self._build(overrides)
            if name in self._fixed and getattr(values, name) != getattr(self._values, name):
                raise ConfigError(
                    f"{name} is settled when a database is opened: set RECALL_{name.upper()} before, or open it with "
                    f"settings={{'{name}': …}}"
                )
            self._values, self._overrides = values, overrides
            self.times_set[name] = self.times_set.get(name, 0) + 1

    @property
    def values(self) -> Values:
        """What is in force now; stays as it is when a setting is changed."""
        return self._values

    def fix(self, *names: str) -> None:
        """From now on these keep their values."""
        self._fixed = frozenset(names)

    def rows(self) -> list[dict[str, str | None]]:
        """name, value (text, secrets as ***), origin (set, environment, default) and description of every setting."""
        given = self._values.model_fields_set
        return [
            {
                "name": name,
                "value": None if (value := getattr(self._values, name)) is None else _text(value),
                "origin": "set" if name in self._overrides else "environment" if name in given else "default",
                "description": field.description or "",
            }
            for name, field in Values.model_fields.items()
        ]

    @staticmethod
    def _build(overrides: dict[str, Any]) -> Values:
        try:
            return Values(**overrides)
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0])
            where = "" if name in overrides else f" (from RECALL_{name.upper()})"
            raise ConfigError(f"setting {name!r}{where}: {first['msg']}") from None


def _check(name: str, value: Any) -> None:
    """What pydantic can't see in a value."""
    if name in MODELS and isinstance(value, str):
        try:
            registry.parse(value)
        except ConfigError as error:
            raise ConfigError(f"setting {name!r}: {error}") from None
    if name in FILES and isinstance(value, str) and not Path(value).expanduser().is_file():
        raise ConfigError(f"setting {name!r}: there is no file {value}")


def _text(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "***"
    return str(value).lower() if isinstance(value, bool) else str(value)
