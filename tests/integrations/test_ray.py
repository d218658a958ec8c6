"""Backfills on Ray: the same memory, bit for bit; a dead worker's partition is read by another, and lands once."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

import recall_sql
from tests.backfills.conversations import messages, write_jsonl
from tests.backfills.memories import assert_same

ray = pytest.importorskip("ray", reason="Ray isn't installed (make test-ray installs it)")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Ray on Windows is experimental")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """A Ray of this machine with two cores."""
    os.environ.pop("RAY_ADDRESS", None)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_jsonl(tmp_path_factory.mktemp("ray") / "all.jsonl", messages(240))


@pytest.fixture(scope="module")
def plain(source):
    with recall_sql.connect() as con:
        recall_sql.backfill(con, source)
        yield con


def test_two_workers_give_the_same_memory(db, source, plain):
    with recall_sql.connect(db) as con:
        recall_sql.backfill(con, source, partition_turns=40, engine="ray", workers=2)
        assert_same(con, plain)


def test_a_dead_workers_partition_is_read_again_and_lands_once(db, source, plain):
    killed, read = [], []

    def kill_one(name, about):
        if name == "reading":
            read.append(about["partition"])
            if not killed:
                actors = [one for one in psutil.process_iter(["cmdline"]) if _is_actor(one)]
                killed.append(actors[0].pid)
                os.kill(actors[0].pid, signal.SIGKILL)

    with recall_sql.connect(db) as con:
        recall_sql.backfill(con, source, partition_turns=15, engine="ray", workers=2, on_event=kill_one)
        assert killed
        assert sorted(read) == sorted(set(read))
        assert_same(con, plain)
        assert con.execute("select distinct status from recall_backfill_partitions").fetchall() == [("read",)]


def _is_actor(process: psutil.Process) -> bool:
    """An actor of this test's Ray; other Rays of the machine have other parents."""
    ours = {one.pid for one in psutil.Process().children(recursive=True)}
    return process.pid in ours and "MapWorker" in " ".join(process.info["cmdline"] or ())
