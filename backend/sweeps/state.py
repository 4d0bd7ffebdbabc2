"""Where a sweep stands, told from its runs alone: nothing of it can be out of date after a restart."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from storage.records import RunState

MISSING = "missing"  # a point without a run: never made, or deleted
ACTIVE = {RunState.STARTING.value, RunState.RUNNING.value, RunState.STOPPING.value}
WAITING = RunState.QUEUED.value
AGAIN = {RunState.STOPPED.value, RunState.LOST.value, MISSING}  # what resuming takes up
BAD = {RunState.FAILED.value, RunState.LOST.value}


def standing(rows: Sequence[Mapping[str, Any]], devices: int, expected: float | None) -> dict[str, Any]:
    """{"state", "counts": state -> runs, "runs", "ended", "done": share of the steps, "eta_s", "can"}.

    `rows`: one a point, with "state" (MISSING without a run) and "run": its RunView or None. "state" is in the words of
    a run's. `expected`: seconds of one run, until one has ended well; "eta_s" is None where nothing is known.
    """
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["state"]] = counts.get(row["state"], 0) + 1
    active = [row["run"] for row in rows if row["state"] in ACTIVE]
    queued = counts.get(WAITING, 0)
    over = not active and not queued
    return {
        "state": _state(counts, active, queued),
        "counts": counts,
        "runs": len(rows),
        "ended": sum(n for state, n in counts.items() if state not in ACTIVE | {WAITING, MISSING}),
        "done": fmean(_share(row) for row in rows) if rows else 0.0,
        "eta_s": None if over else _eta(rows, active, queued, devices, expected),
        "can": {
            "stop": bool(queued) or any(run["can"]["stop"] and not run["stop_requested"] for run in active),
            "stop_now": any(run["can"]["stop_now"] for run in active) and not queued,
            "resume": any(row["state"] in AGAIN for row in rows),
            "retry": counts.get(RunState.FAILED.value, 0) > 0,
            "delete": over,
        },
    }


def _state(counts: Mapping[str, int], active: Sequence[Mapping[str, Any]], queued: int) -> str:
    if active:
        ending = all(run["state"] == "stopping" or run["stop_requested"] for run in active)
        return "stopping" if ending and not queued else "running"
    if queued:
        return WAITING
    if counts.get(MISSING) or counts.get("stopped"):
        return "stopped"
    return "failed" if any(counts.get(state) for state in BAD) else "succeeded"


def _share(row: Mapping[str, Any]) -> float:
    if row["state"] == "succeeded":
        return 1.0
    run = row["run"]
    return min(1.0, run["last_step"] / run["total_steps"]) if run is not None and run["total_steps"] else 0.0


def _eta(
    rows: Sequence[Mapping[str, Any]],
    active: Sequence[Mapping[str, Any]],
    queued: int,
    devices: int,
    expected: float | None,
) -> float | None:
    took = [row["run"]["elapsed_s"] for row in rows if row["state"] == "succeeded" and row["run"]["elapsed_s"]]
    each = fmean(took) if took else expected
    left: list[float] = []
    for run in active:
        known = run["eta_s"] if run["eta_s"] is not None else None if each is None else each - (run["elapsed_s"] or 0.0)
        if known is None:
            return None
        left.append(max(0.0, known))
    if queued and each is None:
        return None
    return until_all_end(left, [each or 0.0] * queued, devices)


def until_all_end(left: Sequence[float], waiting: Sequence[float], devices: int) -> float:
    """Seconds until the last run has ended: those at work have `left`, those that wait begin in their order, each where
    a device is free first. Not the sum over the devices: three runs on two devices take as long as two in a row."""
    free = sorted(left, reverse=True)
    free = [*free[:devices], *[0.0] * (devices - len(free))] or [0.0]
    last = max([*left, 0.0])
    heapq.heapify(free)
    for seconds in waiting:
        last = max(last, free[0] + seconds)
        heapq.heapreplace(free, free[0] + seconds)
    return last
