"""The chat's process: `python -m backend.workers.chat --idle-s S --lifeline FD`, JSON lines in and out.

In: {"id", "do": "ask"|"logprobs", "left": spec, "right": spec or null, ...} and {"stop": id}. One at a time, in
order; a stop takes effect at the next token. Out: events, each with the "id" that it answers; "done", "stopped",
"error" or "logprobs" is the last one of an id. {"type": "loaded"} says what is in memory.

It ends by itself after S seconds without a request, when its input ends, and, by the kernel, when the server is gone.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import queue
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

from backend.chat.words import failure
from backend.errors import StudioError
from backend.killable.child import die_with_parent
from backend.workers.device import prepare_environment, thread_count

if TYPE_CHECKING:
    from backend.workers.chat_sides import Sides

log = logging.getLogger("backend.workers.chat")
NICE = 10
IDLE, OVER = "idle", "over"


class Line:
    """Standard output as a line of events, kept for us alone: what a library prints goes to the log."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def tell(self, event: dict[str, Any]) -> None:
        data = json.dumps(event).encode() + b"\n"
        with self._lock:
            while data:
                data = data[self._out.write(data) :]


class Wishes:
    """What the server wants: requests in their order, and which of them are not wanted any more."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._requests: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._stopped: set[int] = set()
        threading.Thread(target=self._read, name="wishes", daemon=True).start()

    def _read(self) -> None:
        try:
            for line in self._stream:
                message = json.loads(line)
                if "stop" in message:
                    self._stopped.add(message["stop"])
                else:
                    self._requests.put(message)
        finally:
            self._requests.put(None)

    def next(self, idle_s: float) -> dict[str, Any] | str:
        """The next request; IDLE after `idle_s` seconds without one, OVER when the server has closed."""
        try:
            request = self._requests.get(timeout=idle_s)
        except queue.Empty:
            return IDLE
        return OVER if request is None else request

    def stopped(self, number: int) -> bool:
        return number in self._stopped

    def forget(self, number: int) -> None:
        self._stopped = {each for each in self._stopped if each > number}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m backend.workers.chat", description=__doc__)
    parser.add_argument("--idle-s", required=True, type=float)
    parser.add_argument("--lifeline", required=True, type=int)
    arguments = parser.parse_args(argv)
    die_with_parent(arguments.lifeline)
    os.nice(NICE)
    # Half of the cores: the page, and a run that may be at work, need the others.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, thread_count() // 2)))
    prepare_environment()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    out = Line()
    wishes = Wishes(sys.stdin.buffer)
    from backend.workers.chat_sides import Sides

    sides = Sides(lambda loaded: out.tell({"type": "loaded", "loaded": loaded}))
    while True:
        request = wishes.next(arguments.idle_s)
        if isinstance(request, str):
            log.info("ending: %s", request)
            return 0
        answer(request, out, wishes, sides)
        wishes.forget(request["id"])


def answer(request: dict[str, Any], out: Line, wishes: Wishes, sides: Sides) -> None:
    """Everything about one request, to its last event; never raises for what a request may hold."""
    from backend.workers.chat_answers import Stopped, asked, logprobs

    number = request["id"]

    def tell(kind: str, **values: Any) -> None:
        out.tell({"id": number, "type": kind, **values})

    try:
        work = logprobs if request["do"] == "logprobs" else asked
        work(request, sides, tell, lambda: wishes.stopped(number))
    except Stopped:
        tell("stopped")
    except StudioError as error:
        tell("error", error=error.text.to_json())
    except Exception as error:
        from backend.workers.memory import is_out_of_memory

        traceback.print_exc()
        words = failure(error, out_of_memory=is_out_of_memory(error))
        del error
        sides.forget()  # what failed may be half there; without memory, nothing may stay
        tell("error", error=words.to_json())


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a thread waits for input, and libraries' threads need not be waited for
