"""What stands between a SQL function and a model: dedupe, memo, budget, concurrency, retries, validation, log.

`layer.py` is the path every call takes. `flight.py` has the requests of one chunk under way, on the event loop of
`loop.py`; `retry.py`, `limits.py`, `budget.py` and `packing.py` say when and how a request may go out. `memo.py`
remembers answers, `log.py` writes everything down, `pricing.py` knows what it cost, `estimate.py` what it would cost.
`answers.py` reads JSON as models write it. Which model answers is not decided here (settings, models/registry.py), nor
what a prompt says (functions/).
"""

from recall_sql.calls.flight import Question
from recall_sql.calls.layer import CallLayer

__all__ = ["CallLayer", "Question"]
