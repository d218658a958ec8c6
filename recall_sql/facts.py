"""The shape of a fact as it leaves an extractor: one pydantic model and the same thing as an Arrow type.

What a fact *does* once it meets the fact table (slots, trust, time, confidence) is SQL: `recipes/conversation_memory/`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["KNOWLEDGE", "RULE", "PREFERENCE"]
Op = Literal["assert", "retract"]


class Fact(BaseModel):
    """One candidate belief about the speaker, as EXTRACT_FACTS and PARSE_FACTS return it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    category: str = Field(min_length=1, description="What the fact is about, snake_case: dietary, budget, pet …")
    fact_key: str = Field(
        min_length=1, description="The attribute within the category, snake_case: vegetarian, max_usd …"
    )
    fact_value: str = Field(description="Its value as plain text: 'true', '3000', 'Tokyo, Kyoto'")
    confidence: float = Field(default=0.8, ge=0.0, le=1.0, description="0 to 1: how surely the text states it")
    kind: Kind = Field(
        default="KNOWLEDGE", description="RULE: a standing instruction; PREFERENCE: a taste; else KNOWLEDGE"
    )
    op: Op = Field(default="assert", description="assert, or retract when the text takes the fact back")
    evidence: str = Field(default="", description="The words of the text that say so")
    replaces: str | None = Field(default=None, description="Alias or fact_id of the known fact this one replaces")
