"""A rendered text whose every place is known: which line of which file it came from, where values and names stand.

Cuts the text into statements and refuses a value that stands where SQL would not read it as a value.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import PurePath

from recall_sql.errors import RecallError, RecipeError
from recall_sql.runner import dialect
from recall_sql.runner.literals import literal
from recall_sql.runner.recipe import Recipe

Sources = tuple[tuple[int, int, str], ...]  # (offset, line, included file or ''), in order of the offsets


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement with `$name` placeholders for `values`. `result` is the title its rows are shown under."""

    sql: str
    values: dict[str, object]
    step: str
    line: int
    recipe: str
    comments: str
    verb: str
    returns_rows: bool
    result: str | None
    placed: tuple[tuple[int, str], ...]
    sources: tuple[tuple[int, int, str], ...]

    def line_at(self, line_of_sql: int = 1) -> tuple[int, str]:
        """(line, included file or '') in the file, for a line of `sql` counted from 1."""
        lines = self.sql.split("\n")
        offset = sum(len(line) + 1 for line in lines[: line_of_sql - 1])
        text = lines[min(line_of_sql, len(lines)) - 1]
        return place_of(self.sources, offset + len(text) - len(text.lstrip()))

    def with_literals(self) -> str:
        """The SQL with the values written in."""
        edits = [dialect.Edit(at, at + 1 + len(name), literal(self.values[name])) for at, name in self.placed]
        return dialect.apply(self.sql, edits)


def place_of(sources: Sources, offset: int) -> tuple[int, str]:
    """(line, included file or '') of an offset."""
    at = bisect_right(sources, offset, key=itemgetter(0)) - 1
    return sources[max(at, 0)][1:]


@dataclass(frozen=True, slots=True)
class SourcedText:
    """SQL with placeholders.

    `placed` holds (offset, placeholder), `named` the offsets of what `ident` and `count` wrote.
    """

    recipe: Recipe
    sql: str
    values: dict[str, object]
    placed: tuple[tuple[int, str], ...]
    named: tuple[int, ...]
    sources: Sources

    def check_places(self, pieces: Sequence[dialect.Piece]) -> None:
        """Refuses a value or name inside quotes, in a comment or glued to a word."""
        values = {place for piece in pieces for place in dialect.placeholders(piece)}
        names = {
            token.start
            for piece in pieces
            for token in piece.tokens
            if token.word.startswith('"') or token.word.isdigit()
        }
        for offset, name in self.placed:
            if (offset, name) not in values:
                shown = f"the value of {{{{ {name} }}}}"
                raise self._misplaced(offset, f"{shown} stands inside quotes or a comment; remove the quotes")
        for offset in self.named:
            if offset not in names:
                raise self._misplaced(offset, "a name stands inside quotes or a comment; remove the quotes")

    def _misplaced(self, offset: int, message: str) -> RecipeError:
        return _in_recipe(self.recipe, message, place_of(self.sources, offset))

    def statement(self, piece: dialect.Piece, step: str, result: str | None) -> Statement:
        """The statement of a piece of this text; its offsets count from its own beginning."""
        placed = tuple((at - piece.start, name) for at, name in _between(self.placed, piece.start, piece.end))
        inside = [(at - piece.start, *where) for at, *where in _between(self.sources, piece.start + 1, piece.end)]
        first = place_of(self.sources, piece.start)
        return Statement(
            sql=self.sql[piece.start : piece.end].rstrip(),
            values={name: self.values[name] for _, name in placed},
            step=step,
            line=first[0],
            recipe=self.recipe.name,
            comments=self.sql[piece.head : piece.start],
            verb=piece.verb,
            returns_rows=piece.returns_rows,
            result=result,
            placed=placed,
            sources=((0, *first), *inside),
        )


def _between(places: Sequence[tuple], start: int, end: int) -> Sequence[tuple]:
    """The places with `start <= offset < end`; they are in order, and a script may have thousands."""
    low = bisect_left(places, start, key=itemgetter(0))
    return places[low : bisect_left(places, end, key=itemgetter(0))]


def sourced_text(recipe: Recipe, variables: Mapping[str, object]) -> SourcedText:
    """The recipe rendered with the variables, `VECTOR(n)` translated."""
    if not recipe.templated:
        starts = [0, *(i + 1 for i, sign in enumerate(recipe.body) if sign == "\n")]
        lines = tuple((start, number, "") for number, start in enumerate(starts, start=1))
        return _translated(SourcedText(recipe, recipe.body, {}, (), (), lines))
    text, values = _rendered(recipe, variables)
    return _translated(_without_marks(recipe, text, values))


def _without_marks(recipe: Recipe, text: str, values: dict[str, object]) -> SourcedText:
    from recall_sql.runner.template import MARK

    parts, done, length = [], 0, 0
    placed, named, sources = [], [], []
    for mark in MARK.finditer(text):
        parts.append(text[done : mark.start()])
        length += mark.start() - done
        done = mark.end()
        kind, content = mark.groups()
        if kind == "V":
            placed.append((length, content))
        elif kind == "I":
            named.append(length)
        else:
            line, _, file = content.partition(":")
            sources.append((length, int(line), file))
    sql = "".join([*parts, text[done:]])
    return SourcedText(recipe, sql, values, tuple(placed), tuple(named), tuple(sources or [(0, 1, "")]))


def _translated(text: SourcedText) -> SourcedText:
    edits = dialect.vector_edits(text.sql)
    if not edits:
        return text
    return SourcedText(
        text.recipe,
        dialect.apply(text.sql, edits),
        text.values,
        tuple((dialect.moved(at, edits), name) for at, name in text.placed),
        tuple(dialect.moved(at, edits) for at in text.named),
        tuple((dialect.moved(at, edits), line, file) for at, line, file in text.sources),
    )


def _rendered(recipe: Recipe, variables: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    import jinja2  # loaded by the first recipe, so that commands without one start faster

    from recall_sql.runner.template import render

    try:
        return render(recipe.body, recipe.search, variables)
    except jinja2.TemplateSyntaxError as error:
        raise _in_recipe(recipe, str(error.message), (error.lineno, error.filename or "")) from error
    except jinja2.TemplateNotFound as error:
        raise _in_recipe(recipe, f"there is no file {error} to include", _place_in_traceback(error)) from error
    except (jinja2.TemplateError, RecallError, ArithmeticError, TypeError, ValueError, LookupError) as error:
        # Jinja raises what the expressions raise: a division by zero, an addition of text and number
        raise _in_recipe(recipe, str(error), _place_in_traceback(error)) from error


def _in_recipe(recipe: Recipe, message: str, place: tuple[int, str]) -> RecipeError:
    return at_place(message, recipe.name, "" if place[1] else recipe.step_at(place[0]), *place)


def at_place(message: str, recipe: str, step: str, line: int, file: str) -> RecipeError:
    """A RecipeError at a line of the recipe, or of the file it includes (its own line is not known then)."""
    if file:
        return RecipeError(f"{message} (line {line} of {PurePath(file).name})", recipe=recipe, step=step)
    return RecipeError(message, recipe=recipe, step=step, line=line or None)


def _place_in_traceback(error: BaseException) -> tuple[int, str]:
    """(line, included file or '') of the innermost line of a template; Jinja writes them into the traceback."""
    place, frame = (0, ""), error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        if code.co_filename == "<template>":
            place = (frame.tb_lineno, "")
        elif code.co_filename.endswith(".sql"):
            place = (frame.tb_lineno, code.co_filename)
        frame = frame.tb_next
    return place
