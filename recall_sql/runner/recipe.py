"""What a recipe is, and how one is found and read: front matter, named steps, the SQL as written.

Reads files and checks their declarations. Doesn't render, doesn't know values, never opens a database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from recall_sql.errors import InputError, RecipeError
from recall_sql.resources import recipes_dir
from recall_sql.runner.params import Param

_FRONT_MATTER = re.compile(r"\s*/\*\s*recipe[ \t]*\n(.*?)\*/", re.DOTALL)
STEP = re.compile(r"^[ \t]*--[ \t]*step:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
RESULT = re.compile(r"^[ \t]*--[ \t]*result:[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """A named part of a recipe, as written in its file. `title` is the comment under its name."""

    name: str
    title: str
    sql: str
    line: int


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe as read. `runs` names the recipes that run before its own steps.

    `templated` is false for a plain SQL script (no front matter): Jinja never touches it. `body` is the text after the
    front matter, with empty lines in its place, so that line numbers are those of the file. `after` and `tags` are for
    batches (graph.py). `partition_by` is 'session' if running it on some sessions after others gives what running it on
    all at once would (backfills/).
    """

    name: str
    path: Path | None
    description: str
    params: tuple[Param, ...]
    steps: tuple[Step, ...]
    runs: tuple[str, ...]
    body: str
    templated: bool
    search: tuple[Path, ...]
    after: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    partition_by: str | None = None

    def step_at(self, line: int) -> str:
        """The name of the step that holds a line of the file; '' before the first."""
        names = [step.name for step in self.steps if step.line <= line]
        return names[-1] if names else ""


class _FrontMatter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = ""
    description: str = ""
    params: dict[str, Param] = {}
    runs: list[str] = []
    after: list[str] = []
    tags: list[str] = []
    partition_by: Literal["session"] | None = None


def load(name_or_path: str | Path, search: Sequence[str | Path] = ()) -> Recipe:
    """A recipe by its name (`conversation_memory/context`) or by the path of a `.sql` file.

    Names are looked up in `search`, then among the shipped recipes. Raises InputError if there is none, RecipeError
    if it can't be read.
    """
    folders = (*(Path(folder) for folder in search), recipes_dir())
    if isinstance(name_or_path, str) and (found := _find(name_or_path, folders)):
        name, path = found
        return from_text(read(path), name, path=path, search=folders)
    path = Path(name_or_path)
    if path.is_dir():
        raise InputError(f"{name_or_path} is a directory; give the name of a recipe or a .sql file")
    if path.is_file():
        return from_text(read(path), path.stem, path=path, search=(path.resolve().parent, *folders))
    if isinstance(name_or_path, Path) or name_or_path.endswith(".sql"):
        raise InputError(f"there is no file {name_or_path}")
    names = [name for name, _ in _listed(folders)]
    close = get_close_matches(name_or_path, names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]}?" if close else "."
    raise InputError(f"there is no recipe {name_or_path}{hint} There are: {', '.join(names) or 'none'}")


def catalogue(search: Sequence[str | Path] = ()) -> list[Recipe]:
    """Every recipe of `search` and the shipped ones, by name. Files beginning with `_` are fragments, not recipes."""
    folders = (*(Path(folder) for folder in search), recipes_dir())
    recipes = [from_text(read(path), name, path=path, search=folders) for name, path in _listed(folders)]
    return [recipe for recipe in recipes if recipe.templated]


def _find(name: str, folders: Sequence[Path]) -> tuple[str, Path] | None:
    wanted = PurePosixPath(name.removesuffix(".sql"))
    if wanted.is_absolute() or ".." in wanted.parts or not wanted.name or "\0" in name:
        return None
    for folder in folders:
        path = folder / wanted.parent / f"{wanted.name}.sql"
        if path.is_file():
            return str(wanted), path
    return None


def _listed(folders: Sequence[Path]) -> list[tuple[str, Path]]:
    """(name, path) of the recipes in the folders; the first folder that has a name wins."""
    found: dict[str, Path] = {}
    for folder in folders:
        models_of_dbt = [project.parent for project in folder.rglob("dbt_project.yml")]
        for path in sorted(folder.rglob("*.sql")):
            inside = path.relative_to(folder)
            hidden = any(part.startswith(("_", ".")) for part in inside.parts)
            if not hidden and not any(path.is_relative_to(project) for project in models_of_dbt):
                found.setdefault(inside.with_suffix("").as_posix(), path)
    return sorted(found.items())


