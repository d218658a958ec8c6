"""Messages from any file into chat_threads and chat_turns: gathered, cleaned, checked, then landed by a recipe.

The rows of the file are gathered in the temp table imported_rows and cleaned into imported_turns; the recipe
`conversation_memory/import` writes those that are new, in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import duckdb
import pyarrow as pa

from recall_sql.errors import InputError
from recall_sql.importers.fields import FIELDS, ROLES, Row, Skipped
from recall_sql.runner import execute, load

RECIPE = "conversation_memory/import"
_BATCH = 2048  # rows
_BATCH_VIEW = "_recall_imported_batch"

Progress = Callable[[int], None]  # on_progress(messages read so far)

_GATHER = f"""
create or replace temp table imported_rows (
    ordinal bigint, place bigint, {", ".join(f"{field} varchar" for field in FIELDS)}
)
"""

# One name for every speaker, no NUL characters, ids from the option, the file or the default, times with a zone.
_TIMED = r"""
named as (
    select
        ordinal,
        place,
        coalesce($agent_id, replace(agent_id, chr(0), ''), 'default') as agent_id,
        coalesce($user_id, replace(user_id, chr(0), ''), 'default') as user_id,
        coalesce($session_id, replace(session_id, chr(0), ''), $default_session) as session_id,
        found.role as said_role,
        names.entry.role as role,
        replace(content, chr(0), '') as content,
        trim(created_at) as said_at,
        nullif(replace(id, chr(0), ''), '') as id,
        replace(title, chr(0), '') as title
    from {rows} as found
    left join (select unnest($role_names) as entry) as names
        on names.entry.word = lower(trim(replace(found.role, chr(0), '')))
),
timed as (
    select
        *,
        case
            -- seconds, milliseconds, microseconds or nanoseconds since 1970
            when regexp_full_match(said_at, '\d{9,19}(\.\d+)?')
                then to_timestamp(try_cast(said_at as double) / case
                    when length(split_part(said_at, '.', 1)) <= 11 then 1
                    when length(split_part(said_at, '.', 1)) <= 14 then 1e3
                    when length(split_part(said_at, '.', 1)) <= 17 then 1e6
                    else 1e9
                end)
            -- with an offset, as DuckDB reads it: 2026-05-01 10:00:00+00
            when regexp_matches(said_at, ':\d\d(\.\d+)?\s*(Z|z|UTC|[+-](0\d|1[0-5])(:?\d\d)?)$')
                then try_cast(
                    said_at
                        .regexp_replace('\s*(Z|z|UTC)$', '+00')
                        .regexp_replace('^(\S+)[Tt]', '\1 ')
                        .regexp_replace(' (\d\d:\d\d)\s*([+-])', ' \1:00\2')
                    as timestamptz
                )
            when regexp_matches(said_at, ':.*[+-]') then null
            else timezone($timezone, try_cast(said_at as timestamp))
        end as told_at
    from named
)
"""

EMPTY = r"regexp_full_match(coalesce(content, ''), '[\s\p{Z}]*')"
_PROBLEM = f"""
case
    when role is null then 'role'
    when not $skip_empty and {EMPTY} then 'empty'
    when said_at is not null and said_at != '' and told_at is null then 'time'
end
"""

_CLEAN = f"""
create or replace temp table imported_turns as
with {_TIMED.replace("{rows}", "temp.imported_rows")},
-- a message without a time was said just after the one before it, and a conversation without times ends now
stamped as (
    select
        *,
        coalesce(
            told_at,
            last_value(told_at ignore nulls) over before
                + to_microseconds(ordinal - last_value(if(told_at is null, null, ordinal) ignore nulls) over before),
            now() - to_microseconds(max(ordinal) over () - ordinal)
        ) as created_at
    from timed
    window before as (partition by agent_id, user_id, session_id order by ordinal)
)
select
    agent_id,
    user_id,
    session_id,
    role,
    content,
    created_at,
    coalesce(id, sha256(concat_ws(
        chr(31), role, content, epoch_us(told_at),
        row_number() over (partition by agent_id, user_id, session_id, role, content, told_at order by ordinal)
    ))) as source_key,
    title,
    row_number() over (order by if($in_order, null, created_at), ordinal) as ordinal,
    place,
    said_role,
    said_at,
    told_at
from stamped
"""

_BAD_ROW = f"""
select place, said_role, said_at, {_PROBLEM} as problem
from temp.imported_turns
where problem is not null
order by place, ordinal
limit 1
"""

_DROP_EMPTY = f"delete from temp.imported_turns where {EMPTY}"

_AMBIGUOUS_ID = """
select source_key, min(place), max(place)
from temp.imported_turns
group by agent_id, user_id, session_id, source_key
having count(distinct (role, content)) > 1
order by 2
limit 1
"""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did. turns: added. already: there before. threads: in the file. skipped: left out, and why."""

    turns: int
    threads: int
    skipped: int
    already: int
    reasons: Mapping[str, int]

    def __str__(self) -> str:
        parts = [f"{_counted(self.turns, 'turn')} added to {_counted(self.threads, 'thread')}"]
        if self.already:
            parts.append(f"{self.already:,} already there")
        if self.skipped:
            why = ", ".join(f"{reason}: {count:,}" for reason, count in self.reasons.items())
            parts.append(f"{self.skipped:,} left out ({why})")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose conversation it is: given ids beat the file's; `default_session` is for messages of no session."""

    agent_id: str | None
    user_id: str | None
    session_id: str | None
    default_session: str


