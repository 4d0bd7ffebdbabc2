"""Exports, the report and the card, the hub, and the disk: the page's routes.

Long work is a job (ui.jobs): POST answers it, GET /api/exports/jobs/{job} follows it, its answer is the export.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute

from backend.errors import NotFound
from backend.text import Text
from ui.door import Door
from ui.jobs import Jobs
from ui.wire import BadRequest, Call, route

WORK = Jobs(
    1,
    Text(
        en="An export or an upload is under way already. Wait for it or stop it, then try again.",
        ko="이미 내보내기나 업로드가 진행 중입니다. 끝나거나 멈춘 뒤 다시 시도하세요.",
    ),
)


def disposition(filename: str) -> str:
    """A Content-Disposition that any name is safe in: plain ASCII, and the exact name encoded as RFC 5987 and 6266 say.

    Nothing of a person's text stands in the header unquoted, so no line and no path can be added to it.
    """
    name = "".join("-" if letter in "/\\" or not letter.isprintable() else letter for letter in filename).strip(". ")
    plain = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "_" for letter in name)
    encoded = quote(name.encode("utf-8", "replace"), safe="")
    return f"attachment; filename=\"{plain.strip('_.-') or 'export'}\"; filename*=UTF-8''{encoded}"


def download(filename: str, body: Iterator[bytes] | str, media: str, length: int | None = None) -> Response:
    headers = {"Content-Disposition": disposition(filename), "Cache-Control": "no-store"}
    if isinstance(body, str):
        return Response(body.encode("utf-8", "replace"), headers=headers, media_type=f"{media}; charset=utf-8")
    if length is not None:
        headers["Content-Length"] = str(length)
    return StreamingResponse(body, headers=headers, media_type=media)


def words(call: Call, name: str, default: str = "") -> str:
    return call.text(name) or default


def flag(call: Call, name: str, default: bool) -> bool:
    value = call.body.get(name, default)
    if not isinstance(value, bool):
        raise BadRequest(Text(en=f"{name!r} must be true or false.", ko=f"{name!r}은(는) true 또는 false여야 합니다."))
    return value


STARTED: dict[str, str] = {}  # the newest job of each run: a page that is opened anew finds it again


def begun(run_id: str, job: dict[str, Any]) -> dict[str, Any]:
    STARTED[run_id] = job["job"]
    return job


def overview(call: Call) -> dict[str, Any]:
    """What ExportService.overview says, and the "job" of this run that is under way, or None."""
    job = None
    if call.run_id in STARTED:
        with contextlib.suppress(NotFound):
            job = WORK.get(STARTED[call.run_id])
    return call.services.exports.overview(call.run_id) | {"job": job if job and job["state"] == "running" else None}


def make(call: Call) -> dict[str, Any]:
    """A job whose answer is the export. {"what", "checkpoint"}."""
    run, what, checkpoint = call.run_id, words(call, "what"), words(call, "checkpoint", "final")
    call.services.exports.require(run, what, checkpoint)  # what is wrong already is said at once, not by the job
    return begun(run, WORK.start(lambda progress: call.services.exports.make(run, what, checkpoint, progress=progress)))


def verify(call: Call) -> dict[str, Any]:
    run, name = call.run_id, call.request.path_params["name"]
    call.services.exports.about(run, name)
    return begun(run, WORK.start(lambda progress: call.services.exports.verify(run, name, progress)))


def archive(call: Call) -> Response:
    found = call.services.exports.archive(call.run_id, call.request.path_params["name"])
    return download(found.filename, found.pieces, "application/zip", found.length)


def document(call: Call, what: str) -> Response:
    lang = "ko" if call.request.query_params.get("lang") == "ko" else "en"
    filename, text, media = call.services.exports.document(call.run_id, what, lang)
    return download(filename, text, media)


def push(call: Call) -> dict[str, Any]:
    """{"repo", "what" or "name" of an export, "checkpoint"?, "private": true, "dry_run": true}: dry run or job."""
    exports, run, repo = call.services.exports, call.run_id, words(call, "repo")
    what, checkpoint = call.text("what"), words(call, "checkpoint", "final")
    if name := call.text("name"):
        what, _, checkpoint = name.partition("-")
    public = not flag(call, "private", True)
    if flag(call, "dry_run", True):
        return exports.push_plan(run, repo, what, checkpoint, public)
    exports.require_push(run, repo, what, checkpoint, public)
    job = WORK.start(lambda progress: exports.push(run, repo, what, checkpoint, public=public, progress=progress))
    return begun(run, job)


def clean(call: Call) -> dict[str, Any]:
    """{"parts": [...], "dry_run": false}."""
    return call.services.exports.clean(call.run_id, call.texts("parts"), flag(call, "dry_run", False))


def routes(services: Door) -> list[BaseRoute]:
    run = "/api/runs/{run_id}"
    return [
        route(services, f"{run}/exports", overview),
        route(services, f"{run}/exports", make, "POST"),
        route(services, f"{run}/exports/{{name}}.zip", archive),
        route(
            services,
            f"{run}/exports/{{name}}",
            lambda c: c.services.exports.remove(c.run_id, c.request.path_params["name"]),
            "DELETE",
        ),
        route(services, f"{run}/exports/{{name}}/verify", verify, "POST"),
        route(services, f"{run}/report", lambda c: document(c, "report")),
        route(services, f"{run}/card", lambda c: document(c, "card")),
        route(services, f"{run}/push", push, "POST"),
        route(services, f"{run}/disk", lambda c: c.services.exports.disk(c.run_id)),
        route(services, f"{run}/clean", clean, "POST"),
        route(services, "/api/disk", lambda c: c.services.exports.disk()),
        route(services, "/api/exports/jobs/{job}", lambda c: WORK.get(c.request.path_params["job"])),
        route(services, "/api/exports/jobs/{job}/stop", lambda c: WORK.stop(c.request.path_params["job"]), "POST"),
    ]
