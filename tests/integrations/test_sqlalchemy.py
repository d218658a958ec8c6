"""`recall:///memory.duckdb` as SQLAlchemy's users use it: pools, threads, transactions, ORM, inspector, pandas."""

from __future__ import annotations

import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("duckdb_engine", reason="the extra `sqlalchemy` isn't installed")

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from recall_sql.errors import ConfigError
from recall_sql.integrations.sqlalchemy import DuckDBType, RecallDialect, Vector


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"recall:///{tmp_path / 'memory.duckdb'}"


@pytest.fixture
def engine(url: str) -> Iterator[sa.Engine]:
    engine = sa.create_engine(url)
    yield engine
    engine.dispose()


def in_threads(work: object, times: int) -> None:
    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_entry_point_names_the_dialect() -> None:
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    point = pyproject["project"]["entry-points"]["sqlalchemy.dialects"]["recall"]
    assert point == f"{RecallDialect.__module__}:{RecallDialect.__name__}"


def test_every_pooled_connection_has_functions_macros_and_tables(engine: sa.Engine) -> None:
    with engine.begin() as con:
        con.execute(
            sa.text("insert into chat_turns (role, content) values ('user', 'I love trains'), ('user', 'no nuts')")
        )
        con.execute(sa.text("update chat_turns set embedding = embed(content)"))
    connections = [engine.connect() for _ in range(5)]
    for con in connections:
        found = con.execute(
            sa.text("select content from vector_search('chat_turns', :query, k := :k)"), {"query": "railways", "k": 1}
        )
        assert found.scalars().all() == ["I love trains"]
    for con in connections:
        con.close()


def test_a_search_path_that_was_changed_is_not_passed_on(url: str) -> None:
    engine = sa.create_engine(url, pool_size=1, max_overflow=0)
    for _ in range(2):
        with engine.connect() as con:
            assert con.execute(sa.text("select count(*) from chat_turns")).scalar() == 0
            con.execute(sa.text("use recall_sql"))
    engine.dispose()


def test_threads_share_the_database_in_memory_too() -> None:
    engine = sa.create_engine("recall://")
    with engine.begin() as con:
        con.execute(sa.text("create table seen (number integer)"))

    def work(number: int) -> None:
        with engine.begin() as con:
            con.execute(
                sa.text("insert into seen select :n where embed(:t) is not null"), {"n": number, "t": f"text {number}"}
            )

    in_threads(work, 12)
    with engine.connect() as con:
        assert con.execute(sa.text("select count(distinct number) from seen")).scalar() == 12
    engine.dispose()


def test_transactions_are_isolated_and_rolled_back(engine: sa.Engine) -> None:
    count = sa.text("select count(*) from chat_threads")
    with engine.connect() as writer, engine.connect() as reader:
        writer.execute(sa.text("insert into chat_threads (session_id) values ('s1')"))
        assert writer.execute(count).scalar() == 1
        assert reader.execute(count).scalar() == 0
        writer.rollback()
        assert writer.execute(count).scalar() == 0
    with pytest.raises(ZeroDivisionError), engine.begin() as con:
        con.execute(sa.text("insert into chat_threads (session_id) values ('s1')"))
        raise ZeroDivisionError
    with engine.connect() as con:
        assert con.execute(count).scalar() == 0


def test_errors_have_sqlalchemys_classes_and_leave_the_pool_usable(engine: sa.Engine) -> None:
    with engine.connect() as con, pytest.raises(ProgrammingError, match="nope"):
        con.execute(sa.text("from nope"))
    with pytest.raises(IntegrityError), engine.begin() as con:
        con.execute(sa.text("insert into recall_meta (name, value) values ('schema_version', '2')"))
    with engine.connect() as con, pytest.raises(ProgrammingError, match="unknown model"):
        con.execute(sa.text("select generate('hi', 'nobody:nothing')"))
    with engine.connect() as con:
        assert con.execute(sa.text("select 1")).scalar() == 1


def test_two_results_open_at_once_lose_no_row(engine: sa.Engine) -> None:
    with engine.connect() as con:
        first = con.execute(sa.text("from range(5)"))
        assert first.fetchone() == (0,)
        second = con.execute(sa.text("select 7"))
        assert first.scalars().all() == [1, 2, 3, 4]
        assert second.scalar() == 7
        third = con.execute(sa.text("from range(3)"))
        con.commit()
        assert [third.fetchone(), third.fetchmany(1), third.fetchall()] == [(0,), [(1,)], [(2,)]]


class Base(DeclarativeBase):
    pass


class Note(Base):
    __tablename__ = "notes"
    note_id: Mapped[int] = mapped_column(sa.Integer, sa.Sequence("note_ids"), primary_key=True)
    body: Mapped[str]
    embedding = mapped_column(Vector(384))


