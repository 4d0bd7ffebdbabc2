"""Routes of the Compare page: several runs' settings, evaluations and curves beside each other."""

from __future__ import annotations

from typing import Any

from starlette.routing import BaseRoute

from backend.text import Text
from ui.door import Door
from ui.wire import BadRequest, Call, route


def ids(call: Call) -> list[str]:
    """`runs=a,b,c` of the query."""
    return [each for each in call.request.query_params.get("runs", "").split(",") if each]


def overview(call: Call) -> dict[str, Any]:
    return call.services.compare.of(ids(call))


def curves(call: Call) -> dict[str, Any]:
    query = call.request.query_params
    try:
        smoothing = float(query.get("smoothing", "0"))
    except ValueError as error:
        raise BadRequest(
            Text(en="'smoothing' must be a number from 0 to 0.95.", ko="'smoothing'은 0에서 0.95 사이의 수여야 합니다.")
        ) from error
    return call.services.compare.curves(ids(call), query.get("name", ""), query.get("axis", "step"), smoothing)


def routes(services: Door) -> list[BaseRoute]:
    return [
        route(services, "/api/compare", overview),
        route(services, "/api/compare/curves", curves),
    ]
