"""DuckDB's own extensions: from an installed wheel `duckdb-extension-NAME`, else from DuckDB's repository."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import duckdb

from recall_sql.errors import ConfigError


def extension_file(name: str) -> Path | None:
    """The extension's file in an installed wheel, if that is for this version of DuckDB."""
    package = find_spec(f"duckdb_extension_{name}")
    for folder in package.submodule_search_locations or () if package else ():
        file = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if file.is_file():
            return file
    return None


def load_statement(name: str) -> str:
    """The SQL by which a shell on this machine gets the extension."""
    file = extension_file(name)
    path = str(file).replace("'", "''")
    return f"load '{path}';" if file else f"install {name}; load {name};"


def load(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Loads an extension. ConfigError says what to install where neither a wheel nor the repository has it."""
    file = extension_file(name)
    try:
        if file is None:
            con.install_extension(name)
        con.load_extension(str(file) if file else name)
    except duckdb.Error as error:
        raise ConfigError(_cannot_load(name, error)) from error


def _cannot_load(name: str, error: duckdb.Error) -> str:
    wheel = f"duckdb-extension-{name}"
    try:
        found = f"the installed wheel {wheel} is for DuckDB {version(wheel)}, and this is {duckdb.__version__}"
    except PackageNotFoundError:
        found = f"there is no wheel {wheel}"
    return (
        f"the DuckDB extension {name} can't be loaded: {found}, and DuckDB's repository can't be reached. "
        f"Install it: pip install {wheel}=={duckdb.__version__} ({' '.join(str(error).split())[:300]})"
    )
