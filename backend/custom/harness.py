"""What runs inside a reward's own process, in both levels: it loads the source once and answers one call after another.

Standard library only and no import of ours: the sandbox gets this file as text, `trusted_child.py` imports it. A call
is JSON text and so is its answer, so that whatever the code does to its inputs it does to copies.

answer: {"scores", "extras", "metrics"} or {"raised": {...}} or {"broken": {...}} or {"load": {...}}, each with
"prints" (the beginning of what was printed) and "printed" (how many bytes it was).
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import decimal
import inspect
import io
import json
import linecache
import numbers
import selectors
import sys
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any

KEPT_PRINTS = 16 * 1024  # bytes of one call
KEPT_TRACEBACK = 6000
LARGEST = 3.4028234663852886e38  # of float32, in which TRL keeps rewards
TAG = "__grpo_studio__"
MODULE = "__reward__"  # not the reward's own name: one called `random` must not hide the library's


class BrokenContract(Exception):
    """What was returned or logged is not what TRL takes."""

    def __init__(self, kind: str, row: int | None, value: Any, **more: Any) -> None:
        super().__init__(kind)
        self.told = {"kind": kind, "row": row, "value": shown(value), "type": type(value).__name__, **more}


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


def scores_of(output: Any, count: int) -> list[float | None]:
    """One number or None a completion, as TRL reads what a reward returns."""
    if isinstance(output, (str, bytes, bytearray, dict, set, frozenset)) or getattr(output, "ndim", 1) == 0:
        raise BrokenContract("kind", None, output)
    try:
        items = iter(output)
    except TypeError:
        raise BrokenContract("kind", None, output) from None
    values = []
    for value in items:
        values.append(value)
        if len(values) > count + 1_000_000:
            break  # an endless iterator
    if len(values) != count:
        raise BrokenContract("count", None, output, got=len(values), expected=count)
    return [score_of(value, row) for row, value in enumerate(values)]


def score_of(value: Any, row: int) -> float | None:
    """None and NaN: missing. A bool, a number, numpy's and torch's numbers: a number. Anything else is refused."""
    if value is None:
        return None
    number = value
    if getattr(value, "ndim", 0) and not type(value).__module__.startswith("torch"):
        raise BrokenContract("value", row, value)  # a row of an array: TRL takes such rows of tensors only
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        try:
            number = value.item()
        except Exception:
            raise BrokenContract("value", row, value) from None
    if not isinstance(number, (bool, numbers.Real)):
        raise BrokenContract("value", row, value)
    try:
        number = float(number)
    except (OverflowError, ValueError):
        raise BrokenContract("infinite", row, value) from None
    if number != number:
        return None
    if abs(number) > LARGEST:
        raise BrokenContract("infinite", row, value)
    return number


def plain(value: Any, depth: int = 0) -> Any:
    """A value for a table: JSON as it is, numbers of numpy and torch as numbers, the rest as text."""
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, (list, tuple)) and depth < 20:
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, dict) and depth < 20:
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    tolist = getattr(value, "tolist", None)
    if tolist is not None and depth < 20:
        return plain(tolist(), depth + 1)
    return shown(value, 1000)


def shown(value: Any, limit: int = 200) -> str:
    """The repr, clipped; a repr that raises is told."""
    try:
        text = repr(value)
    except BaseException as error:
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def untagged(found: dict[str, Any]) -> Any:
    """Values that JSON has no word for, as wire.py writes them."""
    if TAG not in found or len(found) != 2:
        return found
    kind, text = found[TAG], found["text"]
    makers: dict[Any, Callable[[str], Any]] = {
        "bytes": bytes.fromhex,
        "decimal": decimal.Decimal,
        "datetime": datetime.datetime.fromisoformat,
        "date": datetime.date.fromisoformat,
        "time": datetime.time.fromisoformat,
    }
    try:
        return makers[kind](text)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return found  # a row that only looks like one of ours
