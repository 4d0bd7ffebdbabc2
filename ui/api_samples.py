"""Routes of samples: thin doors onto `services.explorer`."""

from __future__ import annotations

from typing import Any

from starlette.routing import BaseRoute

from backend.samples.filters import NAMES
from backend.samples.listing import MOST
from ui.door import Door
from ui.wire import Call, route

ANYTHING = 2**62


def given(call: Call) -> dict[str, str | None]:
    """The filter as the address has it; which of it can be read, backend.samples.filters says."""
    query = call.request.query_params
    return {name: query[name] for name in NAMES if name in query}


def find(call: Call) -> dict[str, Any]:
    query = call.request.query_params
    return call.services.explorer.find(
        call.run_id,
        given(call),
        cursor=query.get("cursor") or None,
        limit=call.number("limit", 50, 1, MOST),
        newest_first=query.get("order") != "oldest",
    )


def group(call: Call) -> dict[str, Any]:
    return call.services.explorer.group(call.run_id, number(call, "group"), given(call))


def at(call: Call) -> dict[str, Any]:
    """The same by step and place, which is how a finding names a group."""
    phase = call.request.query_params.get("phase") or "train"
    return call.services.explorer.at(call.run_id, call.number("step", 0), call.number("place", 0), phase)


def number(call: Call, name: str) -> int:
    return min(int(call.request.path_params[name]), ANYTHING)


def routes(services: Door) -> list[BaseRoute]:
    run = "/api/runs/{run_id}"
    return [
        route(services, f"{run}/samples/find", find),
        route(
            services,
            f"{run}/samples/newer",
            lambda c: c.services.explorer.newer(c.run_id, given(c), c.number("top", 0)),
        ),
        route(services, f"{run}/samples/at", at),
        route(services, f"{run}/samples/groups/{{group:int}}", group),
        route(
            services,
            f"{run}/samples/groups/{{group:int}}/{{index:int}}",
            lambda c: c.services.explorer.completion(c.run_id, number(c, "group"), number(c, "index")),
        ),
    ]
