"""The routes of the chat: what may be asked, the answers as they come (one JSON event a line), history, export.

POST /api/chat/ask {"left", "right": side or null, "prompt": text or messages, "system", "raw", or "run" and "index"
of a held-out row, "ground_truth", "temperature", "top_p", "top_k", "max_new_tokens", "seed", "n", "chat"} answers with
events: queued, loading, alive, start, text, answer, unscored, and last one of done, stopped, error. A side is {"run",
"checkpoint"} or {"model"}. Closing the connection stops the answer at the next token.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from backend.chat.request import CHAT_ID
from backend.errors import NotFound, StudioError
from backend.settings import RUN_ID
from backend.text import Text
from ui.door import Door
from ui.wire import FAULT, TOO_DEEP, BadRequest, Call, answer, encode, failure, read_body, route

log = logging.getLogger(__name__)
NDJSON = "application/x-ndjson"


async def lines(events: Iterator[dict[str, Any]]) -> AsyncIterator[bytes]:
    """One event a line; `events` is closed, and so the answer stopped, when the reader has gone."""
    try:
        while True:
            event = await run_in_threadpool(next, events, None)
            if event is None:
                return
            yield encode(event) + b"\n"
    except Exception:
        log.exception("an answer of the chat")
        yield encode({"type": "error", "error": FAULT.to_json()}) + b"\n"
    finally:
        with anyio.CancelScope(shield=True):
            await run_in_threadpool(getattr(events, "close", lambda: None))


def ask_route(services: Door) -> Route:
    async def endpoint(request: Request) -> Response:
        try:
            events = await run_in_threadpool(services.chat.ask, await read_body(request))
        except StudioError as error:
            return failure(error)
        except RecursionError:
            return failure(TOO_DEEP)
        except Exception:
            log.exception("POST /api/chat/ask")
            return answer({"error": FAULT.to_json()}, 500)
        # No proxy may hold the lines back until there are many.
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return StreamingResponse(lines(events), headers=headers, media_type=NDJSON)

    return Route("/api/chat/ask", endpoint, methods=["POST"])


def run_of(call: Call) -> str | None:
    run = call.request.query_params.get("run")
    if run and not RUN_ID.fullmatch(run):
        raise NotFound(Text(en=f"There is no run {run!r}.", ko=f"{run!r} 실행을 찾을 수 없습니다."))
    return run or None


def chat_of(call: Call) -> str:
    chat = call.request.path_params["chat"]
    if not CHAT_ID.fullmatch(chat):
        raise NotFound(Text(en=f"there is no conversation {chat!r}", ko=f"{chat!r} 대화가 없습니다"))
    return chat


def problem(call: Call) -> dict[str, Any]:
    run = run_of(call)
    if run is None:
        raise BadRequest(Text(en="'run' is missing.", ko="'run' 값이 없습니다."))
    return call.services.chat.problem(run, call.number("index", 0, 0, 10**9))


def stop(call: Call) -> dict[str, Any]:
    number = call.body.get("ask")
    if isinstance(number, bool) or not isinstance(number, int):
        raise BadRequest(Text(en="'ask' must be a whole number.", ko="'ask'는 정수여야 합니다."))
    return call.services.chat.stop(number)


def forget(call: Call) -> dict[str, Any]:
    return {"deleted": chat_of(call), "turns": call.services.chat.forget(chat_of(call))}


def export(call: Call) -> Response:
    chat = chat_of(call)
    headers = {"Content-Disposition": f'attachment; filename="chat-{chat}.jsonl"', "Cache-Control": "no-cache"}
    return StreamingResponse(call.services.chat.export(chat), headers=headers, media_type=NDJSON)


def routes(services: Door) -> list[BaseRoute]:
    return [
        ask_route(services),
        route(services, "/api/chat/sides", lambda c: c.services.chat.sides(run_of(c))),
        route(services, "/api/chat/problem", problem),
        route(services, "/api/chat/logprobs", lambda c: c.services.chat.logprobs(c.body), "POST"),
        route(services, "/api/chat/state", lambda c: c.services.chat.state()),
        route(services, "/api/chat/stop", stop, "POST"),
        route(services, "/api/chat/free", lambda c: c.services.chat.free(), "POST"),
        route(services, "/api/chat/chats", lambda c: {"chats": c.services.chat.chats()}),
        route(services, "/api/chat/chats/{chat}", lambda c: c.services.chat.chat(chat_of(c))),
        route(services, "/api/chat/chats/{chat}", forget, "DELETE"),
        route(services, "/api/chat/chats/{chat}/export", export),
    ]
