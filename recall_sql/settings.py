"""What can be set, and what is in force: set by hand beats the environment, which beats the default.

The only place that reads the environment. One `Settings` object belongs to one database instance, because a SQL
function can't see the session variables of its caller.
"""

from __future__ import annotations

import difflib
import threading
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from recall_sql.errors import ConfigError


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
    temperature: float = Field(0.0, ge=0, le=2, description="Temperature of GENERATE where the call names none")
    max_tokens: int = Field(512, ge=1, description="Longest answer of GENERATE in tokens, where the call names none")
    agent_hops: int = Field(8, ge=1, le=50, description="Model calls that one message about records may take at most")
    memo: bool = Field(True, description="Remember answers and never pay for one twice")
    on_error: Literal["fail", "null"] = Field(
        "fail", description="What one failed row does: fail the statement, or become NULL"
    )


class Settings:
    """The settings of one database instance. Thread-safe."""

    def __init__(self, overrides: dict[str, Any] | None = None) -> None:
        self._lock = threading.Lock()
        self._overrides: dict[str, Any] = {}
        self._fixed: frozenset[str] = frozenset()
        self._values = self._build({})
        for name, value in (overrides or {}).items():
            self.set(name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._values, name)

    def set(self, name: str, value: Any) -> None:
        """Set one setting; None takes the setting back to the environment or its default.

        Raises ConfigError for an unknown name (with a suggestion), a value that doesn't fit, or another value for a
        setting that is fixed.
        """
        if name not in Values.model_fields:
            close = difflib.get_close_matches(name, Values.model_fields, 1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ConfigError(f"unknown setting {name!r}; {hint}settings: {', '.join(Values.model_fields)}")
        with self._lock:
            overrides = dict(self._overrides)
            overrides.pop(name, None)
            if value is not None:
                overrides[name] = value
            values = self._build(overrides)
            if name in self._fixed and getattr(values, name) != getattr(self._values, name):
                raise ConfigError(
                    f"{name} is settled when a database is opened: set RECALL_{name.upper()} before, or open it with "
                    f"settings={{'{name}': …}}"
                )
            self._values, self._overrides = values, overrides

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


def _text(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "***"
    return str(value).lower() if isinstance(value, bool) else str(value)
