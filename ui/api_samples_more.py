"""Routes of the views beside the list of samples: prompts, the signal budget, plots, files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute

from backend.errors import Refused
from backend.samples.exports import MEDIA
from backend.samples.filters import parse
from backend.text import Text
from ui.api_exports import disposition, download
from ui.api_samples import given
from ui.door import Door
from ui.wire import BadRequest, Call, route


def asked(call: Call, name: str, default: str = "") -> str:
    return call.request.query_params.get(name) or default


def prompts(call: Call) -> dict[str, Any]:
    return call.services.explorer.prompts(
        call.run_id,
        sort=asked(call, "sort", "forgotten"),
        down=asked(call, "order") == "down",
        cursor=asked(call, "cursor") or None,
        limit=call.number("limit", 50, 1, 200),
    )


def prompt(call: Call) -> dict[str, Any]:
    wanted = asked(call, "prompt")
    if not wanted:
        raise BadRequest(Text(en="prompt='': name the prompt's id.", ko="prompt='': 프롬프트 id를 지정하세요."))
    return call.services.explorer.prompt(call.run_id, wanted)


def budget_csv(call: Call) -> Response:
    return download(f"{call.run_id}-budget.csv", call.services.explorer.budget_csv(call.run_id), "text/csv")


def scatter(call: Call) -> dict[str, Any]:
    chosen = parse({"from": asked(call, "from"), "to": asked(call, "to")})
    x = asked(call, "x", "tokens")
    return call.services.explorer.scatter(call.run_id, x=x, step_from=chosen.step_from, step_to=chosen.step_to)


def export(call: Call) -> Response:
    """The file, as it is read: nothing of it is held. What is refused is refused before the first byte."""
    what, form = asked(call, "what", "completions"), asked(call, "form", "jsonl")
    every = asked(call, "all") in ("1", "true")
    made = call.services.explorer.made(call.run_id, what, form, given(call), every)
    first = next(made.pieces, None)
    if first is None:
        raise Refused(Text(en="No completion fits this filter.", ko="이 조건에 맞는 답변이 없습니다."))

    def body() -> Iterator[bytes]:
        for piece in chain([first], made.pieces):
            yield piece.encode("utf-8")

    headers = {"Content-Disposition": disposition(f"{call.run_id}-{made.filename}"), "Cache-Control": "no-store"}
    return StreamingResponse(body(), headers=headers, media_type=f"{MEDIA[form]}; charset=utf-8")


def routes(services: Door) -> list[BaseRoute]:
    samples = "/api/runs/{run_id}/samples"
    return [
        route(services, f"{samples}/prompts", prompts),
        route(services, f"{samples}/prompt", prompt),
        route(services, f"{samples}/budget", lambda c: c.services.explorer.budget(c.run_id)),
        route(services, f"{samples}/budget.csv", budget_csv),
        route(services, f"{samples}/histogram", lambda c: c.services.explorer.histogram(c.run_id)),
        route(services, f"{samples}/scatter", scatter),
        route(services, f"{samples}/ways", lambda c: c.services.explorer.ways(c.run_id)),
        route(services, f"{samples}/export", export),
    ]
