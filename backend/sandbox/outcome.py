"""What goes into the sandbox and what comes out of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from backend.errors import StudioError
from backend.sandbox.inside.typed import MAX_NODES

KIB = 1024
OUTPUT_LIMIT = 64 * KIB
RESULT_LIMIT = 4 * KIB * KIB


class SandboxUnavailable(StudioError):
    """This machine cannot confine a program, or no longer does. It stops a run and is never scored 0."""


class Outcome(StrEnum):
    """How a program ended. `sandbox_unavailable` says nothing about the program."""

    PASS = "pass"
    FAIL = "fail"
    TIMEOUT = "timeout"
    OOM = "oom"
    OUTPUT_LIMIT = "output_limit"
    SANDBOX_UNAVAILABLE = "sandbox_unavailable"


@dataclass(frozen=True, slots=True)
class Program:
    """One untrusted program and its limits.

    `calls` are expressions (or statements that end in one), evaluated in order after `source` has run; `stdin` is what
    it reads. `payload` is the job of another kind ("sql"). `limit_s` is wall time for all of it, `memory_mb` what it
    may map beyond what the sandbox itself has mapped, `output_limit` and `result_limit` the bytes that it may print and
    return.
    """

    source: str
    calls: tuple[str, ...] = ()
    stdin: str | None = None
    limit_s: float = 5.0
    memory_mb: int = 512
    kind: Literal["python", "sql"] = "python"
    payload: Mapping[str, Any] | None = None
    output_limit: int = OUTPUT_LIMIT
    result_limit: int = RESULT_LIMIT


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call gave: the JSON of a typed encoding (`inside/typed.py`), or the traceback of what it raised.

    The JSON is kept as text and parsed when it is asked for: it may be forged, and a batch holds many.
    """

    text: str = "null"
    error: str | None = None

    @property
    def value(self) -> Any:
        """The encoding. ValueError where the text is none, or has more parts than a value may have."""
        if sum(map(self.text.count, "[{,:")) > 6 * MAX_NODES:
            raise ValueError(f"more than {MAX_NODES} parts")
        try:
            return json.loads(self.text, parse_constant=_no_constant)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ran. `values` holds an answer for each call that was reached, in order."""

    outcome: Outcome
    values: tuple[Answer, ...] = ()
    stdout: str = ""
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What one call of a session gave. `value` is what `handle` returned, through JSON; None unless it passed.

    `stdout` holds the first 64 KB that were printed during the call; `cut` says that there was more.
    """

    outcome: Outcome
    value: Any = None
    stdout: str = ""
    error: str = ""
    seconds: float = 0.0
    cut: bool = field(default=False)
