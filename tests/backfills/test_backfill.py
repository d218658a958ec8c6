"""Backfills: equal to a plain run, whatever the partitions; going on; sources that are broken, split or changed."""

from __future__ import annotations

import json
import os
import signal
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import duckdb
import pytest

import recall_sql
from recall_sql import extensions
from recall_sql.backfills import prepared
from recall_sql.errors import ConfigError, InputError
from recall_sql.importers import import_file
from tests.backfills.conversations import messages, write_jsonl
from tests.backfills.memories import assert_same, contents
from tests.processes import running
from tests.servers import ScriptedServer, chat

ALL = messages(240)
COLUMNS = str(dict.fromkeys(ALL[0], "VARCHAR"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What importing one file and running the recipe on all of it gives."""
    path = write_jsonl(tmp_path_factory.mktemp("plain") / "all.jsonl", ALL)
    con = recall_sql.connect()
    import_file(con, path)
    recall_sql.run(con, "conversation_memory/all")
    yield con
    con.close()


@pytest.fixture
def source(tmp_path) -> Path:
    """The same in three files, over which every session is spread."""
    folder = tmp_path / "chats"
    folder.mkdir()
    for number in range(3):
        write_jsonl(folder / f"{number}.jsonl", ALL[number * 80 : number * 80 + 80])
    return folder


def status(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    return dict(con.execute("select status, count(*) from recall_backfill_partitions group by all").fetchall())


# --- equal to a plain run ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("partition_turns", [1, 50, 10_000])
def test_the_memory_is_that_of_a_plain_run(con, source, plain, partition_turns):
    done = recall_sql.backfill(con, source, partition_turns=partition_turns)
    assert (done.messages, done.added, done.left_out) == (240, 240, 0)
    assert_same(con, plain)


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_every_format_gives_the_same(con, source, plain, tmp_path, format):
    target = tmp_path / f"all.{format}"
    columns = ", ".join(f"{name}: 'varchar'" for name in ALL[0])
    duckdb.execute(f"copy (from read_json('{source}/*.jsonl', columns := {{{columns}}})) to '{target}'")
    recall_sql.backfill(con, tmp_path / f"*.{format}", partition_turns=50)
    assert_same(con, plain)


def test_partitions_hold_whole_sessions(con, source):
    recall_sql.backfill(con, source, partition_turns=50)
    found = con.execute("select sessions, messages, status from recall_backfill_partitions order by partition")
    rows = found.fetchall()
    assert sum(sessions for sessions, *_ in rows) == 12
    assert sum(count for _, count, _ in rows) == 240
    assert len(rows) >= 4 and {status for *_, status in rows} == {"read"}


def test_what_a_memory_holds_already_is_left_alone(con, source, plain, tmp_path):
    import_file(con, write_jsonl(tmp_path / "early.jsonl", ALL[:100]))
    done = recall_sql.backfill(con, source, partition_turns=50)
    assert (done.messages, done.added) == (240, 140)
    assert_same(con, plain)


def test_again_adds_nothing(con, source):
    recall_sql.backfill(con, source)
    before = contents(con)
    assert recall_sql.backfill(con, source).added == 0
    assert contents(con) == before


def test_messages_of_chat_apis(con, tmp_path):
    rows = [
        {"role": "human", "content": [{"text": "I'm vegan."}, {"type": "image_url"}], "session_id": "s"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": 1}], "session_id": "s"},
        {"role": "user", "content": [{"type": "image_url"}], "session_id": "s"},
        {"role": "user", "content": "I live in Oslo.", "session_id": "s", "created_at": 1767225600},
    ]
    done = recall_sql.backfill(con, write_jsonl(tmp_path / "chat.jsonl", rows))
    assert (done.messages, done.left_out) == (2, 2)
    assert con.execute("select content from chat_turns order by position").fetchall() == [
        ("I live in Oslo.",),
        ("I'm vegan.",),
    ]
    con.execute("delete from chat_turns")
    import_file(con, tmp_path / "chat.jsonl")
    assert con.execute("select count(*) from chat_turns").fetchall() == [(2,)]


def test_a_file_without_sessions_is_one(con, tmp_path):
    write_jsonl(tmp_path / "monday.jsonl", [{"role": "user", "content": "I'm vegan."}])
    write_jsonl(tmp_path / "tuesday.jsonl", [{"role": "user", "content": "I eat fish now."}])
    recall_sql.backfill(con, tmp_path / "*.jsonl", user_id="ada")
    assert con.execute("select user_id, session_id from chat_turns order by all").fetchall() == [
        ("ada", "monday"),
        ("ada", "tuesday"),
    ]


def test_columns_and_speakers_by_other_names(con, tmp_path):
    (tmp_path / "chat.csv").write_text('who;text\nmarta;"I\'m vegan; really"\nhelper;ok\n', "utf-8")
    recall_sql.backfill(
        con,
        tmp_path / "chat.csv",
        mapping={"role": "who", "content": "text"},
        role_map={"marta": "user", "helper": "assistant"},
    )
    assert con.execute("select role, content from chat_turns order by position").fetchall() == [
        ("user", "I'm vegan; really"),
        ("assistant", "ok"),
    ]


def test_parameters_reach_the_recipes(con, source):
    recall_sql.backfill(con, source, values={"categories": ["dietary"]}, partition_turns=50)
    assert con.execute("select distinct category from chat_facts").fetchall() == [("dietary",)]


# --- sources that can't be read ---------------------------------------------------------------------------------------


def refused(con, source, **options) -> str:
    with pytest.raises(InputError) as error:
        recall_sql.backfill(con, source, **options)
    assert con.execute("select count(*) from chat_turns").fetchall() == [(0,)]
    assert con.execute("select count(*) from recall_backfills").fetchall() == [(0,)]
    return str(error.value)


def test_a_broken_row_in_the_middle_is_named_and_nothing_is_stored(con, source):
    good = "".join(json.dumps(row) + "\n" for row in ALL[:10])
    (source / "1.jsonl").write_text(good + '{"role": "user", oops\n{"role": "pope", "content": "hi"}\n')
    told = refused(con, source)
    assert "1.jsonl, row 11: not JSON" in told and "row 12: unknown role 'pope'" in told and "--skip-bad" in told


def test_broken_rows_can_be_left_out_and_are_listed(con, source):
    with (source / "1.jsonl").open("a") as file:
        file.write('{"role": "user", oops\n{"role": "user", "content": "I am Ada", "created_at": "yesterday"}\n')
    done = recall_sql.backfill(con, source, skip_bad=True)
    assert (done.added, done.left_out) == (240, 2)
    listed = con.execute("select file, place, problem from recall_backfill_left_out order by place").fetchall()
    assert [(Path(file).name, place) for file, place, _ in listed] == [("1.jsonl", 81), ("1.jsonl", 82)]
    assert listed[0][2] == "not JSON" and "unreadable time 'yesterday'" in listed[1][2]


def test_a_broken_line_of_csv(con, tmp_path):
    (tmp_path / "chat.csv").write_text("role,content\nuser,I'm vegan.\nuser,two,many\nuser,hello\n", "utf-8")
    assert "Line: 3" in refused(con, tmp_path / "chat.csv")
    done = recall_sql.backfill(con, tmp_path / "chat.csv", skip_bad=True)
    assert (done.added, done.left_out) == (2, 1)
    assert con.execute("select place from recall_backfill_left_out").fetchall() == [(3,)]


def test_no_files(con, tmp_path):
    assert "there is no file" in refused(con, tmp_path / "*.parquet")
    assert "without Parquet, JSONL or CSV" in refused(con, tmp_path)
    (tmp_path / "empty.jsonl").touch()
    assert "empty" in refused(con, tmp_path / "empty.jsonl")


def test_files_of_several_formats(con, source):
    (source / "more.csv").write_text("role,content\nuser,hi\n")
    assert "--format" in refused(con, source)
    assert "several formats" in refused(con, source / "*")
    assert recall_sql.backfill(con, source, format="csv").added == 1


@pytest.mark.parametrize(
    ("mapping", "told"),
    [
        ({"content": "text"}, "there is no column 'text' for content; the columns are: content, created_at"),
        ({"contnt": "text"}, "did you mean content"),
        ({"id": "uuid"}, "there is no column 'uuid' for id"),
    ],
)
def test_unknown_columns(con, source, mapping, told):
    assert told in refused(con, source, mapping=mapping)


def test_one_id_for_two_messages(con, tmp_path):
    rows = [{"role": "user", "content": text, "id": "7", "session_id": "s"} for text in ("hi", "ho")]
    assert "have the id '7'" in refused(con, write_jsonl(tmp_path / "a.jsonl", rows))


def test_values_that_no_recipe_takes(con, source):
    with pytest.raises(InputError, match="no parameter nope"):
        recall_sql.backfill(con, source, values={"nope": 1})
    with pytest.raises(InputError, match="leave out turns"):
        recall_sql.backfill(con, source, values={"turns": "mine"})


# --- before the run ---------------------------------------------------------------------------------------------------


def test_a_plan_changes_nothing(con, source):
    plan = prepared(con, source, partition_turns=50).plan()
    assert (plan.messages, plan.new, plan.sessions, plan.goes_on) == (240, 240, 12, False)
    assert con.execute("select count(*) from recall_backfills").fetchall() == [(0,)]
    assert con.execute("select count(*) from chat_turns").fetchall() == [(0,)]


def test_an_estimate_counts_what_would_be_asked_and_asks_nothing(db, source):
    with (
        ScriptedServer(lambda call: chat("[]")) as server,
        recall_sql.connect(db, settings={"extractor": server.model()}) as con,
    ):
        lines = {line.function: line for line in prepared(con, source, partition_turns=50).estimate()}
        assert not server.calls
        asked = len({(row["content"], row["created_at"], row["session_id"]) for row in ALL if row["role"] == "user"})
        assert lines["EXTRACT_FACTS"].inputs == asked
        assert lines["EMBED"].inputs == len({row["content"] for row in ALL})
        assert con.execute("select count(*) from chat_turns").fetchall() == [(0,)]
        con.execute("insert into chat_threads (session_id) values ('it is not left in a transaction')")


def test_a_limit_reads_the_first_rows(con, source, plain):
    assert recall_sql.backfill(con, source, limit=30).added == 30
    assert recall_sql.backfill(con, source).added == 210
    assert con.execute("select count(*) from chat_turns").fetchall() == [(240,)]


# --- going on ---------------------------------------------------------------------------------------------------------


class Stop(Exception):
    pass


def stop_at(stage: str, number: int):
    seen = []

    def hear(name, about):
        seen.append(name)
        if seen.count(stage) == number:
            raise Stop

    return hear


@pytest.mark.parametrize(
    ("stage", "number"), [("staging", 1), ("staged", 1), ("storing", 1), ("reading", 2), ("landing", 1)]
)
def test_it_goes_on_where_it_stopped(con, source, plain, stage, number):
    with pytest.raises(Stop):
        recall_sql.backfill(con, source, partition_turns=50, on_event=stop_at(stage, number))
    before = status(con)
    read = {"reading": number, "landing": sum(before.values())}
    assert before.get("read", 0) == read.get(stage, 0)
    done = recall_sql.backfill(con, source, partition_turns=50)
    assert done.goes_on == (stage != "staging")
    assert_same(con, plain)
    assert con.execute("select status from recall_backfills").fetchall() == [("done",)]


def test_a_source_that_has_changed_is_read_anew(con, source, plain):
    with pytest.raises(Stop):
        recall_sql.backfill(con, source, partition_turns=50, on_event=stop_at("reading", 2))
    write_jsonl(source / "3.jsonl", messages(20, seed=9))
    done = recall_sql.backfill(con, source, partition_turns=50)
    assert done.messages == 260 and not done.goes_on
    states = con.execute("select status from recall_backfills order by started_at").fetchall()
    assert states == [("given_up",), ("done",)]


def test_rows_that_waited_and_are_gone_are_read_again(con, source, plain, tmp_path):
    with pytest.raises(Stop):
        recall_sql.backfill(con, source, partition_turns=50, work_dir=tmp_path / "w", on_event=stop_at("reading", 2))
    for path in (tmp_path / "w").rglob("*.parquet"):
        path.unlink()
    recall_sql.backfill(con, source, partition_turns=50, work_dir=tmp_path / "w")
    assert_same(con, plain)


def test_a_database_made_before_there_were_backfills(con, source):
    for table in ("recall_backfills", "recall_backfill_partitions", "recall_backfill_left_out"):
        con.execute(f"drop table {table}")
    assert recall_sql.backfill(con, source, limit=10).added == 10


RUN = """
import sys, recall_sql
con = recall_sql.connect(sys.argv[1])
con.execute("set enable_progress_bar = false")
def hear(name, about):
    if name == "reading":
        print("reading", flush=True)
try:
    recall_sql.backfill(con, sys.argv[2], partition_turns=20, on_event=hear)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no signals to another process")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_ends_in_the_middle(db, source, plain, number):
    with running(RUN, db, source) as process:
        process.send_signal(number)
        process.wait(60)
    with recall_sql.connect(db) as con:
        assert 0 < status(con)["read"] < sum(status(con).values())
        assert recall_sql.backfill(con, source, partition_turns=20).goes_on
        assert_same(con, plain)
    assert not list(db.parent.glob("*.backfill"))


def test_jsonl_needs_little_memory(source):
    with recall_sql.connect(config={"memory_limit": "200MB"}) as con:
        assert recall_sql.backfill(con, source, partition_turns=50).added == 240


def test_a_row_that_is_too_long_is_refused(con, tmp_path):
    path = write_jsonl(tmp_path / "long.jsonl", [{"role": "user", "content": "x" * 2**26}])
    assert "maximum_object_size" in refused(con, path)


# --- addresses --------------------------------------------------------------------------------------------------------


@pytest.fixture
def website(tmp_path):
    """The address of a folder `web`, served by HTTP."""
    folder = tmp_path / "web"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *about):
        pass


@pytest.mark.skipif(
    extensions.extension_file("httpfs") is None,
    reason="the wheel duckdb-extension-httpfs is made for DuckDB 1.5.5 only, and tests load nothing from a network",
)
@pytest.mark.parametrize("name", ["all.jsonl", "all.parquet", "all.csv"])
def test_an_address_is_read_with_the_installed_wheel(con, website, plain, name):
    folder, address = website
    lines = write_jsonl(folder / "all.jsonl", ALL)
    if name != "all.jsonl":
        with duckdb.connect() as other:
            other.execute(f"copy (from read_json('{lines}', columns := {COLUMNS})) to '{folder / name}'")
    recall_sql.backfill(con, f"{address}/{name}")
    assert_same(con, plain)


def test_an_address_without_the_extension_says_what_to_install(con, monkeypatch, tmp_path):
    monkeypatch.setattr(extensions, "extension_file", lambda name: None)
    con.execute(f"set custom_extension_repository = '{tmp_path / 'none'}'")
    con.execute(f"set extension_directory = '{tmp_path}'")
    with pytest.raises(ConfigError, match="pip install duckdb-extension-httpfs=="):
        recall_sql.backfill(con, "https://127.0.0.1:9/all.jsonl")
