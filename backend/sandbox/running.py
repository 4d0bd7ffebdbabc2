"""Programs, each in a fresh sandboxed process, several at a time."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from backend import device
from backend.sandbox.child import GRACE_S, Child, read_some, ready
from backend.sandbox.outcome import Answer, Outcome, Program, Ran, SandboxUnavailable

VALUE = '{"value":'
MAX_LINE = 64 << 10
DEADLY = {signal.SIGXCPU: Outcome.TIMEOUT, signal.SIGKILL: Outcome.OOM}


def at_once() -> int:
    """How many programs run at a time: one a core, as each has a limit of wall time; 2 to 32."""
    return min(32, max(2, device.cores()))


_slots = [threading.BoundedSemaphore(at_once())]


def _new_slots() -> None:
    """After a fork: whoever held the old ones is in the other process."""
    _slots[0] = threading.BoundedSemaphore(at_once())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_slots)


def run_many(programs: Sequence[Program]) -> list[Ran]:
    """What each program did, in order. Raises SandboxUnavailable where this machine has no sandbox."""
    if len(programs) <= 1:
        return [run(program) for program in programs]
    with ThreadPoolExecutor(min(at_once(), len(programs)), thread_name_prefix="sandbox") as pool:
        return list(pool.map(run, programs))


def run(program: Program) -> Ran:
    """One program, in the calling thread; on another zygote where the first one was lost meanwhile."""
    with _slots[0]:
        try:
            return _run(program)
        except SandboxUnavailable:
            return _run(program)


def _run(program: Program) -> Ran:
    job = {"kind": program.kind, "source": program.source, "calls": program.calls, "payload": program.payload}
    child = Child(job, stdin=program.stdin or "", memory_mb=program.memory_mb, limit_s=program.limit_s)
    try:
        return _watch(child, program)
    finally:
        child.close()


class _Gathered:
    """The bytes of one pipe, up to `most`."""

    def __init__(self, fd: int, most: int) -> None:
        self.fd, self.most = fd, most
        self.data = bytearray()
        self.open = True

    def take(self) -> None:
        part = read_some(self.fd)
        if part == b"":
            self.open = False
        elif part:
            self.data += part

    @property
    def over(self) -> bool:
        return len(self.data) > self.most


def _watch(child: Child, program: Program) -> Ran:
    out = _Gathered(child.stdout, program.output_limit)
    result = _Gathered(child.result, program.result_limit)
    deadline = time.monotonic() + program.limit_s + GRACE_S
    over = False
    while child.ended is None:
        pipes = [pipe for pipe in (out, result) if pipe.open and not pipe.over]
        left = deadline - time.monotonic()
        if left <= 0:
            child.wait_end()
            break
        found = ready(left, child.control.fileno(), *(pipe.fd for pipe in pipes))
        for pipe in pipes:
            if pipe.fd in found:
                pipe.take()
                if pipe.over and not over:
                    over = True
                    child.kill()
        if child.control.fileno() in found:
            child.hear()
    for pipe in (out, result):  # it has ended: what it wrote is all there
        while pipe.open and not pipe.over and read_more(pipe):
            pass
    return _ran(program, child.wait_end(), out, result, over or out.over or result.over)


def read_more(pipe: _Gathered) -> bool:
    before = len(pipe.data)
    pipe.take()
    return len(pipe.data) > before


def _ran(program: Program, ended: dict[str, Any], out: _Gathered, result: _Gathered, over: bool) -> Ran:
    stdout = out.data[: out.most].decode("utf-8", "replace")
    values, error, broken = _lines(bytes(result.data[: result.most]))
    seconds = float(ended["seconds"])
    status = int(ended["status"])

    def made(outcome: Outcome, words: str) -> Ran:
        return Ran(outcome, values, stdout, words, seconds)

    if ended["late"]:
        return made(Outcome.TIMEOUT, f"stopped after {seconds:.1f} s")
    if over:
        return made(
            Outcome.OUTPUT_LIMIT,
            f"stopped: more than {program.output_limit} bytes printed or {program.result_limit} returned",
        )
    if error == "oom":
        return made(Outcome.OOM, "it ran out of memory")
    if status < 0:
        name = signal.Signals(-status).name
        return made(DEADLY.get(signal.Signals(-status), Outcome.FAIL), f"ended by {name}")
    if broken:
        return made(Outcome.FAIL, "what it wrote on the result pipe is no result")
    if error or status:
        return made(Outcome.FAIL, error or f"exit status {status}")
    return made(Outcome.PASS, "")


def _lines(data: bytes) -> tuple[tuple[Answer, ...], str, bool]:
    """(an answer a call, the error of the source or "oom", whether anything else stood there)."""
    answers: list[Answer] = []
    for line in data.decode("ascii", "replace").split("\n")[:-1]:
        if line.startswith(VALUE) and line.endswith("}"):
            answers.append(Answer(line[len(VALUE) : -1]))
            continue
        try:
            match json.loads(line[:MAX_LINE]):
                case {"failed": str(text)}:
                    return tuple(answers), text, False
                case {"error": str(text)}:
                    answers.append(Answer(error=text))
                case {"oom": True}:
                    return tuple(answers), "oom", False
                case _:
                    return tuple(answers), "", True
        except (ValueError, RecursionError):
            return tuple(answers), "", True
    return tuple(answers), "", False
