"""What a child does once it is shut in: it runs the program and writes what came back, a JSON line a call.

The program lives in the same process and can write to the same pipe. That gains it nothing: what is right is known only
outside, so a forged line is no more than a returned value. Lines: {"value": typed} or {"error": text} for each call in
order; {"failed": text} where the source itself failed; {"oom": true} where memory ran out.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import json
import linecache
import os
import random
import sys
import threading
import traceback
import types
from collections.abc import Callable, Mapping
from typing import Any

from . import typed
from .confine import JOB, REQUESTS, RESULT

OUT_OF_MEMORY = b'{"oom":true}\n'
MAX_ERROR = 4000
PROGRAM = "<program>"


def read_all(fd: int) -> bytes:
    parts = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def answer(line: dict[str, Any]) -> None:
    write_all(RESULT, json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")


def describe(error: BaseException, below: str = PROGRAM) -> str:
    """The traceback from the program's first own frame on, clipped in the middle."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != below:
        trace = trace.tb_next
    try:
        text = "".join(traceback.format_exception(type(error), error, trace, limit=-8)).strip()
    except Exception:  # the program's own __str__ raised
        text = typed._name(type(error))
    return text if len(text) <= MAX_ERROR else text[: MAX_ERROR // 2] + " ... " + text[-MAX_ERROR // 2 :]


def main(kinds: Mapping[str, Callable[[Any], int]]) -> int:
    """Reads the job, runs it; the exit status of the child. `kinds`: what runs a payload that is no Python."""
    job = json.loads(read_all(JOB))
    for fd in (JOB, REQUESTS):
        os.close(fd)
    same_chance()
    run = kinds.get(job["kind"])
    return python(job["source"], job["calls"]) if run is None else run(job["payload"])


def same_chance() -> None:
    """The same random numbers in each child: a program is judged the same each time."""
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


def python(source: str, calls: list[str]) -> int:
    """Runs the source as __main__ with the standard streams, or as a module whose calls are then answered."""
    module: types.ModuleType | None = None
    try:
        module = new_module("solution" if calls else "__main__")
        return _run(source, calls, module.__dict__)
    except MemoryError:
        if module is not None:
            module.__dict__.clear()  # what the program holds must go before anything can be said
        write_all(RESULT, OUT_OF_MEMORY)
        return 1


def _run(source: str, calls: list[str], names: dict[str, Any]) -> int:
    ready = [_compiled(call) for call in calls]
    try:
        remember(source)
        exec(compile(source, PROGRAM, "exec"), names)
    except SystemExit as end:
        status = _status(end)
        if status or not calls:
            return _finish(status)
    except MemoryError:
        raise
    except BaseException as error:
        answer({"failed": describe(error)})
        return 1
    if not calls:
        return _finish(0)
    for call in ready:
        _answer_call(call, names)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    return 0


def remember(source: str) -> None:
    """So that tracebacks show the program's lines; its file cannot be opened, there is none."""
    linecache.cache[PROGRAM] = (len(source), None, source.splitlines(keepends=True), PROGRAM)


def new_module(name: str) -> types.ModuleType:
    """A module that is imported under its name, as dataclasses and pickle expect of the place they stand in."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    return module


def _compiled(call: str) -> tuple[types.CodeType | None, types.CodeType]:
    """Statements before the last one, and the last one as an expression. SyntaxError where it is none."""
    tree = ast.parse(call.strip(), PROGRAM)
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        raise SyntaxError(f"a call must end in an expression: {call[:200]!r}")
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    before = compile(tree, PROGRAM, "exec") if tree.body else None
    return before, compile(ast.Expression(last.value), PROGRAM, "eval")


def _answer_call(call: tuple[types.CodeType | None, types.CodeType], names: dict[str, Any]) -> None:
    before, last = call
    try:
        if before is not None:
            exec(before, names)
        line = {"value": typed.encode(eval(last, names))}
    except MemoryError:
        raise
    except BaseException as error:
        line = {"error": describe(error)}
    answer(line)


def _status(end: SystemExit) -> int:
    """The exit status that Python gives this SystemExit."""
    if end.code is None:
        return 0
    return end.code & 0xFF if isinstance(end.code, int) else 1


def _finish(status: int) -> int:
    """As the interpreter ends: threads are waited for, exit handlers run, output is flushed."""
    try:
        threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.__stdout__):
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
    except MemoryError:
        raise
    except BaseException as error:
        answer({"failed": describe(error)})
        return status or 1
    return status
