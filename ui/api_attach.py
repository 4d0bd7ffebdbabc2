"""The route that takes in a run of plain TRL: a job, since a long training has many files."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute

from backend.text import Text
from ui.door import Door
from ui.jobs import Jobs, Work
from ui.wire import Call, answer, route

WORK = Jobs(
    1,
    Text(
        en="Another folder is being taken in. Wait for its end, then try again.",
        ko="다른 폴더를 가져오는 중입니다. 끝난 뒤 다시 시도하세요.",
    ),
)


def attach(call: Call) -> Response:
    """{"path", "name"?, "groups_every"?} -> a job (ui.jobs) whose answer is AttachService.attach's."""
    path, name = call.text("path") or "", call.text("name") or ""
    every = call.body.get("groups_every", 1)
    attaching = call.services.attaching
    work: Work = lambda progress: attaching.attach(path, name, groups_every=every, progress=progress)  # noqa: E731
    return answer(WORK.start(work), 202)


def routes(services: Door) -> list[BaseRoute]:
    return [
        route(services, "/api/attach", attach, "POST"),
        route(services, "/api/attach/jobs/{job}", lambda c: WORK.get(c.request.path_params["job"])),
        route(services, "/api/attach/jobs/{job}/stop", lambda c: WORK.stop(c.request.path_params["job"]), "POST"),
    ]
