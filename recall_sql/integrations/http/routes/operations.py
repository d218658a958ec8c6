"""How the server does."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

import recall_sql
from recall_sql.integrations.http import shapes
from recall_sql.integrations.http.caller import AnyAdmin
from recall_sql.integrations.http.problems import described
from recall_sql.integrations.http.service import Service

router = APIRouter(tags=["operations"])


@router.get("/healthz", responses={503: {"model": shapes.Health}})
def health(request: Request, response: Response) -> shapes.Health:
    """Whether it works. Needs no key."""
    service: Service = request.app.state.service
    service.con.execute("select 1").fetchall()
    alive = service.worker.alive
    response.status_code = 200 if alive else 503
    return shapes.Health(
        status="ok" if alive else "degraded", version=recall_sql.__version__, worker="alive" if alive else "dead"
    )


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}, **described()})
def metrics(caller: AnyAdmin) -> Response:
    """Numbers in Prometheus' text format."""
    service = caller.service
    return Response(service.metrics.text(service.con, service.worker), media_type="text/plain; version=0.0.4")
