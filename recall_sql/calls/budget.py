"""Stops before more is spent than a person allowed: '2 USD', '100000 tokens' or '50 calls'. Lives on the event loop.

A request is let through if the most it can cost is still there. So the budget is never exceeded by more than a wrong
guess at the length of a prompt.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from recall_sql.errors import BudgetError, ConfigError
from recall_sql.settings import parse_budget


@dataclass(frozen=True)
class Cost:
    """What a request costs. usd: None where the price isn't known."""

    calls: int
    tokens: int
    usd: float | None

    def in_unit(self, unit: str) -> float | None:
        return {"USD": self.usd, "tokens": self.tokens, "calls": self.calls}[unit]


class Purse:
    """What is left of the budget in force. It is counted from when the budget was set."""

    def __init__(self) -> None:
        self._set: tuple[str | None, int] = (None, -1)
        self._limit, self._unit = 0.0, ""
        self._spent = self._reserved = 0.0
        self._freed: asyncio.Event | None = None

    async def reserve(self, budget: str | None, times_set: int, most: Cost, model: str) -> float:
        """Puts the most a request can cost aside. BudgetError if it isn't there and won't be."""
        self._take(budget, times_set)
        if budget is None:
            return 0.0
        amount = most.in_unit(self._unit)
        if amount is None:
            raise ConfigError(
                f"the budget is in USD, but nobody knows the price of {model}: name a price file (recall_set('prices', "
                "'prices.csv')), or set the budget in tokens or calls"
            )
        while self._spent + self._reserved + amount > self._limit * (1 + 1e-9):
            if self._reserved <= 1e-12:
                raise BudgetError(budget, _shown(self._spent, self._unit))
            self._freed = self._freed or asyncio.Event()
            await self._freed.wait()  # what is in flight may cost less than was put aside
        self._reserved += amount
        return amount

    def settle(self, times_set: int, reserved: float, real: Cost) -> None:
        """Books what the request did cost."""
        if times_set != self._set[1] or not self._unit:
            return
        self._reserved -= reserved
        self._spent += real.in_unit(self._unit) or 0.0
        if self._freed is not None:
            self._freed.set()
            self._freed = None

    def _take(self, budget: str | None, times_set: int) -> None:
        if (budget, times_set) == self._set:
            return
        self._set, self._spent, self._reserved = (budget, times_set), 0.0, 0.0
        self._limit, self._unit = parse_budget(budget) if budget else (0.0, "")


def _shown(amount: float, unit: str) -> str:
    return f"{amount:.4f} USD" if unit == "USD" else f"{amount:,.0f} {unit}"
