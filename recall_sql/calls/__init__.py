"""What stands between a SQL function and a model: dedupe, memo, concurrency, log.

`layer.py` is the path every call takes; `memo.py` remembers answers; `log.py` writes down attempts; `loop.py` is the
one event loop requests run on. Which model answers is not decided here (settings, models/registry.py), nor what a
prompt says (functions/).
"""

from recall_sql.calls.layer import CallLayer, Question

__all__ = ["CallLayer", "Question"]