@dataclass(frozen=True, slots=True)
class Landing:
    """One import under way. in_order: the file's order is the conversation's, whatever the times say."""

    con: duckdb.DuckDBPyConnection
    file: str
    scope: Scope
    role_names: Mapping[str, str]
    timezone: str
    skip_empty: bool
    in_order: bool

    def fill(self, rows: Iterable[Row], on_progress: Progress | None = None) -> None:
        """Gathers rows, a batch at a time."""
        self.con.execute(_GATHER)
        ordinal = 0
        for batch in _batches(rows):
            self._gather(batch, ordinal)
            ordinal += len(batch)
            if on_progress:
                on_progress(ordinal)

    def fill_from_query(self, sql: str, values: Sequence[object]) -> None:
        """Gathers the rows of a query whose columns are place, then FIELDS."""
        self.con.execute(_GATHER)
        self.con.execute(f"insert into temp.imported_rows select row_number() over (), * from ({sql})", values)

    def fill_numbered(self, sql: str, values: Sequence[object]) -> None:
        """Gathers the rows of a query whose columns are ordinal, place, then FIELDS."""
        self.con.execute(_GATHER)
        self.con.execute(f"insert into temp.imported_rows {sql}", values)

    def _gather(self, batch: Sequence[Row], ordinal: int) -> None:
        columns: dict[str, object] = {"ordinal": range(ordinal + 1, ordinal + 1 + len(batch))}
        for name in ("place", *FIELDS):
            values = [getattr(row, name) for row in batch]
            columns[name] = values if name == "place" else pa.array(map(_storable, values), pa.string())
        self.con.register(_BATCH_VIEW, pa.table(columns))
        self.con.execute(f"insert into temp.imported_rows by name from {_BATCH_VIEW}")
        self.con.unregister(_BATCH_VIEW)

    def land(self, skipped: Skipped) -> ImportResult:
        """Cleans, checks and writes what was gathered. InputError names the first message that can't be."""
        self._clean()
        self._check(skipped)
        if self.skip_empty:
            skipped["empty messages"] += self.con.execute(_DROP_EMPTY).fetchall()[0][0]
        counts = execute(self.con, load(RECIPE)).tables[0].table.to_pylist()[0]
        reasons = {reason: count for reason, count in skipped.items() if count}
        added, threads, already = counts["added"], counts["threads"], counts["already_there"]
        return ImportResult(added, threads, sum(reasons.values()), already, reasons)

    def clear(self) -> None:
        """Drops the temp tables."""
        for name in ("imported_rows", "imported_turns"):
            self.con.execute(f"drop table if exists temp.{name}")

    def _clean(self) -> None:
        check_timezone(self.con, self.timezone)
        values = cleaning_values(self.scope, self.role_names, self.timezone)
        self.con.execute(_CLEAN, {**values, "in_order": self.in_order})

    def _check(self, skipped: Skipped) -> None:
        bad = self.con.execute(_BAD_ROW, {"skip_empty": self.skip_empty}).fetchone()
        if bad is not None:
            place, role, said_at, problem = bad
            raise InputError(
                f"{self.file}, {self._place(place)}: {complaint(problem, role, said_at)}. Nothing was imported"
            )
        twice = self.con.execute(_AMBIGUOUS_ID).fetchone()
        if twice is not None:
            raise InputError(
                f"{self.file}: two different messages of one session have the id {twice[0]!r} "
                f"({self._place(twice[1])} and {self._place(twice[2])}); "
                "--map id= leaves the column out. Nothing was imported"
            )
        if not skipped and self.con.execute("select 1 from temp.imported_turns limit 1").fetchone() is None:
            raise InputError(f"{self.file} holds no messages")

    def _place(self, number: int) -> str:
        if self.in_order:
            return f"message {number}"
        return f"{'row' if self.file.lower().endswith(('.parquet', '.pq')) else 'line'} {number}"


def problems_query(rows: str) -> str:
    """SQL that gives ordinal, said_role, said_at and problem ('role', 'empty', 'time') of the rows that can't land.

    rows: a table with ordinal, place and FIELDS. Its values are those of `cleaning_values`, and skip_empty.
    """
    return (
        f"with {_TIMED.replace('{rows}', rows)}"
        f" select ordinal, said_role, said_at, {_PROBLEM} as problem from timed where problem is not null"
    )


def cleaning_values(scope: Scope, role_names: Mapping[str, str], timezone: str) -> dict[str, object]:
    """The values of the SQL that cleans messages."""
    return {
        "agent_id": scope.agent_id,
        "user_id": scope.user_id,
        "session_id": scope.session_id,
        "default_session": scope.default_session,
        "role_names": [{"word": word, "role": role} for word, role in role_names.items()],
        "timezone": timezone,
    }


def check_timezone(con: duckdb.DuckDBPyConnection, timezone: str) -> None:
    """InputError if DuckDB doesn't know the timezone."""
    if con.execute("select 1 from pg_timezone_names() where name = ?", [timezone]).fetchone() is None:
        raise InputError(f"unknown timezone {timezone!r}; it is a name such as UTC or Europe/Madrid")


def complaint(problem: str, role: str | None, said_at: str) -> str:
    if problem == "role":
        shown = "no role" if role is None else f"unknown role {role[:60]!r}"
        word = role[:60] if role and role.strip() else "WORD"
        return f"{shown}; roles: {', '.join(ROLES)}. Say what it means: --role-map '{word}=user'"
    if problem == "empty":
        return "empty message; --skip-empty leaves such messages out"
    return f"unreadable time {said_at[:60]!r}; write 2026-05-01T09:30:00+02:00, or seconds since 1970"


def _storable(text: str | None) -> str | None:
    """JSON can spell half of a surrogate pair, which no UTF-8 text can hold: it becomes U+FFFD."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" + ("s" if count != 1 else "")


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    source = iter(rows)
    while batch := list(islice(source, _BATCH)):
        yield batch
