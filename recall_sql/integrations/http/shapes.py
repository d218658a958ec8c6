"""What goes in and out, as the OpenAPI document says it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from recall_sql.access import Role as AccessRole
from recall_sql.moments import FIRST_YEAR

# Any name that an address can hold: no slash, no control character, no space at either end.
_IN = r"[^/\\?#%\x00-\x1f\x7f-\x9f]"
_END = r"[^\s/\\?#%\x00-\x1f\x7f-\x9f]"
Id = Annotated[str, StringConstraints(max_length=200, pattern=f"^{_END}({_IN}*{_END})?$")]
Text = Annotated[str, StringConstraints(max_length=100_000, pattern=r"[^\s\x00]")]
Short = Annotated[str, StringConstraints(max_length=1_000, pattern=r"[^\s\x00]")]
Word = Annotated[str, StringConstraints(max_length=200, pattern=r"[A-Za-z0-9]")]
Role = Literal["user", "assistant", "system", "tool", "document", "code"]
Kind = Literal["KNOWLEDGE", "RULE", "PREFERENCE"]
Source = Literal["SYSTEM", "USER", "AGENT", "TOOL", "DOCUMENT", "CODE"]
Share = Annotated[float, Field(ge=0, le=1)]


def _readable(moment: datetime) -> datetime:
    if moment.year < FIRST_YEAR:  # zero time of some languages; what is later than now is said now
        raise ValueError(f"years begin at {FIRST_YEAR}; leave it out if it isn't known")
    return moment


SaidAt = Annotated[AwareDatetime, AfterValidator(_readable)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Personal(_Body):
    """A body may name the person, as the address may."""

    user_id: Id | None = Field(None, description="The person; as in the address, or the key's, or default.")


# --- threads and turns ------------------------------------------------------------------------------------------------


class NewThread(Personal):
    thread_id: Id | None = Field(None, description="Your own name for it; one is made if not given.")
    title: Short | None = Field(None, description="A name for people.")


class Thread(BaseModel):
    thread_id: str
    user_id: str
    title: str | None
    created_at: datetime
    turns: int
    last_turn_at: datetime | None


class Threads(BaseModel):
    threads: list[Thread]


class Message(_Body):
    role: Role = "user"
    content: Text
    created_at: SaidAt | None = Field(None, description="When it was said; now, if not given.")
    source_key: Short | None = Field(None, description="Your own id of it; storing it again adds nothing.")


class _Ingest(Personal):
    thread_id: Id | None = Field(None, description="The conversation; without one it is seen from all of them.")


class IngestText(_Ingest):
    """One message."""

    content: Text
    role: Role = "user"
    created_at: SaidAt | None = Field(None, description="When it was said; now, if not given.")


class IngestMessages(_Ingest):
    """Several messages of one conversation, in order, stored all or not at all."""

    messages: list[Message] = Field(min_length=1, max_length=500)


class IngestedTurn(BaseModel):
    turn_id: int
    outcome: Literal["stored", "known", "repeated"] = Field(
        description="known: there already under its source_key. repeated: the request was, under its Idempotency-Key."
    )
    status: Literal["pending", "running", "waiting", "failed", "read", "done"] | None = Field(
        None, description="How far the reading of facts has come; null for turns that nobody reads."
    )


class Learned(BaseModel):
    """What a turn did to the beliefs: an event of the history."""

    event: str
    reason: str | None
    category: str | None
    fact_key: str | None
    fact_value: str | None
    fact_id: UUID | None
    source_turn_id: int | None


class Ingested(BaseModel):
    thread_id: str | None
    user_id: str
    turns: list[IngestedTurn]
    learned: list[Learned] | None = Field(None, description="With wait: what the turns did to the beliefs.")


class StoredMessage(BaseModel):
    turn_id: int
    position: int
    role: Role
    content: str
    created_at: datetime
    source_key: str | None


class Messages(BaseModel):
    messages: list[StoredMessage]


# --- facts ------------------------------------------------------------------------------------------------------------


class _Said(Personal):
    source: Source = Field("USER", description="Who says so; SYSTEM needs a key of role admin.")
    confidence: Share = 1.0
    evidence: Text | None = Field(None, description="The words that say so.")
    observed_at: SaidAt | None = Field(None, description="When it was said; now, if not given.")


class NewFact(_Said):
    text: Text = Field(description="The fact, word for word.")
    kind: Kind = "KNOWLEDGE"
    category: Word = "note"
    fact_key: Word | None = Field(None, description="The attribute; made from the words, if not given.")
    thread_id: Id | None = Field(None, description="The conversation it holds for; all of them, if not given.")


class FactChange(_Said):
    text: Text = Field(description="What holds from now on, word for word.")
    kind: Kind | None = None
    fact_key: Word | None = None


class Fact(BaseModel):
    fact_id: UUID
    thread_id: str | None = Field(description="The conversation it holds for; null for all of them.")
    category: str
    fact_key: str
    fact_value: str
    kind: Kind
    source: Source
    confidence: float
    observed_at: datetime
    slot: str | None = None
    evidence: str | None = None


class Facts(BaseModel):
    facts: list[Fact]


class FactEvent(BaseModel):
    """An event of a fact's history: what was said, and what was believed before and after."""

    event_id: int
    recorded_at: datetime
    event: str
    reason: str | None
    fact_id: UUID | None
    thread_id: str | None
    category: str | None
    fact_key: str | None
    fact_value: str | None
    kind: str | None
    source: str | None
    confidence: float | None
    observed_at: datetime | None
    evidence: str | None
    source_turn_id: int | None
    before_category: str | None
    before_key: str | None
    before_value: str | None
    after_category: str | None
    after_key: str | None
    after_value: str | None


