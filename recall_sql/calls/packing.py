"""Several inputs in one request: embeddings bounded by count and tokens, and short questions that share a prompt.

Responsible for what goes together and for taking an answer apart by the ids it carries. Nothing is matched by position:
an input whose id is missing, doubled or unknown has no answer here, and is asked again alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from recall_sql.calls.answers import unfenced, values, without_thinking
from recall_sql.models.base import Request

T = TypeVar("T")
EMBEDDING_TOKENS = 100_000  # of the inputs of one request; OpenAI takes 300,000
PACK_TOKENS = 6_000  # of a packed prompt
PACKABLE_TOKENS = 1_500  # an input longer than this goes alone


def tokens_of(text: str) -> int:
    """About how many tokens a text is: four bytes each."""
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def batches(items: Iterable[T], size: Callable[[T], int], *, most: int, tokens: int) -> list[list[T]]:
    """Consecutive items, at most `most` and about `tokens` tokens in each list; a longer item stands alone."""
    found: list[list[T]] = []
    weight = 0
    for item in items:
        heavy = size(item)
        if not found or len(found[-1]) >= most or weight + heavy > tokens:
            found.append([])
            weight = 0
        found[-1].append(item)
        weight += heavy
    return found


@dataclass(frozen=True)
class Packable(Generic[T]):
    """How questions of one kind share a request. system: its instructions. field: what each answer holds beside its id.

    schema: of that field. Only questions of equal values share one.
    """

    system: str
    field: str
    schema_text: str

    def request(self, prompts: Sequence[str], max_tokens: int) -> Request:
        """One prompt for all of them; the ids are i1, i2 …"""
        parts = [f'<input id="i{number}">\n{prompt}\n</input>' for number, prompt in enumerate(prompts, 1)]
        form = json.dumps({"answers": [{"id": "i1", self.field: "…"}]}, ensure_ascii=False)
        prompt = (
            f"There are {len(prompts)} inputs. Read each by itself, as if it were alone, and answer every one of them "
            f"once, under its id, in this form instead of the one above: {form}\n\n" + "\n\n".join(parts)
        )
        return Request(prompt, self.system, 0.0, max_tokens, self._schema())

    def _schema(self) -> dict[str, Any]:
        item = {
            "type": "object",
            "additionalProperties": False,
            "required": ["id", self.field],
            "properties": {"id": {"type": "string"}, self.field: json.loads(self.schema_text)},
        }
        answers = {"type": "array", "items": item}
        return {
            "type": "object",
            "additionalProperties": False,
            "required": ["answers"],
            "properties": {"answers": answers},
        }

    def take_apart(self, answer: str, count: int) -> dict[int, str]:
        """The answers by position of their input; those that came exactly once and under an id that was given."""
        given: list[Any] = []
        for value in values(unfenced(without_thinking(answer))):
            found = value.get("answers") if isinstance(value, dict) else value
            if isinstance(found, list):
                given = [one for one in found if isinstance(one, dict) and self.field in one]
                break
        times = Counter(str(one.get("id")) for one in given)
        places = {f"i{number}": number - 1 for number in range(1, count + 1)}
        return {
            places[name]: json.dumps({self.field: one[self.field]}, ensure_ascii=False)
            for one in given
            if times[name := str(one.get("id"))] == 1 and name in places
        }