def test_orm_inserts_updates_and_sql_functions(engine: sa.Engine) -> None:
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        note = Note(body="it's a trap", embedding=sa.func.embed("it's a trap"))
        session.add_all([note, Note(body="plain", embedding=[0.5] * 384)])
        session.commit()
        assert (note.note_id, len(note.embedding)) == (1, 384)
        note.body = "changed"
        session.flush()
        session.rollback()
        assert session.scalars(sa.select(Note.body).order_by(Note.note_id)).all() == ["it's a trap", "plain"]


def test_inspector(engine: sa.Engine) -> None:
    with engine.begin() as con:
        con.execute(sa.text("create view loud as select upper(content) as content from chat_turns"))
        con.execute(sa.text("create table parent (a integer primary key, b decimal(9, 2) not null, c varchar[])"))
        con.execute(sa.text("create table child (a integer references parent (a), b varchar)"))
        con.execute(sa.text("create unique index child_b on child (b)"))
    inspector = sa.inspect(engine)
    assert {"chat_turns", "chat_facts", "parent"} <= set(inspector.get_table_names())
    assert inspector.get_view_names() == ["loud"] and "upper" in inspector.get_view_definition("loud")
    assert "main" in inspector.get_schema_names() and "recall_sql.main" in inspector.get_schema_names()
    assert "fact_keys" in inspector.get_table_names("recall_sql.main")
    assert inspector.has_table("loud") and not inspector.has_table("nope")
    types = {column["name"]: column["type"] for column in inspector.get_columns("parent")}
    assert isinstance(types["a"], sa.Integer) and (types["b"].precision, types["b"].scale) == (9, 2)
    assert isinstance(types["c"], DuckDBType) and not inspector.get_columns("parent")[1]["nullable"]
    assert inspector.get_foreign_keys("child")[0]["referred_table"] == "parent"
    (index,) = inspector.get_indexes("child")
    assert (index["name"], index["unique"], index["column_names"]) == ("child_b", True, ["b"])
    with pytest.raises(sa.exc.NoSuchTableError):
        inspector.get_columns("nope")


def test_metadata_reflects_the_products_own_tables(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    metadata.reflect(engine)
    facts, turns = metadata.tables["chat_facts"], metadata.tables["chat_turns"]
    assert facts.c.embedding.type.dimension == 384 and facts.comment.startswith("What is believed now")
    assert [column.name for column in facts.primary_key] == [
        "agent_id",
        "user_id",
        "session_id",
        "category",
        "fact_key",
    ]
    assert facts.c.category.comment == "dietary, budget, pet …"
    with engine.begin() as con:
        con.execute(sa.insert(turns), [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}])
        assert con.execute(sa.select(turns.c.content).order_by(turns.c.turn_id)).scalars().all() == ["one", "two"]


def test_pandas_reads_and_writes(engine: sa.Engine) -> None:
    pd = pytest.importorskip("pandas", reason="pandas isn't installed")
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_sql("frame", engine, index=False)
    assert pd.read_sql_table("frame", engine)["b"].tolist() == ["x", "y"]
    read = pd.read_sql(sa.text("select embed(b) as v from frame where a = :a"), engine, params={"a": 2})
    assert len(read["v"][0]) == 384


def test_url_carries_settings_and_is_checked(url: str, tmp_path: Path) -> None:
    engine = sa.create_engine(f"{url}?llm=ollama:qwen3&threads=2")
    with engine.connect() as con:
        assert con.execute(sa.text("select value from recall_settings() where name = 'llm'")).scalar() == "ollama:qwen3"
        assert con.execute(sa.text("select current_setting('threads')")).scalar() == 2
    engine.dispose()
    read_only = sa.create_engine(f"{url}?read_only=true")
    with read_only.connect() as con, pytest.raises(sa.exc.DBAPIError, match="read-only"):
        con.execute(sa.text("create table t (a integer)"))
    read_only.dispose()
    for bad, told in (
        ("?read_only=maybe", "true or false"),
        ("?no_such_option=1", "no_such_option"),
        ("?timeout=soon", "timeout"),
    ):
        with pytest.raises(ConfigError, match=told):
            sa.create_engine(url + bad).connect()
    with pytest.raises(ConfigError, match="no directory"):
        sa.create_engine(f"recall:///{tmp_path / 'none' / 'x.duckdb'}").connect()


def test_dispose_lets_the_file_go_and_the_engine_can_go_on(engine: sa.Engine) -> None:
    with engine.begin() as con:
        con.execute(sa.text("create table mine (a integer)"))
    engine.dispose()
    other = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute('insert into mine values (1)')"
    subprocess.run([sys.executable, "-c", other, engine.url.database], check=True)
    with engine.connect() as con:
        assert con.execute(sa.text("from mine")).scalar() == 1


def test_a_file_that_another_process_has_open(url: str) -> None:
    path = sa.make_url(url).database
    holder = "import duckdb, sys; con = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holder, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "open\n"
        with pytest.raises(ConfigError, match=rf"another process has it open.*PID {process.pid}"):
            sa.create_engine(url).connect()
        process.stdin.close()
