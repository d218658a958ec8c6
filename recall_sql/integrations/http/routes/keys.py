"""Keys of one agent, made and revoked while the server holds the file."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from starlette.exceptions import HTTPException

from recall_sql.access import Key, add_key, keys, revoke_key
from recall_sql.integrations.http import shapes
from recall_sql.integrations.http.caller import Admin, Caller
from recall_sql.integrations.http.problems import described

router = APIRouter(prefix="/v1/agents/{agent_id}", tags=["keys"])
KeyId = Annotated[str, Path(pattern="^[0-9a-f]{8}$", description="The public part of the key.")]


@router.post("/keys", status_code=201, responses=described())
def make_key(caller: Admin, body: shapes.NewKey, response: Response) -> shapes.MadeKey:
    """Make a key for this agent. The answer holds its secret, which can't be had again."""
    user_id = caller.user(body.user_id) if body.user_id or caller.principal.user_id else None
    secret, key = add_key(
        caller.service.con, agent_id=caller.agent_id, user_id=user_id, role=body.role, label=body.label
    )
    response.headers["Cache-Control"] = "no-store"
    return shapes.MadeKey(secret=secret, **_shaped(key).model_dump())


@router.get("/keys", responses=described())
def list_keys(caller: Admin) -> shapes.Keys:
    """The keys of this agent, revoked ones too, without their secrets."""
    return shapes.Keys(keys=[_shaped(key) for key in _seen(caller)])


@router.delete("/keys/{key_id}", status_code=204, responses=described(404))
def end_key(caller: Admin, key_id: KeyId) -> None:
    """From now on the key opens nothing."""
    if key_id not in {key.key_id for key in _seen(caller)}:
        raise HTTPException(404, "there is no such key")
    revoke_key(caller.service.con, key_id)


def _seen(caller: Caller) -> list[Key]:
    """The agent's; of them the person's, where the caller's own key is for one person."""
    bound = caller.principal.user_id
    return [key for key in keys(caller.service.con) if key.agent_id == caller.agent_id and bound in (None, key.user_id)]


def _shaped(key: Key) -> shapes.StoredKey:
    return shapes.StoredKey(**{name: getattr(key, name) for name in shapes.StoredKey.model_fields})
