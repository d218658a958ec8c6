"""Finding and reading recipes."""

import pytest

from recall_sql.errors import InputError, RecipeError
from recall_sql.resources import recipes_dir
from recall_sql.runner import accepted_params, catalogue, compile_recipe, from_text, load

TEXT = """/* recipe
name: chat/context
description: What the model reads.
params:
  session_id: {type: text, default: default, help: "The thread."}
*/

-- step: candidates
-- The rule of this step
-- in a sentence.
select 1;

-- step: show
-- result: Facts
select 2;
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "chat").mkdir()
    (tmp_path / "chat" / "context.sql").write_text(TEXT)
    (tmp_path / "chat" / "_part.sql").write_text("select 1")
    (tmp_path / "plain.sql").write_text("select '{{ x }}'")
    return tmp_path


def test_what_a_recipe_is(folder):
    recipe = load("chat/context", [folder])
    assert (recipe.name, recipe.description, recipe.path) == (
        "chat/context",
        "What the model reads.",
        folder / "chat" / "context.sql",
    )
    assert [(p.name, p.type, p.default, p.help) for p in recipe.params] == [
        ("session_id", "text", "default", "The thread.")
    ]
    assert [(s.name, s.title, s.line) for s in recipe.steps] == [
        ("candidates", "The rule of this step in a sentence.", 8),
        ("show", "", 13),
    ]
    assert load(str(folder / "chat" / "context.sql")) == load(folder / "chat" / "context.sql")


def test_the_catalogue_lists_recipes_only(folder):
    mine = [recipe for recipe in catalogue([folder]) if recipe.path.is_relative_to(folder)]
    assert [(recipe.name, len(recipe.params)) for recipe in mine] == [("chat/context", 1)]


def test_a_script_is_read_as_it_is(folder):
    script = load(folder / "plain.sql")
    assert (script.templated, script.params, script.steps) == (False, (), ())
    assert not from_text("/* recipe for soup */ select 1").templated


def test_line_ends_and_byte_order_marks(tmp_path):
    path = tmp_path / "context.sql"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert load(path).body == from_text(TEXT).body


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chat/contxt", r"there is no recipe chat/contxt; did you mean chat/context\? There are: .*chat/context"),
        ("none.sql", "there is no file none.sql"),
        ("../chat/context", "there is no recipe"),
        ("", "directory|there is no recipe"),
        ("a\0b", "there is no recipe|null"),
    ],
)
def test_unknown_recipes(folder, name, message):
    with pytest.raises((InputError, ValueError), match=message):
        load(name, [folder])


def test_files_that_are_no_recipes(folder):
    with pytest.raises(InputError, match="is a directory"):
        load(str(folder))
    (folder / "latin.sql").write_bytes("select 'é'".encode("latin-1"))
    with pytest.raises(InputError, match=r"not UTF-8 text \(byte 8\)"):
        load(folder / "latin.sql")
    (folder / "nul.sql").write_bytes(b"select '\0'")
    with pytest.raises(InputError, match="NUL"):
        load(folder / "nul.sql")


@pytest.mark.parametrize(
    ("front", "message"),
    [
        ("nme: x", "r, line 2: front matter, nme: unknown key"),
        ("description: x\nparams:\n  a: {type: int, hlp: x}", "r, line 4: front matter, params.a.hlp: unknown key"),
        ("params:\n  a:\n    type: int\n    hlp: x", "r, line 5: front matter, params.a.hlp: unknown key"),
        ("params:\n  a: {type: integer}", "r, line 3: front matter, params.a.type: Input should be"),
        ("params:\n  a: {type: text, default: 5}", r"r, line 3: .*expected text, got int 5 \(quote it\)"),
        ("params:\n  run_id: {type: text}", "r, line 3: .*always defined"),
        ("params:\n  a: int", "r, line 3: front matter, params.a"),
        ("params:\n a: {", "r, line [34]: front matter: "),
        ("just text", "r, line 2: front matter must be"),
        ("runs: x", "r, line 2: front matter, runs"),
    ],
)
def test_front_matter_that_is_wrong(front, message):
    with pytest.raises(RecipeError, match=message):
        from_text(f"/* recipe\n{front}\n*/\nselect 1", "r")


def test_words_of_yaml_are_not_truth_values():
    recipe = from_text("/* recipe\nparams:\n  n: {type: text, default: no}\n*/\nselect {{ n }}")
    assert recipe.params[0].default == "no"


def test_a_name_that_differs_from_the_file(folder):
    (folder / "other.sql").write_text(TEXT)
    with pytest.raises(RecipeError, match=r"the file is other\.sql"):
        load("other", [folder])


def test_shipped_recipes_can_be_read_and_compiled():
    samples = {"text": "x", "int": 1, "float": 0.5, "bool": True, "timestamp": "2026-01-01", "date": "2026-01-01"}
    samples |= {"json": "{}", "ident": "t", "list": "a"}
    for recipe in catalogue():
        if recipe.path.is_relative_to(recipes_dir()):
            needed = [param for param in accepted_params(recipe) if param.required]
            assert recipe.description
            assert compile_recipe(recipe, {p.name: p.choices[0] if p.choices else samples[p.type] for p in needed})
