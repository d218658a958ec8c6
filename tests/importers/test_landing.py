"""What lands in chat_threads and chat_turns, and what doesn't."""

import json

import pytest

from recall_sql.errors import InputError
from recall_sql.importers import import_file


def said(content, role="user", **fields):
    return {"role": role, "content": content, **fields}


def test_importing_twice_adds_nothing_and_a_longer_file_only_the_rest(con, lines, turns):
    rows = [said("yes"), said("sure?", "assistant"), said("yes")]
    assert import_file(con, lines(*rows)).turns == 3
    again = import_file(con, lines(*rows))
    assert (again.turns, again.already) == (0, 3)
    longer = import_file(con, lines(*rows, said("bye"), said("yes")))
    assert (longer.turns, longer.already) == (2, 3)
    assert turns("position, content")[2:] == [(3, "yes"), (4, "bye"), (5, "yes")]


def test_positions_go_on_after_turns_that_were_stored_otherwise(con, lines, turns):
    con.execute("insert into chat_turns (session_id, position, role, content) values ('chat', 7, 'user', 'live')")
    import_file(con, lines(said("one"), said("two")))
    assert turns("position, content") == [(7, "live"), (8, "one"), (9, "two")]


def test_rows_of_a_table_are_ordered_by_time_and_messages_by_the_file(con, lines, document, turns):
    rows = [said("late", created_at="2026-05-02"), said("early", created_at="2026-05-01")]
    import_file(con, lines(*rows), session_id="table")
    import_file(con, document(rows), session_id="chat")
    assert turns("session_id, content") == [("chat", "late"), ("chat", "early"), ("table", "early"), ("table", "late")]


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("2026-07-01 10:00", "2026-07-01 08:00:00+00"),
        ("2026-07-01T10:00:00.25", "2026-07-01 08:00:00.25+00"),
        ("2026-07-01T10:00:00Z", "2026-07-01 10:00:00+00"),
        ("2026-07-01T10:00:00+05:30", "2026-07-01 04:30:00+00"),
        ("2026-07-01T10:00:00-0700", "2026-07-01 17:00:00+00"),
        ("2026-07-01 10:00 UTC", "2026-07-01 10:00:00+00"),
        ("2026-07-01", "2026-06-30 22:00:00+00"),
        (1782900000, "2026-07-01 10:00:00+00"),
        (1782900000.5, "2026-07-01 10:00:00.5+00"),
        ("1782900000000", "2026-07-01 10:00:00+00"),
        (1782900000000000, "2026-07-01 10:00:00+00"),
    ],
)
def test_times(con, lines, turns, written, stored):
    import_file(con, lines(said("x", created_at=written)), timezone="Europe/Madrid")
    assert turns("created_at::varchar") == [(stored,)]


@pytest.mark.parametrize("written", ["yesterday", "2026-13-01", "20260701", "10:00", True, "2026-07-01T10:00:00+99:00"])
def test_times_that_are_none(con, lines, written):
    with pytest.raises(InputError, match="line 1: unreadable time"):
        import_file(con, lines(said("x", created_at=written)))


def test_without_times_the_order_is_the_files_and_the_end_is_now(con, lines, turns):
    import_file(con, lines(*(said(f"message {number}") for number in range(50))))
    times = [row[0] for row in turns("created_at")]
    assert times == sorted(set(times))
    assert con.execute("select max(created_at) between now() - interval 1 minute and now() from chat_turns").fetchone()[
        0
    ]


def test_given_ids_beat_the_files(con, lines, turns):
    file = lines(said("x", session_id="theirs", user_id="them"), said("y"))
    import_file(con, file)
    assert turns("user_id, session_id") == [("default", "chat"), ("them", "theirs")]
    import_file(con, file, session_id="ours", user_id="us", agent_id="bot")
    assert turns("agent_id, user_id, session_id")[1:3] == [("bot", "us", "ours")] * 2


@pytest.mark.parametrize(
    "session", ["team-a", "o'brien", "会議-1", "🙂", "x'; DROP TABLE chat_facts; --", 'a"b', "%$1"]
)
def test_f18_any_session_id(con, lines, turns, session):
    import_file(con, lines(said("hello", session_id=session)))
    import_file(con, lines(said("there")), session_id=session)
    assert turns("session_id, position, content") == [(session, 1, "hello"), (session, 2, "there")]
    con.execute("select count(*) from chat_facts")


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_f20_nul_characters_are_removed(con, tmp_path, turns, suffix):
    file = tmp_path / f"nul.{suffix}"
    if suffix == "csv":
        file.write_bytes(b"role,content,session_id\nuser,a\0b,s\0\n")
    else:
        file.write_bytes(json.dumps(said("a\0b", session_id="s\0")).encode())
    import_file(con, file)
    assert turns("session_id, content") == [("s", "ab")]


def test_f29_nothing_is_rendered_or_interpolated(con, lines, turns):
    texts = ["{{ 7*7 }} and {% for x in y %}", "it's 100 % $HOME $1 ? :x", "{# no #}", "--' /* */ ;"]
    import_file(con, lines(*map(said, texts)))
    assert [content for (content,) in turns("content")] == texts


SCRIPTS = (
    "Ελληνικά Русский עברית العربية हिन्दी ไทย 한국어 日本語 中文 አማርኛ ქართული Հայերեն தமிழ் 𐍈 👩‍👩‍👧 é\u0301 \u202e"
)


def test_every_script_and_a_megabyte(con, lines, turns):
    long = SCRIPTS * 9000
    assert len(long.encode()) > 1_000_000
    import_file(con, lines(said(SCRIPTS), said(long)))
    assert turns("content") == [(SCRIPTS,), (long,)]


def test_half_a_surrogate_pair_is_replaced(con, lines, turns):
    import_file(con, lines(r'{"role": "user", "content": "ok \ud83d"}'))
    assert turns("content") == [("ok \ufffd",)]


def test_empty_messages_can_be_skipped(con, lines, turns):
    result = import_file(con, lines(said("a"), said(" \n"), said(None)), skip_empty=True)
    assert (result.turns, result.skipped, result.reasons) == (1, 2, {"empty messages": 2})
    assert turns("content") == [("a",)]


def test_an_id_that_means_two_messages_is_refused(con, lines, turns):
    with pytest.raises(
        InputError, match=r"two different messages of one session have the id '1' \(line 1 and line 2\)"
    ):
        import_file(con, lines(said("a", id=1), said("b", id=1)))
    assert turns() == []
    assert import_file(con, lines(said("a", id=1), said("b", id=1)), mapping={"id": ""}).turns == 2
    assert import_file(con, lines(said("a", id=1), said("a", id=1)), session_id="other").already == 1


def test_many_batches_keep_their_order(con, lines, turns):
    seen = []
    import_file(con, lines(*(said(str(number)) for number in range(5000))), on_progress=seen.append)
    assert turns("content") == [(str(number),) for number in range(5000)]
    assert seen == [2048, 4096, 5000]


def test_in_a_callers_transaction_the_caller_decides(con, lines, turns):
    con.execute("begin")
    import_file(con, lines(said("a")))
    con.execute("rollback")
    assert turns() == []
