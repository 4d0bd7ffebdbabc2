"""The routes of stored data sets: list, bring a file in, check, store, make. Thin doors onto Services.data."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio.from_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from backend.data.uploads import ID, largest, shown_name, too_large
from backend.errors import NotFound, Refused, StudioError
from backend.settings import on_space
from backend.text import Text
from ui.door import Door
from ui.wire import FAULT, BadRequest, Call, answer, failure, route

log = logging.getLogger(__name__)
HUB_NAME = re.compile(r"\w[\w.-]*/[\w.-]+")


def needed(call: Call, name: str) -> str:
    """A text of the body that must be there; BadRequest with its name."""
    value = call.text(name)
    if not value:
        raise BadRequest(Text(en=f"{name!r} is missing.", ko=f"{name!r} 값이 없습니다."))
    return value


def source(call: Call) -> str:
    """What to read: the id of an upload, or a path on this machine, which on a public Space is nobody's to name."""
    path = call.text("path")
    if path and on_space() and (not HUB_NAME.fullmatch(path) or Path(path).exists()):
        raise Refused(
            Text(
                en="path: this is a public Space, so files of its machine cannot be named; upload the file.",
                ko="path: 공개 Space에서는 서버의 파일을 지정할 수 없습니다. 파일을 올리세요.",
            )
        )
    upload = path or needed(call, "upload")
    if not path and not ID.fullmatch(upload):
        raise NotFound(Text(en=f"There is no upload {upload!r}.", ko=f"올린 파일 {upload!r}이(가) 없습니다."))
    return upload


def sets(call: Call) -> dict[str, Any]:
    """`paths`: whether files of this machine can be named."""
    return {"sets": call.services.data.sets(), "largest_upload": largest(), "paths": not on_space()}


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


def generators(call: Call) -> dict[str, Any]:
    return {"generators": call.services.data.generators()}


def tasks(call: Call) -> dict[str, Any]:
    return {"tasks": call.services.data.tasks(call.request.query_params.get("task"))}


def best_of(call: Call) -> dict[str, Any]:
    """Warm-up rows of a run's best completions; `min_reward` null: whatever each prompt's best one earned."""
    least, per_prompt = call.body.get("min_reward"), call.body.get("per_prompt", 1)
    if least is not None and (isinstance(least, bool) or not isinstance(least, int | float)):
        raise BadRequest(Text(en="min_reward must be a number.", ko="min_reward는 숫자여야 합니다."))
    if isinstance(per_prompt, bool) or not isinstance(per_prompt, int) or per_prompt < 1:
        raise BadRequest(
            Text(en="per_prompt must be a whole number from 1.", ko="per_prompt는 1 이상의 정수여야 합니다.")
        )
    made = call.services.data.best_of(needed(call, "run"), needed(call, "name"), least, per_prompt)
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
        size = request.headers.get("content-length", "")
        try:
            if size.isdecimal() and int(size[:20]) > largest():
                raise too_large(shown_name(name), largest())
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
        ("/api/data/best_of", "POST", best_of, 201),
        ("/api/data/generators", "GET", generators, 200),
        ("/api/data/tasks", "GET", tasks, 200),
    ]
    return [
        upload_route(services),
        *(route(services, path, run, method, status) for path, method, run, status in handlers),
    ]
