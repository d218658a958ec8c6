"""What a run would cost: distinct inputs that aren't remembered, their tokens, and the most it can cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from recall_sql.calls.flight import UNBOUNDED, Question
from recall_sql.calls.packing import tokens_of
from recall_sql.calls.pricing import price_of
from recall_sql.errors import InputError

if TYPE_CHECKING:
    import duckdb

    from recall_sql.runner import Recipe


# What a rollback doesn't take back, and what ends the transaction that is to be taken back.
_LASTING = frozenset({"attach", "checkpoint", "copy", "detach", "export", "force", "import", "install", "vacuum"})
_ENDING = frozenset({"abort", "begin", "commit", "end", "rollback", "start"})


@dataclass(frozen=True)
class Line:
    """One function and model. tokens are guessed from the length of texts; usd is None where no price is known."""

    function: str
    model: str
    inputs: int
    tokens_in: int
    tokens_out_at_most: int
    usd_at_most: float | None


class Estimate:
    """Gathers what is asked while nothing is called."""

    def __init__(self, prices: str | None) -> None:
        self._prices = prices
        self._asked: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}

    def add(self, function: str, model: str, sizes: Mapping[str, tuple[int, int]]) -> None:
        """sizes: by memo key, tokens of the input and most tokens of the answer."""
        self._asked.setdefault((function, model), {}).update(sizes)

    def ask(self, function: str, model: str, questions: Mapping[str, Question]) -> None:
        """The same for questions to a generator."""
        sizes = {}
        for key, question in questions.items():
            request = question.made()
            prompt = tokens_of(request.prompt) + tokens_of(request.system or "")
            sizes[key] = (prompt, request.max_tokens or UNBOUNDED)
        self.add(function, model, sizes)

    def lines(self) -> list[Line]:
        """What was gathered."""
        found = []
        for (function, model), sizes in self._asked.items():
            tokens_in, tokens_out = (sum(size[part] for size in sizes.values()) for part in (0, 1))
            price = price_of(model, self._prices)
            usd = price.cost(tokens_in, 0, tokens_out) if price else None
            found.append(Line(function, model, len(sizes), tokens_in, tokens_out, usd))
        return found


def estimate_run(con: duckdb.DuckDBPyConnection, recipe: Recipe, values: Mapping[str, object]) -> list[Line]:
    """What running a recipe would ask of models. It is run without them, and what it wrote is taken back.

    Where a model would answer, EXTRACT_FACTS and DETECT_INTENT give NULL, GENERATE an empty text and EMBED some vector;
    so what would be asked about answers isn't counted. Raises InputError for a script that can't be taken back.
    """
    from datetime import UTC, datetime

    from recall_sql.runner import compile_statements, execute
    from recall_sql.session import instance_of

    compiled = compile_statements(recipe, dict(values), run_id=UUID(int=0), run_started_at=datetime.now(UTC))
    for statement in compiled.statements:
        if statement.verb in _LASTING | _ENDING:
            raise InputError(f"{recipe.name} can't be estimated: {statement.verb.upper()} can't be taken back")
    con.execute("begin transaction").fetchall()
    try:
        with instance_of(con).calls.estimating() as gathered:
            execute(con, recipe, values, record=False)
    finally:
        con.execute("rollback").fetchall()
    return gathered.lines()
