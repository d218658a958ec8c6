"""What a call costs: prices.csv beside this file, and before it the file that the setting `prices` names."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from recall_sql.errors import ConfigError

OURS = Path(__file__).with_name("prices.csv")
COLUMNS = ("model", "input", "cached", "output")


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens: of the prompt, of its part that the provider had cached, of the answer."""

    input: float
    cached: float
    output: float

    def cost(self, tokens_in: int | None, tokens_cached: int | None, tokens_out: int | None) -> float | None:
        """US dollars; None where the provider didn't count the tokens, unless they are free."""
        if not (self.input or self.output):
            return 0.0
        if tokens_in is None:
            return None
        cached = min(tokens_cached or 0, tokens_in)
        return ((tokens_in - cached) * self.input + cached * self.cached + (tokens_out or 0) * self.output) / 1e6


def price_of(model: str, file: str | None = None) -> Price | None:
    """The price of a model 'provider:name'; None if nobody knows. file: the person's own, which comes first."""
    if file is not None:
        path = Path(file).expanduser()
        try:
            stamp = path.stat().st_mtime_ns
        except OSError as error:
            raise ConfigError(
                f"the price file {file} can't be read: {error.strerror}; see the setting prices"
            ) from None
        found = _longest(_theirs(path, stamp), model)
        if found is not None:
            return found
    return _longest(_ours(), model)


def _longest(prices: dict[str, Price], model: str) -> Price | None:
    matching = [name for name in prices if model == name or (name.endswith("*") and model.startswith(name[:-1]))]
    return prices[max(matching, key=len)] if matching else None


@cache
def _ours() -> dict[str, Price]:
    return _read(OURS)


@lru_cache(maxsize=8)
def _theirs(path: Path, _stamp: int) -> dict[str, Price]:
    return _read(path)


def _read(path: Path) -> dict[str, Price]:
    lines = [line for line in path.read_text("utf-8-sig").splitlines() if line.strip() and not line.startswith("#")]
    rows = csv.DictReader(lines, skipinitialspace=True)
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise ConfigError(f"the price file {path} must have the columns {', '.join(COLUMNS)}")
    prices = {}
    for row in rows:
        try:
            prices[row["model"]] = Price(float(row["input"]), float(row["cached"]), float(row["output"]))
        except (TypeError, ValueError):
            raise ConfigError(f"the price file {path}: the line of {row['model']} must hold three numbers") from None
    return prices
