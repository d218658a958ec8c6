"""JSON Lines, CSV and Parquet: columns, delimiters, and errors that name the line."""

import pytest

from recall_sql.errors import InputError
from recall_sql.importers import import_file

USER = {"role": "user", "content": "hello"}


def test_jsonl_with_all_fields(con, lines, turns):
    file = lines(
        {
            **USER,
            "created_at": "2026-05-01T10:00:00+02:00",
            "session_id": "s",
            "user_id": "u",
            "agent_id": "a",
            "id": 7,
        },
        {
            "role": "assistant",
            "content": "hi",
            "session_id": "s",
            "user_id": "u",
            "agent_id": "a",
            "title": "Greetings",
        },
    )
    result = import_file(con, file)
    assert (result.turns, result.threads, result.already, result.skipped) == (2, 1, 0, 0)
    assert turns("agent_id, user_id, session_id, position, role, content, source_key")[0] == (
        *("a", "u", "s", 1, "user", "hello"),
        "7",
    )
    assert con.execute("select title, created_at::varchar from chat_threads").fetchone() == (
        "Greetings",
        "2026-05-01 08:00:00+00",
    )


def test_columns_are_mapped_and_empty_lines_passed_over(con, lines, turns):
    file = lines({"who": "marta", "said": "ciao", "n": 1}, "", {"who": "helper", "said": "salve", "n": 1})
    mapping = {"role": "who", "content": "said"}
    import_file(con, file, mapping=mapping, role_map={"Marta": "user", "helper": "assistant"})
    assert turns() == [("user", "ciao"), ("assistant", "salve")]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ('{"role": "user", "content": ', r"chat.jsonl, line 3: not JSON"),
        ("[1, 2]", r"line 3: expected a JSON object"),
        ('{"role": "user", "text": "x"}', r"line 3: there is no column 'content'; the columns are: role, text.*--map"),
        ('{"role": "narrator", "content": "x"}', r"line 3: unknown role 'narrator'; roles: user, .*--role-map"),
        ('{"role": null, "content": "x"}', r"line 3: no role"),
        ('{"role": "user", "content": "\\u00a0 \\n"}', r"line 3: empty message; --skip-empty"),
        ('{"role": "user", "content": null}', r"line 3: empty message"),
        ('{"role": "user", "content": {"a": 1}}', r"line 3: content must be text, not a JSON object"),
        ('{"role": "user", "content": "x", "created_at": "tomorrow"}', r"line 3: unreadable time 'tomorrow'"),
        ("[" * 100_000, r"line 3: (JSON nested too deeply|not JSON)"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_imported(con, lines, turns, bad, message):
    with pytest.raises(InputError, match=message):
        import_file(con, lines(USER, "", bad, USER))
    assert turns() == []
    assert con.execute("select count(*) from chat_threads").fetchone() == (0,)
    assert con.execute("select count(*) from duckdb_tables() where temporary").fetchone() == (0,)


def test_a_line_that_is_not_utf8_is_named(con, tmp_path):
    file = tmp_path / "latin.jsonl"
    file.write_bytes(b'{"role": "user", "content": "a"}\n{"role": "user", "content": "caf\xe9"}\n')
    with pytest.raises(InputError, match="line 2: not UTF-8"):
        import_file(con, file)
    file.write_bytes("\ufeff{}".encode("utf-16"))
    with pytest.raises(InputError, match="UTF-16"):
        import_file(con, file)


def test_a_byte_order_mark_is_no_part_of_the_text(con, tmp_path, turns):
    file = tmp_path / "bom.csv"
    file.write_bytes("role,content\nuser,olá\n".encode("utf-8-sig"))
    import_file(con, file)
    assert turns() == [("user", "olá")]


def test_unknown_fields_columns_roles_and_formats_are_refused_by_name(con, lines):
    file = lines(USER)
    with pytest.raises(InputError, match="did you mean content"):
        import_file(con, file, mapping={"contents": "x"})
    with pytest.raises(InputError, match="no line has the column 'ts'"):
        import_file(con, file, mapping={"created_at": "ts"})
    with pytest.raises(InputError, match="'boss' is not a role"):
        import_file(con, file, role_map={"marta": "boss"})
    with pytest.raises(InputError, match="unknown format 'xml'"):
        import_file(con, file, format="xml")
    with pytest.raises(InputError, match="unknown timezone 'Mars/Base'"):
        import_file(con, file, timezone="Mars/Base")
    with pytest.raises(InputError, match="doesn't tell what it is"):
        import_file(con, lines(USER, name="chat.txt"))


def test_files_that_are_none(con, tmp_path):
    with pytest.raises(InputError, match="is a directory"):
        import_file(con, tmp_path)
    with pytest.raises(InputError, match="there is no file"):
        import_file(con, tmp_path / "absent.jsonl")
    for name in ("empty.jsonl", "empty.csv", "empty.parquet"):
        (tmp_path / name).touch()
        with pytest.raises(InputError, match="is empty"):
            import_file(con, tmp_path / name)
    (tmp_path / "blank.jsonl").write_text("\n\n")
    with pytest.raises(InputError, match="holds no messages"):
        import_file(con, tmp_path / "blank.jsonl")
    (tmp_path / "x.parquet").write_text("not parquet")
    with pytest.raises(InputError, match=r"x\.parquet can't be read as Parquet"):
        import_file(con, tmp_path / "x.parquet")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiters_quotes_and_lines_within_values(con, lines, turns, delimiter):
    header = delimiter.join(("role", "content", "n"))
    first = delimiter.join(("user", f'"one{delimiter} ""two""\nthree"', "1"))
    import_file(con, lines(header, first, delimiter.join(("ai", "four", ""))), format="csv")
    assert turns() == [("user", f'one{delimiter} "two"\nthree'), ("assistant", "four")]


def test_csv_errors_name_the_line_where_the_record_begins(con, lines):
    with pytest.raises(InputError, match="line 4: 3 values, but the header names 2"):
        import_file(con, lines("role,content", 'user,"a\nb"', "user,c,d", name="c.csv"))
    with pytest.raises(InputError, match="line 3: not CSV"):
        import_file(con, lines("role,content", "user,a", 'user,"b', "user,c", name="c.csv"))
    with pytest.raises(InputError, match="line 4: unknown role 'x'"):
        import_file(con, lines("role,content", 'user,"a\nb"', "x,c", name="c.csv"))
    with pytest.raises(InputError, match="names the column 'role' twice"):
        import_file(con, lines("role,content,role", "user,a,b", name="c.csv"))
    with pytest.raises(InputError, match="no column 'role'; the columns are: who, text"):
        import_file(con, lines("who,text", "user,a", name="c.csv"))
    with pytest.raises(InputError, match="no column 'speaker' for role"):
        import_file(con, lines("who,text", "user,a", name="c.csv"), mapping={"role": "speaker", "content": "text"})


def test_parquet_with_types_and_wildcards_in_its_name(con, tmp_path, turns):
    file = tmp_path / "chat[1]*.parquet"
    con.execute(
        'create temp table t (sender varchar, "the text" varchar, said_at timestamptz, thread bigint, extra int[])'
    )
    con.execute("insert into t values ('human', 'a', '2026-01-01 10:00:00+01', 5, [1]), ('bot', 'b', null, 5, null)")
    con.table("t").write_parquet(str(tmp_path / "plain.parquet"))
    (tmp_path / "plain.parquet").rename(file)
    mapping = {"role": "sender", "content": "the text", "created_at": "said_at", "session_id": "thread"}
    assert import_file(con, file, mapping=mapping).turns == 2
    assert turns("session_id, role, content, created_at::varchar") == [
        ("5", "user", "a", "2026-01-01 09:00:00+00"),
        ("5", "assistant", "b", "2026-01-01 09:00:00.000001+00"),
    ]


def test_parquet_errors_name_column_and_row(con, tmp_path):
    file = str(tmp_path / "p.parquet")
    con.sql("select 'user' as role, [1] as content").write_parquet(file)
    with pytest.raises(InputError, match=r"the column 'content' is INTEGER\[\], and content must be text"):
        import_file(con, file)
    con.sql("select unnest(['user', 'king']) as role, 'x' as content").write_parquet(file)
    with pytest.raises(InputError, match="row 2: unknown role 'king'"):
        import_file(con, file)
