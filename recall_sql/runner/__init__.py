"""The runner: a recipe (front matter, Jinja, SQL) is loaded, rendered, bound, executed and recorded.

Responsible for everything between a recipe's name and its result tables. Not responsible for what the SQL means,
for opening databases or for creating `recall_runs` (see `recall_sql.session`), nor for parsing a command line.
`docs/recipes.md` is the manual.
"""

from recall_sql.runner.dialect import translate
from recall_sql.runner.execute import ResultTable, RunResult, StepResult, execute
from recall_sql.runner.output import render_tables
from recall_sql.runner.params import Param
from recall_sql.runner.recipe import Recipe, Step, catalogue, from_text, load
from recall_sql.runner.render import Compiled, Statement, accepted_params, compile_recipe, compile_statements

__all__ = [
    "Compiled",
    "Param",
    "Recipe",
    "ResultTable",
    "RunResult",
    "Statement",
    "Step",
    "StepResult",
    "accepted_params",
    "catalogue",
    "compile_recipe",
    "compile_statements",
    "execute",
    "from_text",
    "load",
    "render_tables",
    "translate",
]
