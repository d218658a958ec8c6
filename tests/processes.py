"""Runs Python code in a process of its own, as for tests of crashes, locks and what gets imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def _start(code: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        **options,
    )


def python(code: str, *arguments: object, timeout: float = 60) -> str:
    """What `code` prints; AssertionError, with its errors, unless it ends with 0. arguments: its sys.argv[1:]."""
    process = _start(code, *arguments, stderr=subprocess.PIPE)
    try:
        printed, errors = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == 0, f"exit {process.returncode}\n{printed}\n{errors}"
    return printed.strip()


@contextmanager
def running(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """`code` runs in the background from its first line of output until the block ends."""
    process = _start(code, *arguments)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()
