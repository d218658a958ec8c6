"""How the command starts, ends and fails: exit codes, one line of error, what it imports."""

import json
import signal
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

import recall_sql
from tests.cli.running import finished, process, python

HEAVY = ("torch", "openai", "transformers", "sentence_transformers", "onnxruntime", "jinja2", "yaml", "dateparser")


def test_the_package_has_the_command():
    names = {point.name: point.value for point in entry_points(group="console_scripts", name="recall-sql")}
    assert names in ({}, {"recall-sql": "recall_sql.cli:main"})  # {}: not installed, run from a checkout


def test_sql_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['recall-sql', 'sql', 'select 1 as one', '--format', 'csv']\n"
        "import atexit; from recall_sql.cli import main\n"
        f"atexit.register(lambda: print([m for m in {HEAVY!r} if m in sys.modules]))\n"
        "main()"
    )
    _, out, err = python(code)
    assert out.split() == ["one", "1", "[]"], err


def test_doctor_imports_nothing_heavy():
    code = (
        "import sys; from recall_sql.doctor import examine; examine()\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    _, out, err = python(code)
    assert out.strip() == "[]", err


def test_version_and_help(recall):
    assert recall("--version") == (0, f"recall-sql, version {recall_sql.__version__}\n", "")
    code, out, _ = recall("--help")
    assert code == 0
    for command in ("compile", "context", "demo", "doctor", "facts", "import", "init", "list", "run", "sql"):
        assert f"\n  {command} " in out


def test_wrong_usage_is_exit_code_2_in_one_line(refused):
    assert "No such command 'impot'" in refused("impot", code=2)
    assert "No such option '--fromat'. Did you mean '--format'?" in refused(
        "sql", "select 1", "--fromat", "csv", code=2
    )
    assert "Missing argument 'RECIPE'" in refused("run", code=2)
    assert "'xml' is not one of" in refused("sql", "select 1", "--format", "xml", code=2)
    assert "does not exist" in refused("import", "absent.jsonl", code=2)
    assert "Missing option '--session-id'" in refused("context", code=2)


def test_var_without_a_sign_and_twice(refused):
    name = "conversation_memory/context"
    assert "--var session_id: expected NAME=VALUE" in refused("run", name, "--var", "session_id", code=2)
    assert "--var k is given twice" in refused("run", name, "--var", "k=1", "--var", "k=2", code=2)


def test_debug_shows_the_traceback_before_or_behind_the_command(recall):
    for args in (["--debug", "run", "nope"], ["run", "nope", "--debug"]):
        code, _, err = recall(*args)
        assert code == 1 and "Traceback" in err and err.splitlines()[-1].startswith("recall-sql: there is no recipe")


def test_what_nobody_foresaw_is_one_line_too(tmp_path):
    code = (
        "import sys; sys.argv = ['recall-sql', 'list']\n"
        "from recall_sql import cli\n"
        "def broken(): raise KeyError('odd')\n"
        "import recall_sql.cli.recipes as recipes; recipes.catalogue = broken\n"
        "cli.main()"
    )
    returncode, _, err = python(code)
    assert returncode == 1
    assert err == "recall-sql: unexpected KeyError: 'odd' (a bug in recall_sql; --debug shows where)\n"


def test_a_process_ends_with_the_code_and_speaks_utf8():
    code, out, err = finished("sql", "select '会議 🙂' as t", "--format", "json")
    assert (code, json.loads(out), err) == (0, [{"t": "会議 🙂"}], "")
    code, out, err = finished("sql", "select 会")
    assert (code, out) == (1, "") and err.startswith("recall-sql: ") and "会" in err
    assert finished("sql")[0] == 2


def test_a_reader_that_goes_away_is_no_error():
    with process("sql", "select * from range(200000)", "--format", "csv") as running:
        assert running.stdout.readline().strip() == b"range"
        running.stdout.close()
        assert running.stderr.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT to another process")
def test_ctrl_c_is_exit_code_130():
    # While it waits for standard input: DuckDB 1.5.5 itself doesn't always hear Ctrl-C during a long statement.
    code = (
        "import io, sys\n"
        "class Told(io.TextIOWrapper):\n"
        "    def read(self, *size): print('waiting', flush=True); return super().read(*size)\n"
        "sys.stdin = Told(sys.stdin.buffer); sys.argv = ['recall-sql', 'sql', '-']\n"
        "from recall_sql.cli import main; main()"
    )
    with process(code, start=[sys.executable, "-c"], stdin=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"waiting\n"
        running.send_signal(signal.SIGINT)
        try:
            _, err = running.communicate(timeout=30)
        finally:
            running.kill()
    assert running.returncode == 130 and err.decode().strip() == "recall-sql: interrupted"


def test_an_error_in_a_function_is_told_without_duckdbs_noise(refused):
    line = refused("sql", "select generate('x', {tempreture: 1})")
    assert "unknown option 'tempreture'" in line and "UDF" not in line and "At:" not in line
