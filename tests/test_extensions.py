"""DuckDB's extensions: where they come from, and what is said where they can't be had."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import duckdb
import pytest

from recall_sql import extensions
from recall_sql.errors import ConfigError


def test_without_the_extensions_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extensions, "extension_file", lambda name: None)
    con = duckdb.connect(
        config={"extension_directory": str(tmp_path), "custom_extension_repository": str(tmp_path / "none")}
    )
    with pytest.raises(ConfigError, match=rf"pip install duckdb-extension-httpfs=={re.escape(duckdb.__version__)}"):
        extensions.load(con, "httpfs")


def test_an_extension_of_another_version_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed = version("duckdb-extension-httpfs")
    monkeypatch.setattr(duckdb, "__version__", "9.9.9")
    con = duckdb.connect(
        config={"extension_directory": str(tmp_path), "custom_extension_repository": str(tmp_path / "none")}
    )
    with pytest.raises(ConfigError, match=rf"is for DuckDB {re.escape(installed)}, and this is 9\.9\.9"):
        extensions.load(con, "httpfs")
