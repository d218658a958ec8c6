"""Every error a person can meet, written for the one who reads it at night: what was wrong, where, what to do.

Nothing here decides anything; raising and catching is the business of the modules that own the work.
"""

from __future__ import annotations

import re

# What DuckDB puts around the message of a Python function, and behind it.
_NOISE = re.compile(r"(?:Invalid Input Error: )?Python exception occurred while executing the UDF: (?:\w+: )?")
_TRACE = re.compile(r"\s+At:\s.*$|\s+LINE \d+: .*$", re.DOTALL)


class RecallError(Exception):
    """Base of all errors of recall_sql. `str(error)` is one readable line (or a short paragraph)."""


class ConfigError(RecallError):
    """A setting, model string, extra or database that can't be used as it is; the message names the remedy."""


class InputError(RecallError, ValueError):
    """An argument, parameter, option, file or row that is not what it must be; the message names it."""


class ModelError(RecallError):
    """A model didn't answer, or not usefully. Names function, provider, cause and remedy.

    status: the HTTP status of the answer, or None where there was none. retry_after: seconds the server asked to wait,
    or None. transient: the same call may well succeed later (rate limit, timeout, broken connection, 5xx). too_long:
    what was sent exceeds the model's context or the provider's bound on a request; half of it may fit.
    """

    def __init__(
        self,
        function: str,
        provider: str,
        cause: str,
        remedy: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
        transient: bool = False,
        too_long: bool = False,
    ) -> None:
        self.function, self.provider, self.cause, self.remedy = function, provider, cause, remedy
        self.status, self.retry_after, self.transient, self.too_long = status, retry_after, transient, too_long
        super().__init__(f"{function} with {provider}: {cause}" + (f" — {remedy}" if remedy else ""))


class BudgetError(RecallError):
    """The budget is spent. Raised before the call that would exceed it; what was answered is remembered."""

    def __init__(self, budget: str, spent: str) -> None:
        self.budget, self.spent = budget, spent
        super().__init__(
            f"the budget of {budget} doesn't allow another call: {spent} spent since it was set. What was answered is "
            "remembered, and the same statement goes on from there: set it anew with recall_set('budget', …)"
        )


class RecipeError(RecallError):
    """A recipe that can't be loaded, rendered or executed. Names recipe, step and line where they are known."""

    def __init__(self, message: str, *, recipe: str = "", step: str = "", line: int | None = None) -> None:
        self.recipe, self.step, self.line = recipe, step, line
        where = recipe + (f", step {step}" if step else "") + (f", line {line}" if line else "")
        super().__init__(f"{where}: {message}" if where else message)


def one_line(error: BaseException) -> str:
    """The useful text of an exception, ours or DuckDB's, on one line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(plain(str(error)).split()) or type(error).__name__


def plain(message: str) -> str:
    """DuckDB's message without what it puts around the words of a Python function."""
    return _TRACE.sub("", _NOISE.sub("", message))
