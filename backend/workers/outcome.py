"""How an attempt ended, in words that a person can act on."""

from __future__ import annotations

import logging
import os
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.config import Plan, check
from backend.errors import StudioError
from backend.processes.redact import Redactor, secrets_of
from backend.workers.job import Job
from backend.workers.memory import MemoryFailure, explain, is_out_of_memory
from backend.workers.stop import StopHere, StopNow
from storage.records import RunState

log = logging.getLogger(__name__)

TAIL_LINES = 40


@dataclass(frozen=True, slots=True)
class Outcome:
    state: RunState
    reason: str | None
    log_tail: str | None


def log_tail(log_file: Path, extra: str) -> str:
    """The last lines of the worker's log and of `extra`; the log may still lack what was just written to it."""
    try:
        with log_file.open("rb") as file:
            file.seek(max(0, log_file.stat().st_size - 16_384))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    added = extra.splitlines()
    if added and added[-1] in lines[-3:]:
        added = []
    return "\n".join((lines + added)[-TAIL_LINES:])


def outcome_of(error: BaseException, run_dir: Path, job: Job | None) -> Outcome:
    """Stopped for a person's wish, failed with a reason for everything else. `job` is None when none could be made."""
    if isinstance(error, StopNow):
        return Outcome(RunState.STOPPED, "ended at once, without a last checkpoint", None)
    if isinstance(error, StopHere):
        return Outcome(RunState.STOPPED, job.stop.because if job else None, None)
    trace = "".join(traceback.format_exception(error))
    tail = log_tail(run_dir / "logs" / "worker.log", trace)
    return Outcome(RunState.FAILED, _redacted(_reason(error, job)), _redacted(tail))


def _redacted(text: str) -> str:
    return Redactor(secrets_of(os.environ)).clean(text.encode("utf-8", "replace")).decode("utf-8", "replace")


def _reason(error: BaseException, job: Job | None) -> str:
    if isinstance(error, StudioError):
        return str(error)
    if job and is_out_of_memory(error):
        failure = _memory_failure(job)
        job.writer.event("out_of_memory", str(failure), "error", {"phase": failure.phase, "change": failure.change})
        return str(failure)
    words = str(error).strip().splitlines()
    return f"{type(error).__name__} during {job.phase if job else 'start'}: {words[0] if words else 'no message'}"


def _memory_failure(job: Job) -> MemoryFailure:
    """The plan's own parts and its verdict on each change where a plan can be made; usual causes elsewhere."""
    plan = _plan(job, {})
    parts = [(key, text.en, size) for key, text, size in plan.memory] if plan else []
    return explain(job.config, job.phase, parts, lambda change: bool((p := _plan(job, change)) and p.fits))


def _plan(job: Job, change: dict[str, Any]) -> Plan | None:
    raw = job.config.to_dict() | change
    try:
        answer = check(raw, job.settings.home, job.device)
    except Exception:
        log.exception("no memory plan for %s", change or "this run")
        return None
    return answer.plan if answer.ok else None
