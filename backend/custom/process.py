"""The process that a custom reward runs in: in the sandbox, or as the user."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from backend import sandbox
from backend.custom.merge import problem_of
from backend.custom.trusted import TrustedSession
from backend.sandbox import Outcome, SandboxUnavailable
from backend.text import Text

KEPT_ERROR = 8000  # characters
KEPT_PRINTS = 64 * 1024
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
            try:
                self._session = sandbox.open_session(text, memory_mb=memory_mb, name=name)
            except SandboxUnavailable as error:
                raise self._unavailable(error.text) from error

    def _unavailable(self, why: Text) -> SandboxUnavailable:
        return SandboxUnavailable(
            Text(
                en=f"the reward {self.name} is sandboxed and cannot be run here: {why.en}",
                ko=f"보상 {self.name}은(는) 샌드박스에서 실행해야 하는데 여기서는 실행할 수 없습니다: {why.ko}",
            )
        )

    @property
    def restarts(self) -> int:
        """How often the process was ended and begun anew: each time what the code kept in globals was lost."""
        return self._ended

    def call(self, text: str, count: int, limit_s: float) -> Answer:
        """One call (wire.call_text) for `count` completions. Loading the source has a limit of its own.
        SandboxUnavailable where there is no sandbox."""
        if not self._loaded:
            loaded = self._ask(None, max(limit_s, LOAD_LIMIT_S[self.level]))
            if loaded.outcome != "ok":
                return Answer("load", _as_load(loaded), loaded.seconds, loaded.prints, loaded.printed)
            self._loaded = True
        answer = self._ask(text, limit_s)
        problem = problem_of(answer.value, count) if answer.outcome == "ok" else None
        return answer if problem is None else self._end("died", problem, answer)

    def _end(self, outcome: str, error: str, answer: Answer) -> Answer:
        self._loaded = False
        self._ended += 1
        self._session.close()
        return replace(answer, outcome=outcome, value={"error": error[:KEPT_ERROR]})

    def _ask(self, text: str | None, limit_s: float) -> Answer:
        try:
            reply = self._session.call({"call": text}, limit_s)
        except SandboxUnavailable as error:
            raise self._unavailable(error.text) from error
        if reply.outcome is Outcome.SANDBOX_UNAVAILABLE:
            raise self._unavailable(Text(en=reply.error, ko=reply.error))
        value = _read(reply.value) if reply.outcome is Outcome.PASS else None
        answer = Answer("ok", value or {}, reply.seconds, reply.stdout, len(reply.stdout))
        if value is None:
            ended = {Outcome.TIMEOUT: "timeout", Outcome.OOM: "oom"}.get(reply.outcome, "died")
            error = f"stopped after {limit_s:g} s" if ended == "timeout" else reply.error or "its answer cannot be read"
            return self._end(ended, error, answer)
        prints, printed = value.get("prints"), value.get("printed")
        kind = next((k for k in ("raised", "broken", "load") if isinstance(value.get(k), dict)), "ok")
        return replace(
            answer,
            outcome=kind,
            value=value if kind == "ok" else _clipped(value[kind]),
            prints=(str(prints or "") + reply.stdout)[:KEPT_PRINTS],
            printed=answer.printed + (printed if isinstance(printed, int) else 0),
        )

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


def _clipped(told: dict[str, Any]) -> dict[str, Any]:
    """What a process tells of a failure, in sizes and kinds that a message can hold."""
    kept = {str(key): value if isinstance(value, int) else str(value)[:KEPT_ERROR] for key, value in told.items()}
    return {key: value for key, value in kept.items() if told[key] is not None}


def _as_load(answer: Answer) -> dict[str, Any]:
    if answer.outcome in ("raised", "load"):
        return answer.value
    error = str(answer.value.get("error", ""))
    return {"error": error, "type": answer.outcome, "traceback": error, "line": None}


@cache
def _harness() -> str:
    """The files of inside/ as one text, without their imports of ours."""
    folder = Path(__file__).with_name("inside")
    lines = [line for name in ("values", "server") for line in (folder / f"{name}.py").read_text("utf-8").splitlines()]
    kept = (line for line in lines if not line.startswith(("from backend.", "from __future__ ")))
    return "\n".join(["from __future__ import annotations", *kept])
