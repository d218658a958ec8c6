"""The memory over HTTP: `create_app(con)` is an ASGI application, `recall-sql serve --http` runs it.

Reading order: app.py puts it together; doorman.py lets callers in; routes/ says what each address does, a Memory method
or recipe each; intake.py stores turns, problems.py says what went wrong. docs/http.md is the manual.
"""

from recall_sql.integrations.http.app import create_app

__all__ = ["create_app"]
