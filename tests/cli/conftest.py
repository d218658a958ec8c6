"""Commands in a folder of their own, called in this process."""

import pytest
from click.testing import CliRunner

from recall_sql.cli import cli


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Every test in a folder of its own, with memory.duckdb as the default database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_DB", raising=False)


@pytest.fixture
def recall(tmp_path):
    """Calls a command in this process: (exit code, standard output, standard error)."""

    def call(*args, **options):
        result = CliRunner().invoke(cli, args, prog_name="recall-sql", **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


@pytest.fixture
def refused(recall):
    """Calls a command that must fail with one line on standard error; gives that line."""

    def call(*args, code=1):
        exit_code, out, err = recall(*args)
        assert exit_code == code, (out, err)
        assert err.startswith("recall-sql: ") and err.count("\n") == 1, err
        assert "Traceback" not in err
        return err

    return call
