"""A question's plan as SQL, built as a syntax tree and never as text."""

from __future__ import annotations

from datetime import date
from typing import Any

from sqlglot import exp

from recall_sql.records.rules import times
from recall_sql.records.rules.questions import Condition, Question
from recall_sql.records.rules.words import fold
from recall_sql.records.schemas import RecordField, Schema

LISTED = 1000  # rows of a list that names no number


def to_sql(question: Question, user_id: str) -> str:
    """DuckDB SQL over the table of the schema, for one user."""
    return build(question, user_id).sql("duckdb")


def build(question: Question, user_id: str) -> exp.Select:
    """The same as a tree."""
    kind = question.kind
    if kind in ("sum", "count", "avg", "min", "max", "distinct"):
        select = _aggregate(question)
    elif kind in ("when", "first"):
        day = happened_on(question.schema)
        select = exp.select((exp.Max(this=day) if kind == "when" else exp.Min(this=day)).as_("day"))
    elif kind == "whether":
        select = exp.select(exp.GT(this=exp.Count(this=exp.Star()), expression=_number(0)).as_("answer"))
    elif kind == "top":
        select = _leader(question)
    elif kind == "field":
        select = _values(question)
    else:
        select = _rows(question)
    return select.from_(_table(question.schema)).where(*_where(question, user_id))


def _aggregate(question: Question) -> exp.Select:
    value = _value(question)
    keys: list[tuple[exp.Expr, str]] = []
    if question.by is not None:
        keys.append((_column(question.by.name), question.by.name))
    if question.per:
        start = _func("DATE_TRUNC", exp.Literal.string(question.per), happened_on(question.schema))
        keys.append((exp.Cast(this=start, to=exp.DataType.build("date")), question.per))
    select = exp.select(*(key.copy().as_(name, quoted=True) for key, name in keys), value)
    if not keys:
        return select
    ordered = (
        [exp.Ordered(this=key.copy(), desc=False) for key, _ in keys]
        if question.per
        else [exp.Ordered(this=_column(value.alias), desc=True)]
    )
    return select.group_by(*(key.copy() for key, _ in keys)).order_by(*ordered)


def _value(question: Question) -> exp.Alias:
    measure, kind = question.measure, question.kind
    if kind == "count" or measure is None:
        return exp.Count(this=exp.Star()).as_("records")
    column: exp.Expr = _column(measure.name)
    if kind == "distinct":
        text = _plain_text(column) if measure.kind == "text" else column
        return exp.Count(this=exp.Distinct(expressions=[text])).as_("values")
    made: exp.Expr = {"sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}[kind](this=column)
    if kind == "sum":
        made = exp.Coalesce(this=made, expressions=[_number(0)])
    if question.factor != 1.0:
        made = exp.Mul(this=made, expression=_number(round(question.factor, 9)))
    return exp.alias_(made, {"sum": "total", "avg": "average", "min": "smallest", "max": "largest"}[kind])


def _leader(question: Question) -> exp.Select:
    """Who or what comes first when the records are added up by it."""
    assert question.by is not None
    key = _column(question.by.name)
    rank: exp.Expr = exp.Sum(this=_column(question.measure.name)) if question.measure else exp.Count(this=exp.Star())
    order = exp.Ordered(this=rank, desc=question.descending, nulls_first=False)
    return exp.select(key).group_by(key.copy()).order_by(order).limit(question.limit or 1)


def _values(question: Question) -> exp.Select:
    assert question.measure is not None
    column = _column(question.measure.name)
    latest = exp.Ordered(this=exp.Max(this=happened_on(question.schema)), desc=True)
    return exp.select(column).group_by(column.copy()).order_by(latest).limit(question.limit or LISTED)


def _rows(question: Question) -> exp.Select:
    schema, kind = question.schema, question.kind
    shown = question.shown or schema.fields
    select = exp.select(*(_column(spec.name) for spec in shown))
    if kind.startswith("latest_by_") and question.measure is not None:
        order = exp.Ordered(this=_column(question.measure.name), desc=kind.endswith("max"), nulls_first=False)
        return select.order_by(order).limit(question.limit or 1)
    down = kind != "oldest"
    ordered = [exp.Ordered(this=happened_on(schema), desc=down), exp.Ordered(this=_column("created_at"), desc=down)]
    rows = question.limit or (1 if kind in ("latest", "oldest") else LISTED)
    return select.order_by(*ordered).limit(rows)


# --- conditions -------------------------------------------------------------------------------------------------------


def _where(question: Question, user_id: str) -> list[exp.Expr]:
    schema = question.schema
    conditions: list[exp.Expr] = [exp.EQ(this=_column("user_id"), expression=exp.Literal.string(user_id))]
    conditions += [_condition(schema, one) for one in question.conditions]
    measure = question.measure
    if measure is not None and question.kind in ("field", "latest_by_max", "latest_by_min"):
        conditions.append(exp.Not(this=exp.Is(this=_column(measure.name), expression=exp.Null())))
    if question.period is not None:
        conditions += _within(happened_on(schema), question.period)
    return conditions


def _within(day: exp.Expr, period: times.When) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    if period.start > times.FAR_PAST:
        found.append(exp.GTE(this=day.copy(), expression=_date(period.start)))
    if period.end < times.FAR_FUTURE:
        found.append(exp.LT(this=day.copy(), expression=_date(period.end)))
    return found


def _condition(schema: Schema, one: Condition) -> exp.Expr:
    column = _column(one.field)
    spec = schema.get(one.field)
    if one.op in ("same", "has") and spec.kind == "text":
        text, value = _plain_text(column), exp.Literal.string(fold(str(one.value)).strip())
        return exp.EQ(this=text, expression=value) if one.op == "same" else _func("CONTAINS", text, value)
    if isinstance(one.value, bool):
        return exp.EQ(this=column, expression=exp.Boolean(this=one.value))
    signs = {">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE}
    value = _number(one.value) if isinstance(one.value, int | float) else exp.Literal.string(str(one.value))
    return signs.get(one.op, exp.EQ)(this=column, expression=value)


def happened_on(schema: Schema) -> exp.Expr:
    """The day of a record: its first date, or the day it was written where that is empty."""
    written = exp.Cast(this=_column("created_at"), to=exp.DataType.build("date"))
    spec = next((spec for spec in schema.fields if spec.kind in ("date", "timestamp")), None)
    if spec is None:
        return written
    return exp.Coalesce(this=_day(spec), expressions=[written])


def _day(spec: RecordField) -> exp.Expr:
    column = _column(spec.name)
    return column if spec.kind == "date" else exp.Cast(this=column, to=exp.DataType.build("date"))


def _plain_text(column: exp.Expr) -> exp.Expr:
    return exp.Lower(this=_func("STRIP_ACCENTS", column.copy()))


def _func(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name.lower(), expressions=list(arguments))


def _table(schema: Schema) -> exp.Table:
    return exp.Table(this=exp.to_identifier(schema.name, quoted=True))


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _number(value: Any) -> exp.Literal:
    return exp.Literal.number(value)


def _date(day: date) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(day.isoformat()), to=exp.DataType.build("date"))
