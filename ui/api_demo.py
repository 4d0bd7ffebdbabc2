"""The routes of recorded runs, of the queue, and of the state of a public demo. Thin doors onto Services.demo."""

from __future__ import annotations

from typing import Any

from starlette.routing import BaseRoute

from ui.door import Door
from ui.wire import Call, route


def opened(call: Call) -> dict[str, Any]:
    """{"recordings": as in GET /api/demo}: those that the body names, all of them where it names none."""
    return {"recordings": call.services.demo.open(list(call.texts("names")))}


def routes(services: Door) -> list[BaseRoute]:
    return [
        route(services, "/api/demo", lambda c: c.services.demo.state()),
        route(services, "/api/queue", lambda c: {"runs": c.services.demo.queue()}),
        route(services, "/api/recordings/open", opened, "POST"),
    ]