def read(path: Path) -> str:
    """The text of a SQL file, with one kind of line end. Raises InputError if it isn't UTF-8 text."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from None
    if "\0" in text:
        raise InputError(f"{path} holds a NUL character; it is not a text file")
    return text


def from_text(
    text: str, name: str = "script", *, path: Path | None = None, search: Sequence[Path] | None = None
) -> Recipe:
    """A recipe, or a plain script, from its text; `name` is what messages call it."""
    body, front, first_line = without_front_matter(text)
    declared = _FrontMatter() if front is None else _parse_front_matter(front, name, first_line)
    if declared.name and path and (wanted := PurePosixPath(declared.name)).name != path.stem:
        raise RecipeError(f"its front matter calls it {wanted}, but the file is {path.name}", recipe=name)
    return Recipe(
        name=declared.name or name,
        path=path,
        description=declared.description.strip(),
        params=tuple(declared.params.values()),
        steps=tuple(_steps(body)) if front is not None else (),
        runs=tuple(declared.runs),
        body=body,
        templated=front is not None,
        search=tuple(search) if search is not None else (recipes_dir(),),
        after=tuple(declared.after),
        tags=tuple(declared.tags),
        partition_by=declared.partition_by,
    )


def without_front_matter(text: str) -> tuple[str, str | None, int]:
    """(body with empty lines where the front matter was, the front matter or None, the line its YAML begins on)."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    match = _FRONT_MATTER.match(text)
    if match is None:
        return text, None, 0
    before_yaml = text[: match.start(1)].count("\n")
    return "\n" * match[0].count("\n") + text[match.end() :], match[1], before_yaml + 1


def _steps(body: str) -> Iterator[Step]:
    marks = list(STEP.finditer(body))
    for mark, following in zip_longest(marks, marks[1:]):
        sql = body[mark.end() : following.start() if following else len(body)].strip()
        comments = []
        for line in sql.splitlines():
            if not line.startswith("--"):
                break
            if not RESULT.match(line):
                comments.append(line.lstrip("- "))
        yield Step(mark[1], " ".join(comments), sql, body.count("\n", 0, mark.start()) + 1)


def _parse_front_matter(text: str, name: str, first_line: int) -> _FrontMatter:
    import yaml  # loaded by the first recipe, so that commands without one start faster

    try:
        loader = _loader()
        tree = yaml.compose(text, loader)
        data = yaml.load(text, loader) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = first_line + mark.line if mark else first_line
        raise RecipeError(f"front matter: {getattr(error, 'problem', error)}", recipe=name, line=line) from error
    lines = dict(_lines(tree)) if tree else {}
    if not isinstance(data, dict):
        raise RecipeError("front matter must be `key: value` lines", recipe=name, line=first_line)
    params = data.get("params")
    if isinstance(params, dict):
        declared = {key: {"name": key, **value} if isinstance(value, dict) else value for key, value in params.items()}
        data["params"] = declared
    try:
        return _FrontMatter.model_validate({key: value for key, value in data.items() if value is not None})
    except ValidationError as error:
        raise _first_problem(error, lines, name, first_line) from error


def _loader() -> Any:
    """PyYAML's safe loader, where only `true` and `false` are truth values: `n`, `y` and `no` are words."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        sign: [(tag, pattern) for tag, pattern in found if not tag.endswith(":bool")]
        for sign, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))
    return Loader


def _first_problem(error: ValidationError, lines: dict[tuple, int], name: str, first_line: int) -> RecipeError:
    problem = error.errors(include_url=False)[0]
    where = tuple(problem["loc"])
    line = first_line
    for depth in range(len(where) + 1):
        line = first_line + lines.get(where[:depth], line - first_line)
    text = "unknown key" if problem["type"] == "extra_forbidden" else problem["msg"].removeprefix("Value error, ")
    label = ".".join(str(part) for part in where)
    return RecipeError(f"front matter, {label}: {text}" if label else f"front matter: {text}", recipe=name, line=line)


def _lines(node: Any, path: tuple = ()) -> Iterator[tuple[tuple, int]]:
    """(path of a key, its line counted from 0) for every key of a YAML tree."""
    if isinstance(node.value, list) and node.tag.endswith(":map"):
        for key, value in node.value:
            yield (*path, key.value), key.start_mark.line
            yield from _lines(value, (*path, key.value))
