"""The routes of stored data sets: list, bring a file in, check, store, make. Thin doors onto Services.data."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from typing import Any

import anyio.from_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from backend.errors import Refused, StudioError
from backend.text import Text
from ui.door import Door
from ui.wire import FAULT, BadRequest, Call, answer, failure, route

log = logging.getLogger(__name__)


def needed(call: Call, name: str) -> str:
    """A text of the body that must be there; BadRequest with its name."""
    value = call.text(name)
    if not value:
        raise BadRequest(Text(en=f"{name!r} is missing.", ko=f"{name!r} 값이 없습니다."))
    return value


def source(call: Call) -> str:
    """What to read: the id of an upload, or a path on this machine, which on a public Space is nobody's to name."""
    path = call.text("path")
    if path and os.environ.get("SPACE_ID"):
        raise Refused(
            Text(
                en="path: this is a public Space, so files of its machine cannot be named; upload the file.",
                ko="path: 공개 Space에서는 서버의 파일을 지정할 수 없습니다. 파일을 올리세요.",
            )
        )
    return path or needed(call, "upload")


def sets(call: Call) -> dict[str, Any]:
    return {"sets": call.services.data.sets()}


def show(call: Call) -> dict[str, Any]:
    return call.services.data.show(call.request.path_params["name"], limit=call.number("limit", 50, 1, 200))


def delete(call: Call) -> dict[str, Any]:
    name = call.request.path_params["name"]
    call.services.data.delete(name)
    return {"deleted": name}


def check(call: Call) -> dict[str, Any]:
    return call.services.data.check(source(call), call.mapping("mapping"))


def store(call: Call) -> dict[str, Any]:
    return {"set": call.services.data.store(source(call), needed(call, "name"), call.mapping("mapping"))}


def make(call: Call) -> dict[str, Any]:
    made = call.services.data.make(needed(call, "generator"), needed(call, "name"), call.mapping("args"))
    return {"set": made}


def pulled(request: Request) -> Iterator[bytes]:
    """The body's chunks, for a worker thread: each one is asked of the event loop as it is wanted."""
    stream = request.stream()

    async def following() -> bytes | None:
        return await anext(stream, None)

    while (chunk := anyio.from_thread.run(following)) is not None:
        yield chunk


def upload_route(services: Door) -> Route:
    """POST /api/data/upload?name=FILE with the file itself as the body -> {"upload": id}. Never held in memory."""

    async def endpoint(request: Request) -> Response:
        name = request.query_params.get("name", "")
        try:
            found = await run_in_threadpool(services.data.upload, name, pulled(request))
        except StudioError as error:
            return failure(error)
        except ClientDisconnect:
            return Response(status_code=400)  # cancelled: nobody listens
        except Exception:
            log.exception("upload of %r", name)
            return answer({"error": FAULT.to_json()}, 500)
        return answer({"upload": found}, 201)

    return Route("/api/data/upload", endpoint, methods=["POST"])


def routes(services: Door) -> list[BaseRoute]:
    handlers: list[tuple[str, str, Callable[[Call], Any], int]] = [
        ("/api/data/sets", "GET", sets, 200),
        ("/api/data/sets", "POST", store, 201),
        ("/api/data/sets/{name}", "GET", show, 200),
        ("/api/data/sets/{name}", "DELETE", delete, 200),
        ("/api/data/check", "POST", check, 200),
        ("/api/data/make", "POST", make, 201),
    ]
    return [
        upload_route(services),
        *(route(services, path, run, method, status) for path, method, run, status in handlers),
    ]