class FactHistory(BaseModel):
    history: list[FactEvent]


class Question(Personal):
    query: Text = Field(description="What is asked.")
    thread_id: Id | None = Field(
        None, description="Only what holds in this conversation; the whole memory, if not given."
    )
    kinds: list[Kind] | None = Field(None, max_length=3, description="Only facts of these kinds.")
    k: int = Field(10, ge=0, le=100, description="How many facts besides the rules, which come always.")
    min_score: float = Field(0.1, ge=-1, le=3, description="Less near facts are left out.")
    turns: int = Field(0, ge=0, le=50, description="Also so many earlier messages that matter to the question.")
    context: bool = Field(False, description="Also one text for a model to read before it answers.")


class FoundFact(Fact):
    score: float


class FoundTurn(BaseModel):
    turn_id: int
    thread_id: str | None
    role: Role
    content: str
    created_at: datetime
    score: float


class Retrieved(BaseModel):
    facts: list[FoundFact]
    turns: list[FoundTurn]
    context: str | None = None


# --- records and SQL --------------------------------------------------------------------------------------------------


class Statement(Personal):
    sql: Annotated[str, StringConstraints(min_length=1, max_length=20_000)] = Field(
        description="One SELECT over the person's own rows; from a writer also an INSERT, UPDATE or DELETE of facts."
    )
    source: Source = Field("USER", description="For what is written: who says so.")
    limit: int = Field(1_000, ge=1, le=10_000, description="At most so many rows.")


class Rows(BaseModel):
    columns: list[str]
    rows: list[list[Any]]
    truncated: bool = Field(description="Whether there were more rows.")


class Written(BaseModel):
    rows: int
    events: dict[str, int]
    refused: list[dict[str, Any]] = []


class Told(Personal):
    message: Text = Field(description="What the person says: paid Ana $20, how much did I pay this week?")
    timezone: Short | None = Field(
        None, description="Where the person is, for example Europe/Berlin; UTC if not given."
    )
    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")


class Asked(Personal):
    question: Text = Field(description="A question about the person's records.")
    timezone: Short | None = Field(
        None, description="Where the person is, for example Europe/Berlin; UTC if not given."
    )


class NewKey(Personal):
    role: AccessRole = "reader"
    label: Short | None = Field(None, description="What the key is for.")


class StoredKey(BaseModel):
    key_id: str
    agent_id: str
    user_id: str | None = Field(description="The one person it opens; null for every person of the agent.")
    role: AccessRole
    label: str | None
    created_at: datetime
    revoked_at: datetime | None


class MadeKey(StoredKey):
    secret: str = Field(description="The key. Keep it: only its hash is stored.")


class Keys(BaseModel):
    keys: list[StoredKey]


class Health(BaseModel):
    status: Literal["ok", "degraded"]
    version: str
    worker: Literal["alive", "dead"]
