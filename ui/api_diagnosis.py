"""The routes of the diagnosis: a run's report, and judging it again."""

from __future__ import annotations

from starlette.routing import BaseRoute

from ui.door import Door
from ui.wire import route


def routes(services: Door) -> list[BaseRoute]:
    run = "/api/runs/{run_id}"
    return [
        route(services, f"{run}/diagnosis", lambda c: c.services.diagnosis.report(c.run_id)),
        route(services, f"{run}/diagnosis", lambda c: c.services.diagnosis.again(c.run_id), "POST"),
    ]
