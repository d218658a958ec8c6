"""The catalog of functions, and what each of them has in common."""

from __future__ import annotations

import inspect

import pytest

from recall_sql.functions import all_functions


@pytest.mark.parametrize("function", all_functions(), ids=lambda function: function.name)
def test_every_function_says_how_it_is_called_and_what_it_does(function):
    assert function.usage.lower().startswith(function.name + "(")
    assert function.description.endswith(".")
    assert list(inspect.signature(function.load()).parameters) == ["instance", "columns"]


@pytest.mark.parametrize("function", all_functions(), ids=lambda function: function.name)
def test_every_function_is_there_and_has_its_type(con, function):
    kind = con.execute(f"describe select {function.name}(null) as v").fetchall()
    assert kind[0][1] == con.execute(f"select typeof(null::{function.returns.format(dimension=384)})").fetchall()[0][0]
