"""Which recipe comes after which, and which of them a selection means.

B comes after A if B says `after: [A]`, or if a recipe of recipes runs A just before B. Knows nothing of databases and
values; what is done with a selection is batch.py's.

A selection is made of words: a name (`conversation_memory/embed`), a pattern (`conversation_memory/*`), `tag:nightly`.
A `+` before a word adds all that comes before, a `+` behind it all that comes after. A recipe's folders are tags, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise

from recall_sql.errors import InputError, RecipeError
from recall_sql.runner.recipe import Recipe


@dataclass(frozen=True)
class Graph:
    """Recipes by name, in the order they were given."""

    recipes: dict[str, Recipe]

    @classmethod
    def of(cls, recipes: Iterable[Recipe]) -> Graph:
        """Raises RecipeError for a name that isn't there, and for a cycle, which it shows."""
        graph = cls({recipe.name: recipe for recipe in recipes})
        for recipe in graph.recipes.values():
            for key in ("runs", "after"):
                for name in getattr(recipe, key):
                    graph._must_exist(name, f"{key}: ", recipe.name)
        graph.in_order(graph.recipes)
        return graph

    @cached_property
    def before(self) -> dict[str, frozenset[str]]:
        """The recipes each one comes directly after."""
        found: dict[str, set[str]] = {name: set(recipe.after) for name, recipe in self.recipes.items()}
        for recipe in self.recipes.values():
            for first, second in pairwise(recipe.runs):
                found[second].add(first)
        return {name: frozenset(names) for name, names in found.items()}

    @cached_property
    def behind(self) -> dict[str, frozenset[str]]:
        """The recipes that come directly after each one."""
        return {
            name: frozenset(other for other, names in self.before.items() if name in names) for name in self.recipes
        }

    def select(self, words: Sequence[str]) -> list[Recipe]:
        """The recipes that any of the words means, in an order in which they can run.

        What a selected recipe of recipes runs itself is left out. Raises InputError for a word that selects nothing.
        """
        chosen: set[str] = set()
        for word in words:
            chosen |= self._meant(word)
        parts = {part for name in chosen for part in self._parts(name)}
        return [self.recipes[name] for name in self.in_order(chosen - parts)]

    def in_order(self, names: Iterable[str]) -> list[str]:
        """The names, each after those it comes after. RecipeError for a cycle."""
        wanted, ordered, done = set(names), [], set()
        for name in (name for name in self.recipes if name in wanted):
            self._visit(name, (), ordered, done)
        return [name for name in ordered if name in wanted]

    def depends(self, name: str, others: Iterable[str]) -> set[str]:
        """Which of `others` the recipe has to wait for, directly or by way of recipes that aren't among them."""
        own = {name, *self._parts(name)}
        waits = set().union(*(self._closure(part, self.before) for part in own))
        return {other for other in others if other not in own and ({other, *self._parts(other)} & waits)}

    def _visit(self, name: str, path: tuple[str, ...], ordered: list[str], done: set[str]) -> None:
        if name in path:
            circle = (*path[path.index(name) :], name)
            raise RecipeError(f"they wait for each other: {' → '.join(circle)}", recipe=name)
        if name in done:
            return
        recipe = self.recipes[name]
        for other in sorted(self.before[name] | set(recipe.runs)):
            self._visit(other, (*path, name), ordered, done)
        done.add(name)
        ordered.append(name)

    def _meant(self, word: str) -> set[str]:
        core = word.strip().removeprefix("+").removesuffix("+")
        tag = core.removeprefix("tag:") if core.startswith("tag:") else None
        if tag is not None:
            found = {name for name, recipe in self.recipes.items() if tag in tags_of(recipe)}
        else:
            found = {name for name in self.recipes if fnmatchcase(name, core)}
        if not found:
            raise InputError(f"--select {word} selects nothing{self._hint(core, tag)}")
        if word.startswith("+"):
            found = found.union(*(self._closure(name, self.before) for name in found))
        if word.endswith("+"):
            found = found.union(*(self._closure(name, self.behind) for name in found))
        return found

    def _hint(self, core: str, tag: str | None) -> str:
        if tag is not None:
            return f"; there are the tags {', '.join(sorted({t for r in self.recipes.values() for t in tags_of(r)}))}"
        close = get_close_matches(core, self.recipes, n=1)
        return f"; did you mean {close[0]}?" if close else "; `recall-sql list` shows the recipes"

    def _closure(self, name: str, edges: dict[str, frozenset[str]]) -> set[str]:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for other in edges[waiting.pop()] - found:
                found.add(other)
                waiting.append(other)
        return found

    def _parts(self, name: str) -> set[str]:
        """What the recipe runs, and what these run."""
        return {name for part in self.recipes[name].runs for name in (part, *self._parts(part))}

    def _must_exist(self, name: str, key: str, recipe: str) -> None:
        if name not in self.recipes:
            close = get_close_matches(name, self.recipes, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise RecipeError(f"{key}there is no recipe {name}{hint}", recipe=recipe)


def tags_of(recipe: Recipe) -> set[str]:
    """The tags a recipe declares, and its folders."""
    return {*recipe.tags, *recipe.name.split("/")[:-1]}


def as_text(graph: Graph, recipes: Sequence[Recipe]) -> str:
    """One line per recipe: what it comes after, and what it runs."""
    names = [recipe.name for recipe in recipes]
    lines = []
    for recipe in recipes:
        after = sorted(graph.before[recipe.name] & set(names))
        lines.append(
            recipe.name
            + (f"  after {', '.join(after)}" if after else "")
            + (f"  runs {', '.join(recipe.runs)}" if recipe.runs else "")
        )
    return "\n".join(lines)


def as_mermaid(graph: Graph, recipes: Sequence[Recipe]) -> str:
    """A Mermaid flowchart: solid arrows are the order, dotted ones lead to what a recipe runs."""
    ids = {recipe.name: f"r{number}" for number, recipe in enumerate(recipes)}
    lines = ["flowchart LR", *(f'    {ids[name]}["{name}"]' for name in ids)]
    for recipe in recipes:
        lines += [
            f"    {ids[other]} --> {ids[recipe.name]}" for other in sorted(graph.before[recipe.name]) if other in ids
        ]
        lines += [f"    {ids[recipe.name]} -.-> {ids[part]}" for part in recipe.runs if part in ids]
    return "\n".join(lines)


def as_dict(graph: Graph, recipes: Sequence[Recipe]) -> dict[str, dict[str, list[str]]]:
    """For programs: after, runs and tags of each recipe."""
    return {
        recipe.name: {
            "after": sorted(graph.before[recipe.name]),
            "runs": list(recipe.runs),
            "tags": sorted(tags_of(recipe)),
        }
        for recipe in recipes
    }
