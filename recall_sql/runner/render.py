"""From a recipe and values to statements: SQL with placeholders, the values each one binds, the line it came from.

A pure function of its arguments: no database is opened and nothing is executed, so `compile` and `run` see the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from recall_sql.errors import InputError, RecipeError
from recall_sql.runner import dialect
from recall_sql.runner.params import Param, bind, check_names
from recall_sql.runner.recipe import RESULT, STEP, Recipe, load
from recall_sql.runner.statements import Statement, sourced_text

NO_RUN = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Compiled:
    """All statements of a run, those of the recipes it runs first."""

    recipe: Recipe
    statements: tuple[Statement, ...]


def accepted_params(recipe: Recipe) -> tuple[Param, ...]:
    """The parameters of a recipe and of those it runs; its own declaration of a name comes before theirs."""
    return tuple(_accepted(recipe, ()).values())


def compile_recipe(recipe: Recipe, values: Mapping[str, object] | None = None) -> str:
    """The final SQL with literals in place of the values, to paste into a shell. Calls no model, executes nothing."""
    parts, current = [], None
    for statement in compile_statements(recipe, values).statements:
        if recipe.runs and statement.recipe != current:
            current = statement.recipe
            parts.append(f"-- recipe: {current}")
        comments = statement.comments.strip()
        parts.append((comments + "\n" if comments else "") + statement.with_literals() + ";")
    return "\n\n".join(parts) + "\n"


def compile_statements(
    recipe: Recipe,
    values: Mapping[str, object] | None = None,
    *,
    run_id: UUID = NO_RUN,
    run_started_at: datetime | None = None,
) -> Compiled:
    """Validates the values and renders every step. Raises InputError for a value, RecipeError for the recipe."""
    given = dict(values or {})
    check_names(given, accepted_params(recipe), recipe.name)
    reserved = {"run_id": run_id, "run_started_at": run_started_at or datetime.now(UTC)}
    return Compiled(recipe, tuple(_all_statements(recipe, given, reserved)))


def _accepted(recipe: Recipe, above: tuple[str, ...]) -> dict[str, Param]:
    found = {param.name: param for param in recipe.params}
    for part in _parts(recipe, above):
        for name, param in _accepted(part, (*above, recipe.name)).items():
            found.setdefault(name, param)
    return found


def _parts(recipe: Recipe, above: tuple[str, ...] = ()) -> list[Recipe]:
    """The recipes that `recipe` runs."""
    for name in recipe.runs:
        if name in (*above, recipe.name):
            raise RecipeError(f"it runs itself: {' → '.join((*above, recipe.name, name))}", recipe=recipe.name)
    try:
        return [load(name, recipe.search) for name in recipe.runs]
    except InputError as error:
        raise RecipeError(f"runs: {error}", recipe=recipe.name) from error


def _all_statements(recipe: Recipe, given: dict[str, object], reserved: dict[str, object]) -> Iterator[Statement]:
    own = bind(recipe.params, {p.name: given[p.name] for p in recipe.params if p.name in given}, recipe.name)
    for part in _parts(recipe):
        wanted = [param.name for param in accepted_params(part)]
        passed = {name: own.get(name, given.get(name)) for name in wanted if name in own or name in given}
        yield from _all_statements(part, passed, reserved)
    yield from _statements(recipe, {**own, **reserved})


def _statements(recipe: Recipe, variables: dict[str, object]) -> Iterator[Statement]:
    text = sourced_text(recipe, variables)
    pieces = dialect.split(text.sql)
    text.check_places(pieces)
    steps, titles = _directives(recipe, text.sql, pieces)
    for piece, step, title in zip(pieces, steps, titles, strict=True):
        yield text.statement(piece, step, title)


def _directives(recipe: Recipe, sql: str, pieces: Sequence[dialect.Piece]) -> tuple[list[str], list[str | None]]:
    """The step of every statement, and the title its rows are shown under.

    `-- result:` stands for the last statement with rows before the next `-- result:` or step.
    """
    steps: list[str] = []
    titles: list[str | None] = [None] * len(pieces)
    step, title, last = "", None, None
    for i, piece in enumerate(pieces):
        comments = sql[piece.head : piece.start] if recipe.templated else ""
        named, result = STEP.findall(comments), RESULT.findall(comments)
        if named or result:
            if title is not None and last is not None:
                titles[last] = title
            step, title, last = (named or [step])[-1], (result or [None])[-1], None
        steps.append(step or str(i + 1))
        last = i if piece.returns_rows else last
    if title is not None and last is not None:
        titles[last] = title
    return steps, titles
