"""The page's own routes under /api: thin doors onto Services."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

import ui
from backend.config.legacy import translate
from backend.config.pasted import read_pasted
from backend.errors import NotFound, Refused
from backend.text import Text
from ui.door import Door
from ui.panel_csv import panel_csv
from ui.panels import find_panels, panels_json
from ui.tabs import find_tabs
from ui.text import all_texts
from ui.wire import Call, answer, check_json, failure, route


def run_json(run: Any) -> dict[str, Any]:
    """{"run": RunView} of what start, stop and resume return."""
    return {"run": {"id": run.id, "name": run.name, "state": str(run.state)}}


def start(call: Call) -> Response:
    """201 with the run; 422 with "check" where a rule is broken, with "preflight" where the checks of the rewards and
    rows stop it or warn. `accept` names the warnings that the person has seen and passes over."""
    try:
        run = call.services.start(call.mapping("values"), preset=call.text("preset"), accept=call.texts("accept"))
    except Refused as refused:
        return failure(refused)
    return answer(run_json(run), 201)


def pasted(call: Call) -> dict[str, Any]:
    """{"values", "notes", "errors"} of a pasted configuration, its old names mapped. Nothing is checked or kept."""
    values, notes, problems = translate(read_pasted(call.text("text") or ""))
    return {
        "values": values,
        "notes": [note.to_json() for note in notes],
        "errors": [problem.to_json() for problem in problems],
    }


def delete(call: Call) -> dict[str, Any]:
    call.services.delete(call.run_id)
    return {"deleted": call.run_id}


def samples(call: Call) -> dict[str, Any]:
    step = call.request.query_params.get("step")
    chosen = call.number("step", 0) if step not in {None, ""} else None
    return {"groups": call.services.samples(call.run_id, step=chosen, limit=call.number("limit", 4, 1, 64))}


def headline(call: Call) -> dict[str, Any]:
    return call.services.headline(call.run_id)


def metrics_csv_of(call: Call) -> Response:
    """One row a step, columns as the trainer names them; with `panel=`, only those that this chart shows."""
    wanted = call.request.query_params.get("panel")
    panel = next((panel for panel in find_panels() if panel.id == wanted), None)
    if wanted and panel is None:
        raise NotFound(Text(en=f"There is no chart {wanted!r}.", ko=f"{wanted!r} 차트가 없습니다."))
    services = call.services
    text = panel_csv(services, call.run_id, panel) if panel else services.metrics_csv(call.run_id)
    name = f"{call.run_id}-{panel.id if panel else 'metrics'}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-cache"}
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")


def boot(call: Call) -> dict[str, Any]:
    from ui.layout import plotly_version

    return {"texts": all_texts(), "tabs": [tab.to_json() for tab in find_tabs()], "plotly": plotly_version()}


async def nowhere(request: Request) -> Response:
    """Whatever is asked under /api and is no route: in the same words as every other error."""
    what = f"{request.method} {request.url.path}"
    return failure(NotFound(Text(en=f"There is no {what}.", ko=f"{what}: 그런 주소가 없습니다.")))


def api_routes(services: Door) -> list[BaseRoute]:
    """Every route of the page, in one table."""
    run = "/api/runs/{run_id}"
    return [
        route(services, "/api/panels", lambda c: panels_json()),
        route(services, "/api/texts", boot),
        route(services, "/api/device", lambda c: c.services.device()),
        route(services, "/api/schema", lambda c: c.services.schema()),
        route(
            services,
            "/api/check",
            lambda c: check_json(c.services.check(c.mapping("values"), preset=c.text("preset"))),
            "POST",
        ),
        route(services, "/api/pasted", pasted, "POST"),
        route(services, "/api/runs", lambda c: {"runs": c.services.runs()}),
        route(services, "/api/runs", start, "POST"),
        route(services, run, lambda c: c.services.show(c.run_id)),
        route(services, run, delete, "DELETE"),
        route(
            services,
            f"{run}/live",
            lambda c: c.services.live(
                c.run_id,
                after=c.number("after", 0),
                revision=c.number("revision", -1, low=-1),
                group_after=c.number("group_after", 0),
            ),
        ),
        route(
            services,
            f"{run}/history",
            lambda c: c.services.history(c.run_id, points=c.number("points", 2000, 10, 10_000)),
        ),
        route(services, f"{run}/headline", headline),
        route(services, f"{run}/metrics.csv", metrics_csv_of),
        route(services, f"{run}/samples", samples),
        route(services, f"{run}/log", lambda c: c.services.log(c.run_id, after=c.number("after", 0))),
        route(
            services,
            f"{run}/stop",
            lambda c: run_json(c.services.stop(c.run_id, now=c.body.get("now") is True)),
            "POST",
        ),
        route(services, f"{run}/resume", lambda c: run_json(c.services.resume(c.run_id)), "POST"),
        *more_routes(services),
        Route("/api/{rest:path}", nowhere, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
    ]


def more_routes(services: Door) -> list[BaseRoute]:
    """Those of the modules named ui/api_*.py: each has `routes(services)`."""
    names = [module.name for module in pkgutil.iter_modules(ui.__path__) if module.name.startswith("api_")]
    return [found for name in names for found in importlib.import_module(f"ui.{name}").routes(services)]
