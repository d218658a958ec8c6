"""The command in a process of its own, what it reads, and what it leaves in the database."""

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb

import recall_sql

COMMAND = (sys.executable, "-m", "recall_sql")


def process(*args, start=COMMAND, stdin=None):
    """Starts the same in a process of its own, whose locale isn't UTF-8."""
    root = str(Path(recall_sql.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root, "PYTHONIOENCODING": "latin-1"}
    pipe = subprocess.PIPE
    return subprocess.Popen([*start, *args], stdin=stdin, stdout=pipe, stderr=pipe, env=environment)


def finished(*args, start=COMMAND):
    """(exit code, standard output, standard error) of such a process."""
    with process(*args, start=start) as running:
        try:
            out, err = running.communicate(timeout=60)
        finally:
            running.kill()
    return running.returncode, out.decode("utf-8"), err.decode("utf-8")


def python(code):
    """The same of a piece of Python."""
    return finished(code, start=[sys.executable, "-c"])


def write(name, *rows):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)
    return name


def query(sql, db="memory.duckdb"):
    with duckdb.connect(db, read_only=True) as con:
        return con.execute(sql).fetchall()
