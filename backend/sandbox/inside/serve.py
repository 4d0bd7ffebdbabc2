"""A session's child: it runs the source once and then answers requests, each a length (4 bytes) and JSON, both ways.

First comes {"ready": true}, or {"error": text} where the source failed. Then for each request {"id", "request"} one of
{"id", "value"}, {"id", "error"}, {"id", "oom": true}. What is printed goes out before the answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from .confine import JOB, REQUESTS, RESULT
from .harness import PROGRAM, describe, new_module, read_all, remember, same_chance, write_all

HANDLE = "handle"


def main() -> int:
    """Until there are no more requests; the exit status of the child."""
    source = json.loads(read_all(JOB))["source"]
    os.close(JOB)
    same_chance()
    remember(source)
    sys.stderr = sys.stdout  # one pipe: what is printed stays in order
    module = new_module("sandboxed")
    try:
        exec(compile(source, PROGRAM, "exec"), module.__dict__)
        handle = module.__dict__[HANDLE]
    except MemoryError:
        _send({"oom": True})
        return 1
    except BaseException as error:
        _send({"error": describe(error)})
        return 1
    _send({"ready": True})
    while (request := _receive()) is not None:
        _send({"id": request["id"], **_answer(handle, request["request"])})
    return 0


def _answer(handle: Callable[[Any], Any], request: Any) -> dict[str, Any]:
    try:
        value = handle(request)
        json.dumps(value)
        return {"value": value}
    except MemoryError:
        return {"oom": True}
    except BaseException as error:
        return {"error": describe(error)}


def _send(answer: dict[str, Any]) -> None:
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    data = json.dumps(answer).encode()
    write_all(RESULT, len(data).to_bytes(4, "big") + data)


def _receive() -> Any:
    head = _exactly(4)
    return None if head is None else json.loads(_exactly(int.from_bytes(head, "big")) or b"null")


def _exactly(count: int) -> bytes | None:
    parts: list[bytes] = []
    while count:
        part = os.read(REQUESTS, count)
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
