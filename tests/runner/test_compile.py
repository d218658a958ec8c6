"""Recipes and the SQL they must become (`fixtures/*.sql`), and what must never become SQL."""

import json
import re
from pathlib import Path

import duckdb
import pytest

from recall_sql.errors import InputError, RecipeError
from recall_sql.runner import compile_recipe, compile_statements, from_text

HERE = Path(__file__).parent
CASE = re.compile(r"^--# case: ([^\n]*)\n--# values: ([^\n]*)\n(.*?)^--# becomes\n(.*?)(?=^--# case|\Z)", re.M | re.S)
CASES = [
    match.groups()
    for path in sorted((HERE / "fixtures").glob("*.sql"))
    for match in CASE.finditer(path.read_text(encoding="utf-8"))
]


def recipe(body, params="", search=(HERE / "fragments",)):
    return from_text(f"/* recipe\n{params}\n*/\n{body}", "r", search=search)


@pytest.mark.parametrize(("name", "values", "text", "expected"), CASES, ids=[case[0] for case in CASES])
def test_fixture(name, values, text, expected):
    compiled = compile_recipe(from_text(text, "r", search=[HERE / "fragments"]), json.loads(values))
    assert compiled.strip() == expected.strip()
    assert duckdb.connect().extract_statements(compiled)


def test_fixtures_are_all_read():
    assert (
        len(CASES)
        == sum(path.read_text(encoding="utf-8").count("--# case") for path in (HERE / "fixtures").glob("*.sql"))
        >= 9
    )


@pytest.mark.parametrize(
    "value", ["team-a", "o'brien", "会議-1", "🙂", "x'; DROP TABLE chat_facts; --", "$a $$", "a\\b\n\t"]
)
def test_a_value_is_bound_and_its_literal_means_the_same(value):
    made = recipe("select {{ session_id }} as s", "params: {session_id: {type: text}}")
    [statement] = compile_statements(made, {"session_id": value}).statements
    assert (statement.sql, statement.values) == ("select $session_id as s", {"session_id": value})
    assert duckdb.sql(compile_recipe(made, {"session_id": value})).fetchall() == [(value,)]


def test_placeholders_have_readable_names():
    made = recipe(
        "select {{ a }}, {{ a }}, {{ a + 1 }}, {{ b.c }} {% for a in [7, 8] %}, {{ a }}{% endfor %}",
        "params: {a: {type: int}, b: {type: json}}",
    )
    [statement] = compile_statements(made, {"a": 1, "b": {"c": "x"}}).statements
    assert statement.sql == "select $a, $a, $v, $b_c , $a_2, $a_3"
    assert statement.values == {"a": 1, "v": 2, "b_c": "x", "a_2": 7, "a_3": 8}


def test_equal_values_of_two_types_are_two_placeholders():
    [statement] = compile_statements(recipe("select {{ 1 }}, {{ true }}, {{ 1.0 }}")).statements
    assert list(statement.values.values()) == [1, True, 1.0]
    assert [type(value) for value in statement.values.values()] == [int, bool, float]


@pytest.mark.parametrize(
    "body",
    [
        "select '{{ x }}'",
        "select 'a' -- {{ x }}\n;",
        "select /* {{ x }} */ 1",
        'select "{{ x }}"',
        "select $${{ x }}$$",
        "select e'{{ x }}'",
        "select a{{ x }}",
        "select {{ x }}y",
        "select {{ x }}{{ x }}",
        "select '{{ x | ident }}'",
        "select -- {{ x | ident }}\n1",
        "select {{ x }}, '{{ x }}'",
        "-- step: {{ x }}\nselect 1",
        "select 1; -- {{ x }}",
    ],
)
def test_a_value_in_quotes_or_a_comment_is_refused(body):
    with pytest.raises(RecipeError, match=r"r, (step .*, )?line [45]: .*quotes or a comment; remove the quotes"):
        compile_recipe(recipe(body, "params: {x: {type: text}}"), {"x": "x'; drop"})


@pytest.mark.parametrize(
    "body",
    [
        "{% print x %}",
        "{% filter upper %}select 1{% endfilter %}",
        "{% set sql %}select {{ x }}{% endset %}{{ sql }}",
        "{% macro m() %}select {{ x }}{% endmacro %}{{ m() | upper }}",
        "{% call x.upper() %}{% endcall %}",
        "{% macro m() %}1{% endmacro %}select {{ m }}",
    ],
)
def test_no_way_round_the_binding(body):
    with pytest.raises(RecipeError):
        compile_recipe(recipe(body, "params: {x: {type: text}}"), {"x": "; drop table t"})


@pytest.mark.parametrize(
    "filter_", ["safe", "e", "forceescape", "string", "urlize", "tojson", "upper", "join", "default('x')"]
)
def test_a_filter_gives_a_value_not_text(filter_):
    made = recipe("select {{ x | FILTER }}".replace("FILTER", filter_), "params: {x: {type: text}}")
    [statement] = compile_statements(made, {"x": "1; drop table t"}).statements
    assert "drop" not in statement.sql.lower()


def test_macro_text_joined_with_a_value_is_a_value():
    made = recipe("{% macro m() %}1{% endmacro %}select {{ m() ~ x }}", "params: {x: {type: text}}")
    with pytest.raises(RecipeError, match="make it a macro"):
        compile_recipe(made, {"x": "; drop"})


