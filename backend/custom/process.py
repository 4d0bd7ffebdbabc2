"""The process that a custom reward runs in: in the sandbox, or as the user."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from backend import sandbox
from backend.custom.trusted import TrustedSession
from backend.sandbox import Outcome, SandboxUnavailable

LOAD_LIMIT_S = {"sandboxed": 30.0, "trusted": 180.0}  # a trusted reward may import torch


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one call. `outcome`: "ok", "raised", "broken", "load", or how the process ended ("timeout", "oom",
    "died"). `value` is the harness's answer, or for an ended process {"error"}."""

    outcome: str
    value: dict[str, Any]
    seconds: float
    prints: str = ""
    printed: int = 0


class Process:
    """One reward's process: loaded at its first call and after each end. Not for two threads at once."""

    def __init__(self, source: str, name: str, function: str, level: str, memory_mb: int) -> None:
        self.name, self.level = name, level
        self._loaded = False
        self._ended = 0
        if level == "trusted":
            self._session: Any = TrustedSession(source, name=name, function=function, memory_mb=memory_mb)
        else:
            text = f"{_harness()}\nhandle = Server({source!r}, {name!r}, {function!r}).handle\n"
            self._session = sandbox.open_session(text, memory_mb=memory_mb, name=name)

    @property
    def restarts(self) -> int:
        """How often the process was ended and begun anew: each time what the code kept in globals was lost."""
        return self._ended

    def call(self, text: str, limit_s: float) -> Answer:
        """One call (wire.call_text). Loading the source has a limit of its own. SandboxUnavailable where there is no
        sandbox."""
        if not self._loaded:
            loaded = self._ask(None, max(limit_s, LOAD_LIMIT_S[self.level]))
            if loaded.outcome != "ok":
                return Answer("load", _as_load(loaded), loaded.seconds, loaded.prints, loaded.printed)
            self._loaded = True
        return self._ask(text, limit_s)

    def _ask(self, text: str | None, limit_s: float) -> Answer:
        reply = self._session.call({"call": text}, limit_s)
        if reply.outcome is Outcome.SANDBOX_UNAVAILABLE:
            raise SandboxUnavailable(reply.error or "the sandbox is not available")
        value = _read(reply.value) if reply.outcome is Outcome.PASS else None
        if value is None:
            self._loaded = False
            self._ended += 1
            self._session.close()
            ended = {Outcome.TIMEOUT: "timeout", Outcome.OOM: "oom"}.get(reply.outcome, "died")
            error = f"stopped after {limit_s:g} s" if ended == "timeout" else reply.error or "its answer cannot be read"
            return Answer(ended, {"error": error}, reply.seconds, reply.stdout, len(reply.stdout))
        kind = next((k for k in ("raised", "broken", "load") if k in value), "ok")
        prints = str(value.get("prints", "")) + reply.stdout
        printed = int(value.get("printed", 0)) + len(reply.stdout)
        return Answer(kind, value.get(kind, value), reply.seconds, prints, printed)

    def close(self) -> None:
        """End the process."""
        self._loaded = False
        self._session.close()


def _read(value: Any) -> dict[str, Any] | None:
    try:
        answer = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _as_load(answer: Answer) -> dict[str, Any]:
    if answer.outcome in ("raised", "load"):
        return answer.value
    error = str(answer.value.get("error", ""))
    return {"error": error, "type": answer.outcome, "traceback": error, "line": None}


@cache
def _harness() -> str:
    return Path(__file__).with_name("harness.py").read_text(encoding="utf-8")
