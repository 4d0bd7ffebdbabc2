"""The routes that a public Space answers, and those that it does not. A second wall: the first one is at the services.

A route that stands in neither list is closed there, and a test asks for its place.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from backend.demo import words
from backend.errors import Forbidden
from ui.wire import failure

RUN = "/api/runs/{run_id}"
OPEN = frozenset(
    {
        "GET /api/panels", "GET /api/texts", "GET /api/device", "GET /api/schema",
        "POST /api/check", "POST /api/pasted", "GET /api/demo", "GET /api/queue", "POST /api/recordings/open",
        "GET /api/runs", "POST /api/runs", f"GET {RUN}", f"DELETE {RUN}", f"POST {RUN}/stop",
        f"GET {RUN}/live", f"GET {RUN}/history", f"GET {RUN}/headline", f"GET {RUN}/metrics.csv", f"GET {RUN}/samples",
        f"GET {RUN}/log", f"GET {RUN}/diagnosis",
        f"GET {RUN}/samples/find", f"GET {RUN}/samples/newer", f"GET {RUN}/samples/at",
        f"GET {RUN}/samples/groups/{{group:int}}", f"GET {RUN}/samples/groups/{{group:int}}/{{index:int}}",
        f"GET {RUN}/samples/prompts", f"GET {RUN}/samples/prompt", f"GET {RUN}/samples/budget",
        f"GET {RUN}/samples/budget.csv", f"GET {RUN}/samples/histogram", f"GET {RUN}/samples/scatter",
        f"GET {RUN}/samples/ways", f"GET {RUN}/samples/export",
        f"GET {RUN}/evaluations", f"GET {RUN}/evaluation", f"GET {RUN}/evaluation/items", f"GET {RUN}/timeline",
        f"GET {RUN}/control", f"GET {RUN}/report", f"GET {RUN}/card", f"GET {RUN}/exports",
        "GET /api/data/sets", "GET /api/data/sets/{name}", "GET /api/data/generators",
        "GET /api/custom",
        "GET /api/lab/setup", "GET /api/lab/rows", "POST /api/lab/table", "POST /api/lab/audit",
        "POST /api/lab/advantages", "POST /api/lab/conflicts", "POST /api/lab/replay", "GET /api/lab/jobs/{job}",
        "POST /api/lab/jobs/{job}/stop", "GET /api/lab/probe/{run_id}",
        "POST /api/chat/ask", "GET /api/chat/sides", "GET /api/chat/problem", "POST /api/chat/logprobs",
        "GET /api/chat/state", "POST /api/chat/stop", "GET /api/chat/chats", "GET /api/chat/chats/{chat}",
        "DELETE /api/chat/chats/{chat}", "GET /api/chat/chats/{chat}/export",
        "GET /api/compare", "GET /api/compare/curves",
        "GET /api/sweeps", "GET /api/sweeps/{sweep}", "GET /api/sweeps/{sweep}/results.csv",
        "* /api/{rest:path}",
    }
)  # fmt: skip
CLOSED = frozenset(
    {
        f"POST {RUN}/next", "POST /api/sweeps", "POST /api/sweeps/plan", "POST /api/sweeps/{sweep}/stop",
        "POST /api/sweeps/{sweep}/resume", "DELETE /api/sweeps/{sweep}",
        f"POST {RUN}/diagnosis", f"POST {RUN}/resume", f"POST {RUN}/evaluations", f"POST {RUN}/control",
        f"POST {RUN}/exports", f"GET {RUN}/exports/{{name}}.zip", f"DELETE {RUN}/exports/{{name}}",
        f"POST {RUN}/exports/{{name}}/verify", f"POST {RUN}/push", f"GET {RUN}/disk", f"POST {RUN}/clean",
        "GET /api/disk", "GET /api/exports/jobs/{job}", "POST /api/exports/jobs/{job}/stop",
        "POST /api/data/upload", "POST /api/data/sets", "DELETE /api/data/sets/{name}", "POST /api/data/check",
        "POST /api/data/make", "POST /api/data/best_of", "GET /api/data/tasks",
        "POST /api/custom/look", "POST /api/custom/test", "POST /api/custom/save", "GET /api/custom/rewards/{name}",
        "DELETE /api/custom/rewards/{name}",
        "POST /api/attach", "GET /api/attach/jobs/{job}", "POST /api/attach/jobs/{job}/stop",
        "POST /api/lab/probe/{run_id}/filter", "POST /api/chat/free",
    }
)  # fmt: skip


def names(route: BaseRoute) -> list[str]:
    """ "GET /api/runs", as the lists above call a route; `*` for one that takes what no other does."""
    assert isinstance(route, Route)
    methods = (route.methods or set()) - {"HEAD"}
    return [f"* {route.path}"] if len(methods) > 1 else [f"{method} {route.path}" for method in methods]


def for_public(routes: list[BaseRoute]) -> list[BaseRoute]:
    """The same routes, those that are not open answering 403 in words without reading anything."""
    return [route if set(names(route)) <= OPEN else _closed(route) for route in routes]


def _closed(route: BaseRoute) -> Route:
    async def endpoint(_request: Request) -> Response:
        return failure(Forbidden(words.REFUSED))

    assert isinstance(route, Route)
    return Route(route.path, endpoint, methods=sorted((route.methods or set()) - {"HEAD"}))