def test_call_blocks_and_inheritance():
    made = recipe(
        "{% macro m(a) %}{{ a }} {{ caller() }}{% endmacro %}select {% call m(x) %}, {{ x }}{% endcall %}",
        "params: {x: {type: text}}",
    )
    assert compile_recipe(made, {"x": "v"}) == "select 'v' , 'v';\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("-- step: one\nselect 1;\n-- step: two\nselect\n  {{ nope }}", "r, step two, line 8: 'nope' is undefined"),
        ("-- step: one\nselect {{ x.nope }}", "r, step one, line 5: .*nope"),
        ("select {{ x", "r, line 4: "),
        ("\n{% if x %}select 1", "r, line [45]: "),
        ("select {{ 1 / 0 }}", "r, line 4: division by zero"),
        ("select {{ x + 1 }}", "r, line 4: .*str"),
        ('{% include "_none.sql" %}', "r, line 4: there is no file _none.sql to include"),
        ("select {{ x | nofilter }}", "r, line 4: No filter named 'nofilter'"),
        ("select {{ '' | ident }}", "r, line 4: '' is not the name"),
        ("select {{ 'a..b' | ident }}", "r, line 4: 'a..b' is not the name"),
        ("select {{ nope | ident }}", "r, line 4: .*nope"),
        ("{% for i in [1] %}\n\n{{ nope }}{% endfor %}", "r, line 6: 'nope' is undefined"),
    ],
)
def test_template_errors_name_recipe_step_and_line(body, message):
    with pytest.raises(RecipeError, match=message):
        compile_recipe(recipe(body, "params: {x: {type: text}}"), {"x": "a"})


def test_an_error_in_a_fragment_names_the_fragment(tmp_path):
    (tmp_path / "_bad.sql").write_text("select\n  {{ nope }}")
    with pytest.raises(RecipeError, match=r"r: 'nope' is undefined \(line 2 of _bad.sql\)"):
        compile_recipe(recipe('select 1;\n{% include "_bad.sql" %}', search=[tmp_path]))


def test_a_changed_fragment_is_read_again(tmp_path):
    (tmp_path / "_f.sql").write_text("1")
    made = recipe('select {% include "_f.sql" %}', search=[tmp_path])
    assert compile_recipe(made) == "select 1;\n"
    (tmp_path / "_f.sql").write_text("22")
    assert compile_recipe(made) == "select 22;\n"


def test_an_include_stays_in_the_recipe_folders(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.sql").write_text("1")
    for name in ("../secret.sql", str(tmp_path / "secret.sql")):
        with pytest.raises(RecipeError, match="no file"):
            compile_recipe(recipe(f'select {{% include "{name}" %}}', search=[tmp_path / "in"]))


def test_a_plain_script_is_not_templated():
    script = from_text("select '{{ 7*7 }}', '{% x %}'; -- {{ y }}\nselect 2")
    assert compile_recipe(script) == "select '{{ 7*7 }}', '{% x %}';\n\n-- {{ y }}\nselect 2;\n"
    assert [s.step for s in compile_statements(script).statements] == ["1", "2"]


def test_composed_recipes_share_parameters(tmp_path):
    (tmp_path / "a.sql").write_text(
        "/* recipe\nparams: {s: {type: text}, n: {type: int, default: 1}}\n*/\nselect {{ s }}, {{ n }}"
    )
    (tmp_path / "b.sql").write_text(
        "/* recipe\nparams: {n: {type: int, default: 2}, m: {type: int, default: 3}}\n*/\nselect {{ n }}, {{ m }}"
    )
    outer = recipe("select {{ m }}", "runs: [a, b]\nparams: {m: {type: int, default: 9}}", search=[tmp_path])
    assert compile_recipe(outer, {"s": "x"}) == (
        "-- recipe: a\n\nselect 'x', 1;\n\n-- recipe: b\n\nselect 2, 9;\n\n-- recipe: r\n\nselect 9;\n"
    )
    with pytest.raises(InputError, match="a needs the parameter s"):
        compile_recipe(outer)
    with pytest.raises(InputError, match="r has no parameter z"):
        compile_recipe(outer, {"z": 1})


def test_a_recipe_that_runs_itself_or_nothing_known(tmp_path):
    (tmp_path / "a.sql").write_text("/* recipe\nruns: [b]\n*/\n")
    (tmp_path / "b.sql").write_text("/* recipe\nruns: [a]\n*/\n")
    with pytest.raises(RecipeError, match="runs itself: r → a → b → a"):
        compile_recipe(recipe("", "runs: [a]", search=[tmp_path]))
    with pytest.raises(RecipeError, match="there is no recipe bb; did you mean b"):
        compile_recipe(recipe("", "runs: [bb]", search=[tmp_path]))


def test_results_belong_to_the_last_select_of_a_step():
    made = recipe(
        "-- step: one\n-- result: Facts\ncreate temp table t as select 1 as a;\nselect 1;\n"
        "with x as (select 1) select 2;\n"
        "insert into t values (1);\n-- step: two\nselect 3;\n-- result: B\ninsert into t values (1) returning a;\n"
        "-- result: C\nselect 4;"
    )
    statements = compile_statements(made).statements
    assert [(s.step, s.result) for s in statements] == [
        ("one", None),
        ("one", None),
        ("one", "Facts"),
        ("one", None),
        ("two", None),
        ("two", "B"),
        ("two", "C"),
    ]


def test_the_example_in_the_docs():
    text = (HERE.parents[1] / "docs" / "recipes.md").read_text(encoding="utf-8")
    example = from_text(re.search(r"```sql\n(.*?)```", text, re.S)[1])
    compiled = compile_recipe(example, {"session_id": "s1", "as_of": "2026-01-01"})
    assert (
        "from \"chat_facts\"\nwhere session_id = 's1'\n  and observed_at <= timestamp '2026-01-01 00:00:00'" in compiled
    )
    assert [statement.result for statement in compile_statements(example, {"session_id": ""}).statements][
        -1
    ] == "Long facts"
