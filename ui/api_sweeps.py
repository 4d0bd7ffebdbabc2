"""Routes of sweeps: thin doors onto `services.sweeps`."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute

from backend.errors import NotFound
from backend.settings import RUN_ID
from backend.text import Text
from ui.api import run_json
from ui.door import Door
from ui.wire import Call, answer, route


def sweep_id(call: Call) -> str:
    """The id in the address; ids of sweeps have the form of a run's."""
    found = call.request.path_params["sweep"]
    if not RUN_ID.fullmatch(found):
        raise NotFound(Text(en=f"There is no sweep {found!r}.", ko=f"{found!r} 스윕을 찾을 수 없습니다."))
    return found


def plan(call: Call) -> dict[str, Any]:
    """What the sweep in "sweep" would do. 422 with "field" where it cannot be understood."""
    return call.services.sweeps.plan(call.mapping("sweep"))


def start(call: Call) -> Response:
    """201 with the sweep; 422 with "report" (the plan) where points break a rule, with "preflight" for the rewards."""
    return answer(call.services.sweeps.start(call.mapping("sweep"), accept=call.texts("accept")), 201)


def csv(call: Call) -> Response:
    found = sweep_id(call)
    headers = {"Content-Disposition": f'attachment; filename="sweep-{found}.csv"', "Cache-Control": "no-cache"}
    return Response(call.services.sweeps.csv(found), headers=headers, media_type="text/csv; charset=utf-8")


def stop(call: Call) -> dict[str, Any]:
    return call.services.sweeps.stop(sweep_id(call), now=call.body.get("now") is True)


def resume(call: Call) -> dict[str, Any]:
    return call.services.sweeps.resume(sweep_id(call), failed=call.body.get("failed") is True)


def delete(call: Call) -> dict[str, Any]:
    found = sweep_id(call)
    call.services.sweeps.delete(found, with_runs=call.request.query_params.get("runs") == "1")
    return {"deleted": found}


def routes(services: Door) -> list[BaseRoute]:
    one = "/api/sweeps/{sweep}"
    return [
        route(services, "/api/sweeps", lambda c: {"sweeps": c.services.sweeps.list()}),
        route(services, "/api/sweeps", start, "POST"),
        route(services, "/api/sweeps/plan", plan, "POST"),
        route(services, one, lambda c: c.services.sweeps.show(sweep_id(c))),
        route(services, one, delete, "DELETE"),
        route(services, f"{one}/results.csv", csv),
        route(services, f"{one}/stop", stop, "POST"),
        route(services, f"{one}/resume", resume, "POST"),
        route(services, "/api/runs/{run_id}/next", lambda c: run_json(c.services.run_next(c.run_id)), "POST"),
    ]
