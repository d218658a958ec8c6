"""LangGraph: its long-term memory as a `BaseStore`, in the table store_items.

    graph = builder.compile(store=RecallStore(memory))

An item is kept as it is given: it is no belief, and no rule of trust applies to it. It belongs to the person and leaves
with them. For beliefs, call `memory.context(…)` and `memory.extract()` in a node.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from recall_sql.errors import InputError
from recall_sql.instance import quoted
from recall_sql.memory import Memory
from recall_sql.records.tables import transaction
from recall_sql.runner.conflicts import retrying
from recall_sql.session import instance_of

_SCOPE = "agent_id = $agent_id and user_id = $user_id"
_PUT = """
insert into {items} (agent_id, user_id, namespace, item_key, item, words)
values ($agent_id, $user_id, $namespace, $key, $item, $words)
on conflict (agent_id, user_id, namespace, item_key)
do update set item = excluded.item, words = excluded.words, updated_at = now()
"""
_DELETE = f"delete from {{items}} where {_SCOPE} and namespace = $namespace and item_key = $key"
_COLUMNS = "namespace, item_key, item, created_at, updated_at"
_GET = f"select {_COLUMNS} from {{items}} where {_SCOPE} and namespace = $namespace and item_key = $key"
_LIST = f"select distinct namespace from {{items}} where {_SCOPE}"
_UNDER = f"from {{items}} where {_SCOPE} and ($namespace = '' or starts_with(namespace || '.', $namespace || '.'))"
_NEWEST = f"select {_COLUMNS}, null {_UNDER} order by updated_at desc, namespace, item_key"
# vectors are remembered in recall_memo, as every vector of a text is
_NEAREST = f"""
select {_COLUMNS}, array_cosine_similarity(embed(words), embed($query)) as score {_UNDER}
order by score desc nulls last, updated_at desc, namespace, item_key
"""


class RecallStore(BaseStore):
    """LangGraph's store of one person. Search compares the words of an item with the query by EMBED.

    Put with `index=["field"]` compares these fields alone, with `index=False` the item isn't found by meaning. No time
    to live.
    """

    __slots__ = ("_memory",)

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does several things; what is read doesn't see what is put, and puts are one transaction."""
        given = list(ops)
        for op in given:
            validate_op_namespace(op)
        puts = {(op.namespace, op.key): op for op in given if isinstance(op, PutOp)}
        rows = [self._row(op) for op in puts.values()]  # before anything is written
        results = [self._read(op) for op in given]
        if rows:
            retrying(self._memory.con, lambda: self._write(rows))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = list(self._fetched(_GET, namespace=".".join(op.namespace), key=op.key))
            return _item(found[0]) if found else None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        if isinstance(op, PutOp):
            return None
        raise ValueError(f"an operation that isn't known: {type(op).__name__}")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = ".".join(op.namespace_prefix)
        asked = {"query": op.query} if op.query else {}
        found = self._fetched(_NEAREST if op.query else _NEWEST, namespace=prefix, **asked)
        items = [SearchItem(**_fields(row), score=row[5]) for row in found]
        chosen = [item for item in items if not op.filter or _matches(item.value, op.filter)]
        return chosen[op.offset : op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {tuple(namespace.split(".")) for (namespace,) in self._fetched(_LIST)}
        fit = {path for path in every if all(_fits(path, condition) for condition in op.match_conditions or ())}
        cut = sorted({path[: op.max_depth] for path in fit} if op.max_depth is not None else fit)
        return cut[op.offset : op.offset + op.limit]

    def _row(self, op: PutOp) -> dict[str, Any]:
        named = {"namespace": ".".join(op.namespace), "key": op.key}
        if op.value is None:
            return named
        try:
            item = json.dumps(dict(op.value), ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"the item {op.key!r} isn't JSON: {error}") from error
        return {**named, "item": item, "words": _words(op)}

    def _write(self, rows: list[dict[str, Any]]) -> None:
        with transaction(self._memory.con):
            for row in rows:
                list(self._fetched(_PUT if "item" in row else _DELETE, **row))

    def _fetched(self, sql: str, **values: Any) -> Iterator[tuple[Any, ...]]:
        con = self._memory.con
        items = f"{quoted(instance_of(con).database)}.main.store_items"
        scope = {"agent_id": self._memory.agent_id, "user_id": self._memory.user_id}
        return iter(con.execute(sql.format(items=items), {**scope, **values}).fetchall())


def _fields(row: tuple[Any, ...]) -> dict[str, Any]:
    namespace, key, item, created_at, updated_at = row[:5]
    times: dict[str, datetime] = {"created_at": created_at, "updated_at": updated_at}
    return {"namespace": tuple(namespace.split(".")), "key": key, "value": json.loads(item), **times}


def _item(row: tuple[Any, ...]) -> Item:
    return Item(**_fields(row))


def _words(op: PutOp) -> str | None:
    """What a search compares: the texts of the named fields, or all texts of the item; None for nothing."""
    if op.index is False or op.value is None:
        return None
    if op.index is None:
        found = list(_texts(op.value))
    else:
        found = [text for path in op.index for text in get_text_at_path(op.value, tokenize_path(path))]
    return "\n".join(found) or None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _fits(path: tuple[str, ...], condition: MatchCondition) -> bool:
    wanted = condition.path
    if len(path) < len(wanted):
        return False
    part = path[: len(wanted)] if condition.match_type == "prefix" else path[len(path) - len(wanted) :]
    return all(label in ("*", own) for label, own in zip(wanted, part, strict=True))


def _matches(value: Any, wanted: Any) -> bool:
    """A filter as LangGraph describes it: equal values, $eq, $ne, $gt, $gte, $lt, $lte, and objects within objects."""
    if not isinstance(wanted, Mapping):
        return value == wanted
    if any(name.startswith("$") for name in wanted):
        return all(_compare(value, operator, other) for operator, other in wanted.items())
    return isinstance(value, Mapping) and all(_matches(value.get(name), part) for name, part in wanted.items())


def _compare(value: Any, operator: str, other: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return (value == other) == (operator == "$eq")
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"there is no operator {operator}; operators: $eq, $ne, $gt, $gte, $lt, $lte")
    try:
        number, bound = float(value), float(other)
    except (TypeError, ValueError):
        return False
    return {"$gt": number > bound, "$gte": number >= bound, "$lt": number < bound, "$lte": number <= bound}[operator]
