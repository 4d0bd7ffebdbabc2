"""The page's JSON over HTTP: reading requests, answering, and errors as {"error": {"en", "ko"}}, never a traceback."""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from backend.errors import Forbidden, NotFound, StudioError, TooMany, WrongState
from backend.settings import RUN_ID, on_space
from backend.text import Text
from ui.door import Door

log = logging.getLogger(__name__)
LARGEST_BODY = 2_000_000
LARGEST_PUBLIC = 300_000  # on a Space: the largest thing to send there is the bench's rows
INLINE = 10_000  # bytes that are read as JSON in the event loop; more of them in a thread
DEEPEST = 100  # levels of lists and objects in a body; every reader after this one may recurse
FAULT = Text(
    en="Something went wrong on the server. The server's log has the details.",
    ko="서버에서 문제가 발생했습니다. 자세한 내용은 서버 로그에 있습니다.",
)
Handler = Callable[["Call"], Any]
STATUS: dict[type[StudioError], int] = {NotFound: 404, WrongState: 409, TooMany: 429, Forbidden: 403}


class BadRequest(StudioError):
    """The request itself is malformed; 422 with the field and what would do."""


TOO_DEEP = BadRequest(
    Text(
        en=f"The values are nested too deeply: more than {DEEPEST} levels.",
        ko=f"값이 너무 깊이 중첩되어 있습니다({DEEPEST}단계까지 가능).",
    )
)


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
                    en=f"{name}={raw!r:.200} is not a whole number from {low} to {high}.",
                    ko=f"{name}={raw!r:.200}: {low}에서 {high} 사이의 정수여야 합니다.",
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

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; none at all where the body does not name it."""
        value = self.body.get(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise BadRequest(
                Text(en=f"{name!r} must be a list of texts.", ko=f"{name!r}은(는) 문자열 목록이어야 합니다.")
            )
        return tuple(value)


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
    field = getattr(error, "field", None)
    if isinstance(field, str):
        body["field"] = field  # where on a form the words belong
    check = getattr(error, "check", None)
    if check is not None:
        body["check"] = check_json(check)
    preflight = getattr(error, "preflight", None)
    if preflight is not None:
        body["preflight"] = preflight
    report = getattr(error, "report", None)
    if report is not None:
        body["report"] = report
    return answer(body, next((status for kind, status in STATUS.items() if isinstance(error, kind)), 422))


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


def depth_beyond(value: Any, limit: int) -> bool:
    """Whether lists and objects stand in one another more than `limit` times."""
    level = [value]
    for _ in range(limit + 1):
        level = [
            item
            for outer in level
            if isinstance(outer, dict | list)
            for item in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


async def read_body(request: Request) -> dict[str, Any]:
    if request.method not in {"POST", "PUT", "PATCH"}:
        return {}
    chunks: list[bytes] = []
    size, most = 0, LARGEST_PUBLIC if on_space() else LARGEST_BODY
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            shown = f"{most // 1_000_000} MB" if most >= 1_000_000 else f"{most // 1000} kB"
            raise BadRequest(Text(en=f"The request is larger than {shown}.", ko=f"요청이 {shown}보다 큽니다."))
        chunks.append(chunk)
    raw = b"".join(chunks)
    return parsed(raw) if len(raw) <= INLINE else await run_in_threadpool(parsed, raw)


def parsed(raw: bytes) -> dict[str, Any]:
    """The object that a body holds; BadRequest for anything else."""
    if not raw.strip():
        return {}
    try:
        body = json.loads(raw)
    except ValueError:
        body = None
    except RecursionError as error:
        raise TOO_DEEP from error
    # No value lies deeper than its text has brackets.
    if raw.count(b"[") + raw.count(b"{") > DEEPEST and depth_beyond(body, DEEPEST):
        raise TOO_DEEP
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
        except RecursionError:
            return failure(TOO_DEEP)
        except Exception:
            log.exception("%s %s", request.method, request.url.path)
            return answer({"error": FAULT.to_json()}, 500)
        return data if isinstance(data, Response) else answer(data, status, request)

    return Route(path, endpoint, methods=[method])
