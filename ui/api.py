"""The page's own routes under /api: thin doors onto Services. Errors are {"error": {"en", "ko"}}, never a traceback."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import logging
import math
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from backend.config.legacy import translate
from backend.config.pasted import read_pasted
from backend.errors import NotFound, Refused, StudioError, WrongState
from backend.export import cell, metrics_csv, safe_header
from backend.headline import for_run
from backend.settings import RUN_ID
from backend.text import Text
from ui.panels import Panel, find_panels, panels_json
from ui.tabs import find_tabs
from ui.text import all_texts

log = logging.getLogger(__name__)
LARGEST_BODY = 2_000_000
FAULT = Text(
    en="Something went wrong on the server. The server's log has the details.",
    ko="서버에서 문제가 발생했습니다. 자세한 내용은 서버 로그에 있습니다.",
)
Handler = Callable[["Call"], Any]


class Door(Protocol):
    """What the routes need of backend.services.Services."""

    reader: Any

    def runs(self) -> list[dict[str, Any]]: ...
    def show(self, run_id: str) -> dict[str, Any]: ...
    def live(self, run_id: str, after: int = 0, revision: int = -1, group_after: int = 0) -> dict[str, Any]: ...
    def history(self, run_id: str, points: int = 2000) -> dict[str, Any]: ...
    def samples(self, run_id: str, step: int | None = None, limit: int = 8) -> list[dict[str, Any]]: ...
    def log(self, run_id: str, after: int = 0) -> dict[str, Any]: ...
    def schema(self) -> dict[str, Any]: ...
    def device(self) -> dict[str, Any]: ...
    def check(self, raw: Mapping[str, Any], preset: str | None = None) -> Any: ...
    def start(self, raw: Mapping[str, Any], preset: str | None = None) -> Any: ...
    def stop(self, run_id: str, now: bool = False) -> Any: ...
    def resume(self, run_id: str, changes: Mapping[str, Any] | None = None) -> Any: ...
    def delete(self, run_id: str) -> None: ...


class BadRequest(StudioError):
    """The request itself is malformed; 422 with the field and what would do."""


class Call:
    """One request, its body already read, with typed access to its parameters."""

    def __init__(self, services: Door, request: Request, body: dict[str, Any]) -> None:
        self.services = services
        self.request = request
        self.body = body

    @property
    def run_id(self) -> str:
        run_id = self.request.path_params["run_id"]
        if not RUN_ID.fullmatch(run_id):
            raise NotFound(Text(en=f"There is no run {run_id!r}.", ko=f"{run_id!r} 실행을 찾을 수 없습니다."))
        return run_id

    def number(self, name: str, default: int, low: int = 0, high: int = 2**62) -> int:
        raw = self.request.query_params.get(name)
        if raw is None or raw == "":
            return default
        try:
            value = int(raw)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise BadRequest(
                Text(
                    en=f"{name}={raw!r} is not a whole number from {low} to {high}.",
                    ko=f"{name}={raw!r}: {low}에서 {high} 사이의 정수여야 합니다.",
                )
            )
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.body.get(name, {})
        if not isinstance(value, dict):
            raise BadRequest(Text(en=f"{name!r} must be a JSON object.", ko=f"{name!r}은(는) JSON 객체여야 합니다."))
        return value

    def text(self, name: str) -> str | None:
        value = self.body.get(name)
        if value is not None and not isinstance(value, str):
            raise BadRequest(Text(en=f"{name!r} must be text.", ko=f"{name!r}은(는) 문자열이어야 합니다."))
        return value


def finite(value: Any) -> Any:
    """The same JSON value with NaN and infinities as null: JSON has no word for them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def encode(data: Any) -> bytes:
    """UTF-8 JSON that any reader takes: no NaN, no lone surrogate."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(finite(data), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", errors="replace")


def answer(data: Any, status: int = 200, request: Request | None = None) -> Response:
    """A JSON answer. A repeated GET whose answer is the same costs a 304 and no body."""
    body = encode(data)
    headers = {"Cache-Control": "no-cache"}
    if request is not None and request.method == "GET" and status == 200 and len(body) > 256:
        headers["ETag"] = f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
    return Response(body, status, headers, "application/json")


def failure(error: StudioError) -> Response:
    body: dict[str, Any] = {"error": error.text.to_json()}
    check = getattr(error, "check", None)
    if check is not None:
        body["check"] = check_json(check)
    status = 404 if isinstance(error, NotFound) else 409 if isinstance(error, WrongState) else 422
    return answer(body, status)


def check_json(check: Any) -> dict[str, Any]:
    """A Check with both languages at each message, as the form needs it."""
    english, korean = check.to_json("en"), check.to_json("ko")
    return both(english, korean)


def both(english: Any, korean: Any) -> Any:
    """Two renderings of one JSON value as one, a text that differs between them as {"en", "ko"}."""
    if isinstance(english, dict) and isinstance(korean, dict):
        return {key: both(value, korean.get(key)) for key, value in english.items()}
    if isinstance(english, list) and isinstance(korean, list) and len(english) == len(korean):
        return [both(a, b) for a, b in zip(english, korean, strict=True)]
    if isinstance(english, str) and isinstance(korean, str) and english != korean:
        return {"en": english, "ko": korean}
    return english


async def read_body(request: Request) -> dict[str, Any]:
    if request.method not in {"POST", "PUT", "PATCH"}:
        return {}
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > LARGEST_BODY:
            raise BadRequest(Text(en="The request is larger than 2 MB.", ko="요청이 2 MB보다 큽니다."))
        chunks.append(chunk)
    raw = b"".join(chunks)
    if not raw.strip():
        return {}
    try:
        body = json.loads(raw)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise BadRequest(Text(en="The body must be a JSON object.", ko="본문은 JSON 객체여야 합니다."))
    return body


def route(services: Door, path: str, handler: Handler, method: str = "GET", status: int = 200) -> Route:
    """`handler(call)` in a worker thread, its result as JSON (or as it is, when it is a Response already)."""

    async def endpoint(request: Request) -> Response:
        try:
            call = Call(services, request, await read_body(request))
            data = await run_in_threadpool(handler, call)
        except StudioError as error:
            return failure(error)
        except Exception:
            log.exception("%s %s", request.method, request.url.path)
            return answer({"error": FAULT.to_json()}, 500)
        return data if isinstance(data, Response) else answer(data, status, request)

    return Route(path, endpoint, methods=[method])


def run_json(run: Any) -> dict[str, Any]:
    """{"run": RunView} of what start, stop and resume return."""
    return {"run": {"id": run.id, "name": run.name, "state": str(run.state)}}


def start(call: Call) -> Response:
    try:
        run = call.services.start(call.mapping("values"), preset=call.text("preset"))
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
    run = call.services.show(call.run_id)
    ended = run["ended_at"] is not None
    return for_run(call.services.reader, call.run_id, run["evaluations"], ended, run["stage"]).to_json()


def metrics_csv_of(call: Call) -> Response:
    """One row a step, columns as the trainer names them; with `panel=`, only those that this chart shows."""
    wanted = call.request.query_params.get("panel")
    panel = next((panel for panel in find_panels() if panel.id == wanted), None)
    if wanted and panel is None:
        raise NotFound(Text(en=f"There is no chart {wanted!r}.", ko=f"{wanted!r} 차트가 없습니다."))
    call.services.show(call.run_id)
    reader = call.services.reader
    text = panel_csv(reader, call.run_id, panel) if panel else "".join(metrics_csv(reader, call.run_id))
    name = f"{call.run_id}-{panel.id if panel else 'metrics'}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-cache"}
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")


def panel_csv(reader: Any, run_id: str, panel: Panel) -> str:
    """The table of one chart: step, then a column a curve; a value that was not logged is an empty cell."""
    table: dict[int, dict[str, float]] = {}
    for phase in sorted({series.phase for series in panel.series}):
        patterns = [series.name for series in panel.series if series.phase == phase]
        for step, values in reader.table(run_id, phase):
            chosen = {k: v for k, v in values.items() if any(fnmatchcase(k, p) for p in patterns)}
            if chosen:
                table.setdefault(step, {}).update(chosen)
    names = sorted({name for values in table.values() for name in values})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["step", *(safe_header(name) for name in names)])
    writer.writerows([step, *(cell(table[step].get(name)) for name in names)] for step in sorted(table))
    return out.getvalue()


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
        Route("/api/{rest:path}", nowhere, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
    ]
