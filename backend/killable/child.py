"""The child's side: python -m backend.killable.child SOCKET LIFELINE MEMORY_MB. One call at a time, a JSON line each.

What keeps it harmless is outside of it: the parent kills it at the limit, the kernel when the parent is gone.
"""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import resource
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

F_SETSIG = 10  # Linux; the fcntl module does not name it


def main() -> None:
    channel, lifeline, memory_mb = (int(word) for word in sys.argv[1:4])
    die_with_parent(lifeline)
    limit = memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.set_inheritable(channel, False)
    with socket.socket(fileno=channel) as connection, connection.makefile("rb") as calls:
        serve(connection, calls, limit)


def die_with_parent(lifeline: int) -> None:
    """Have the kernel send SIGKILL the moment the parent's end of the pipe closes, whatever this process is doing.

    PR_SET_PDEATHSIG would do it when the starting *thread* ends, and a thread of ours cannot run while a C function
    holds the interpreter.
    """
    os.set_inheritable(lifeline, False)
    if sys.platform == "linux":
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)

    def watch() -> None:
        os.read(lifeline, 1)  # the parent never writes: this returns when it is gone, or was before the signal was set
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def serve(connection: socket.socket, calls: Any, memory_limit: int) -> None:
    known: dict[str, Callable[..., Any]] = {}
    for line in calls:
        call = json.loads(line)
        name = call["target"]
        if name not in known:
            try:
                known[name] = resolve(name)
            except BaseException as error:
                tell(connection, failure(error) | {"unready": True})
                return
            silence()
            tell(connection, {"ready": True})
        answer = run(known[name], call["arguments"])
        if address_space() > memory_limit // 2:
            answer["retire"] = True
        tell(connection, answer)
        if answer.get("retire"):
            return


def resolve(name: str) -> Callable[..., Any]:
    """The function, its module imported and warmed up."""
    module_name, _, function = name.partition(":")
    module = importlib.import_module(module_name)
    warm = getattr(module, "warm", None)
    if callable(warm):
        warm()
    return getattr(module, function)


def run(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        answer = {"outcome": "ok", "value": function(**arguments)}
        json.dumps(answer)
        return answer
    except MemoryError:
        return {"outcome": "died", "error": "the process died: out of memory", "retire": True}
    except BaseException as error:  # a SystemExit of the function's is a failure of the call, not an order to us
        return failure(error)


def failure(error: BaseException) -> dict[str, Any]:
    return {"outcome": "raised", "error": repr(error)[:2000], "traceback": traceback.format_exc(limit=30)[-8000:]}


def address_space() -> int:
    """Bytes of virtual memory, what RLIMIT_AS counts; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - once a call: the cheaper way
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def silence() -> None:
    """From here on nothing that is printed goes anywhere; before, it tells why the child could not start."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)


def tell(connection: socket.socket, answer: dict[str, Any]) -> None:
    connection.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
