"""What runs inside a reward's own process, in both levels: it loads the source once and answers one call after another.

The sandbox gets this file and values.py as one text, `trusted_child.py` imports it. A call is JSON text and so is its
answer, so that whatever the code does to its inputs it does to copies.

answer: {"scores", "extras", "metrics"} or {"raised": {...}} or {"broken": {...}} or {"load": {...}}, each with
"prints" (the beginning of what was printed) and "printed" (how many bytes it was).
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import json
import linecache
import selectors
import sys
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any

from backend.custom.inside.values import BrokenContract, plain, scores_of, shown, untagged

KEPT_PRINTS = 16 * 1024  # bytes of one call
KEPT_TRACEBACK = 6000
MODULE = "__reward__"  # not the reward's own name: one called `random` must not hide the library's


class Capped(io.RawIOBase):
    """A stream that keeps the beginning and counts the rest."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.count = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raw = bytes(data)
        self.kept += raw[: max(0, KEPT_PRINTS - len(self.kept))]
        self.count += len(raw)
        return len(raw)

    def take(self) -> dict[str, Any]:
        taken = {"prints": bytes(self.kept).decode("utf-8", "replace"), "printed": self.count}
        self.kept.clear()
        self.count = 0
        return taken


class TrainerState:
    """The trainer's state at this call, to read: the attributes of transformers' TrainerState."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"trainer_state.{name} cannot be set: a reward sees a copy")

    def __repr__(self) -> str:
        return f"TrainerState({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items() if k != 'log_history')})"


class QuietSelector(selectors.SelectSelector):
    """Waits without any descriptor: where no socket can be made there is nothing else to wait for."""

    def __init__(self) -> None:
        super().__init__()
        self.woken = threading.Event()

    def select(self, timeout: float | None = None) -> list[Any]:
        self.woken.wait(timeout)
        self.woken.clear()
        return []


class QuietLoop(asyncio.SelectorEventLoop):
    """An event loop without the pair of sockets that asyncio wakes itself with."""

    def __init__(self) -> None:
        self._quiet = QuietSelector()
        super().__init__(self._quiet)

    def _make_self_pipe(self) -> None:
        return

    def _close_self_pipe(self) -> None:
        return

    def _write_to_self(self) -> None:
        self._quiet.woken.set()


class Server:
    """One reward in its process: `handle` answers a request."""

    def __init__(self, source: str, name: str, function: str, sockets: bool = False) -> None:
        self.source, self.name, self.function_name, self.sockets = source, name, function, sockets
        self.file = f"<{name}>"
        self.function: Callable[..., Any] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.printed = Capped()
        stream = io.TextIOWrapper(self.printed, "utf-8", "replace", write_through=True)  # type: ignore[arg-type]
        sys.stdout = sys.stderr = stream

    def handle(self, request: dict[str, Any]) -> str:
        """`request`: {"call": JSON text or None (load only)}; the answer as JSON text."""
        try:
            answer = self._load()
            if answer is None:
                answer = self._answer(request["call"]) if request.get("call") else {"loaded": True}
        except BrokenContract as broken:
            answer = {"broken": broken.told}
        except BaseException as error:  # SystemExit and the like: a failure of the call, not an order to us
            answer = {"raised": self._failure(error)}
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        return json.dumps({**answer, **self.printed.take()})

    def _load(self) -> dict[str, Any] | None:
        if self.function is not None:
            return None
        linecache.cache[self.file] = (len(self.source), None, self.source.splitlines(keepends=True), self.file)
        module = types.ModuleType(MODULE)
        module.__file__ = self.file
        sys.modules[MODULE] = module  # dataclasses and pickle look there
        try:
            exec(compile(self.source, self.file, "exec", dont_inherit=True), module.__dict__)
            function = getattr(module, self.function_name)
        except BaseException as error:
            return {"load": self._failure(error)}
        self.function = function
        return None

    def _answer(self, text: str) -> dict[str, Any]:
        call = json.loads(text, object_hook=untagged)
        count, values = call["count"], call["values"]
        extras: list[list[Any]] = []
        metrics: list[list[Any]] = []

        def log_extra(column: str, values: list[Any]) -> None:
            kept = [plain(value) for value in values]
            if len(kept) != count:
                raise BrokenContract("extra", None, values, name=str(column)[:200], got=len(kept))
            extras.append([str(column)[:200], kept])

        def log_metric(name: str, value: float) -> None:
            try:
                metrics.append([str(name)[:200], float(value)])  # also NaN and infinities: TRL logs them as they are
            except (TypeError, ValueError, OverflowError):
                raise BrokenContract("metric", None, value, name=str(name)[:200]) from None

        values |= {"trainer_state": TrainerState(call["state"]), "log_extra": log_extra, "log_metric": log_metric}
        assert self.function is not None
        output = self.function(**values)
        if inspect.isawaitable(output):
            output = self._await(output)
        return {"scores": scores_of(output, count), "extras": extras, "metrics": metrics}

    def _await(self, output: Any) -> Any:
        if self.loop is None:
            self.loop = asyncio.new_event_loop() if self.sockets else QuietLoop()
            asyncio.set_event_loop(self.loop)

        async def waited() -> Any:
            return await output

        return self.loop.run_until_complete(waited())

    def _failure(self, error: BaseException) -> dict[str, Any]:
        """The error, its traceback from the first line of the reward's own source on, and the last such line."""
        first = error.__traceback__
        while first is not None and first.tb_frame.f_code.co_filename != self.file:
            first = first.tb_next
        line = error.lineno if isinstance(error, SyntaxError) else None
        step = first
        while step is not None:
            if step.tb_frame.f_code.co_filename == self.file:
                line = step.tb_lineno
            step = step.tb_next
        try:
            told = "".join(traceback.format_exception(type(error), error, first, limit=-20))[-KEPT_TRACEBACK:]
        except BaseException:  # an exception whose text raises
            told = type(error).__name__
        return {"error": shown(error, 500), "type": type(error).__name__, "traceback": told, "line": line}
