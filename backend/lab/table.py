"""A small set of completions scored by several rewards, with what each one read and why."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.custom.inside.values import LARGEST
from backend.errors import Refused, StudioError
from backend.rewards.verdict import Verdict, completion_text
from backend.settings import on_space
from backend.text import Text

BINS = 20
MOST_CELLS = 20_000
CHUNK = 64  # rows between two looks at the clock
BUDGET_S = 60.0  # for one reward
# On a public Space, where others wait: for one request with all its rewards, and rows between two looks at the clock.
PUBLIC_S = 15.0
PUBLIC_CHUNK = 4


def resolve(home: Path, name: str, args: Mapping[str, Any] | None = None, version: int | None = None) -> Any:
    """The reward that `name` means here: a built-in one, one that the person has saved, or a file."""
    from backend import custom

    return custom.resolve(home, name, dict(args or {}), version)


def table(
    home: Path,
    rewards: Sequence[str],
    weights: Sequence[float] | None,
    args: Mapping[str, Mapping[str, Any]] | None,
    rows: Sequence[Mapping[str, Any]],
    versions: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """See LabService.table. Refused for no reward, a wrong count of weights, too many cells, a row without text."""
    wanted = weights_of(rewards, weights)
    if len(rows) * len(rewards) > MOST_CELLS:
        raise Refused(
            Text(
                en=f"rows: {len(rows)} rows for {len(rewards)} rewards; at most {MOST_CELLS // len(rewards)} rows here",
                ko=f"rows: 보상 {len(rewards)}개에 행 {len(rows)}개입니다. 최대 {MOST_CELLS // len(rewards)}행입니다",
            )
        )
    completions = [_completion(index, row) for index, row in enumerate(rows)]
    cells: dict[str, list[dict[str, Any]]] = {}
    seconds: dict[str, float] = {}
    until = time.perf_counter() + PUBLIC_S if on_space() else math.inf
    for name in rewards:
        reward = resolve(home, name, (args or {}).get(name), (versions or {}).get(name))
        began = time.perf_counter()
        cells[name] = [cell(verdict, failed) for verdict, failed in verdicts(reward, rows, until=until)]
        seconds[name] = time.perf_counter() - began
    found = [
        {
            "row": index,
            "completion": completion_text(completion),
            "cells": {name: cells[name][index] for name in rewards},
            "total": total([cells[name][index]["score"] for name in rewards], wanted),
        }
        for index, completion in enumerate(completions)
    ]
    return {
        "rewards": list(rewards),
        "rows": found,
        "histograms": {name: histogram([each["score"] for each in cells[name]]) for name in rewards},
        "seconds": seconds,
    }


def weights_of(rewards: Sequence[str], weights: Sequence[float] | None) -> list[float]:
    """One weight a reward (1.0 each where none is given); Refused in words for none, another count, a double name."""
    if not rewards:
        raise Refused(Text(en="rewards: choose at least one", ko="rewards: 보상을 하나 이상 고르세요"))
    double = [name for name in dict.fromkeys(rewards) if list(rewards).count(name) > 1]
    if double:
        raise Refused(Text(en=f"rewards: {double[0]} is there twice", ko=f"rewards: {double[0]}이(가) 두 번 있습니다"))
    given = [1.0] * len(rewards) if not weights else list(weights)
    # Compared before it is made a float: a whole number of hundreds of digits is none. NaN compares as false.
    sound = all(isinstance(w, int | float) and not isinstance(w, bool) and abs(w) <= LARGEST for w in given)
    if len(given) != len(rewards) or not sound:
        raise Refused(
            Text(
                en=f"weights={given!r:.80}: {len(rewards)} numbers of at most {LARGEST:g} in size are needed, "
                "one for each reward",
                ko=f"weights={given!r:.80}: 보상마다 하나씩, 크기가 {LARGEST:g} 이하인 수 {len(rewards)}개가 "
                "필요합니다",
            )
        )
    return [float(w) for w in given]


def _completion(index: int, row: Mapping[str, Any]) -> Any:
    completion = row.get("completion") if isinstance(row, Mapping) else None
    if not isinstance(completion, str | list):
        raise Refused(
            Text(
                en=f"rows: row {index + 1} has no completion (a text, or a list of messages)",
                ko=f"rows: {index + 1}번 행에 completion(문자열 또는 메시지 목록)이 없습니다",
            )
        )
    return completion


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The rows' columns as TRL hands them to a reward, without "completion"; None where a row has none."""
    names = dict.fromkeys(name for row in rows for name in row if name not in ("completion", "prompts", "completions"))
    columns = {name: [row.get(name) for row in rows] for name in names}
    columns["prompts"] = columns.pop("prompt", None) or [""] * len(rows)
    return columns


def budget(usual_s: float) -> float:
    """Seconds that one request may take here."""
    return min(usual_s, PUBLIC_S) if on_space() else usual_s


def verdicts(
    reward: Any, rows: Sequence[Mapping[str, Any]], budget_s: float = BUDGET_S, until: float = math.inf
) -> list[tuple[Verdict, bool]]:
    """A verdict a row, and whether it stands for a failure; None with the reason for a row without a needed column.

    A StudioError about the reward as a whole (no sandbox, a wrong count) passes through. After `budget_s` seconds, or
    at the moment `until` (of time.perf_counter), the rest is left unscored.
    """
    needed = [column for column in getattr(reward, "columns", ()) if column not in ("prompt", "prompts")]
    found: list[tuple[Verdict, bool]] = [(Verdict(None), True)] * len(rows)
    ready: list[int] = []
    for at, row in enumerate(rows):
        missing = [column for column in needed if column not in row]
        if missing:
            found[at] = Verdict(None, reason=f"the row has no {', '.join(missing)}"), True
        else:
            ready.append(at)
    until = min(until, time.perf_counter() + budget_s)
    chunk, allowed = (PUBLIC_CHUNK, budget(budget_s)) if on_space() else (CHUNK, budget_s)
    for start in range(0, len(ready), chunk):
        places = ready[start : start + chunk]
        if time.perf_counter() > until:
            judged = [(Verdict(None, reason=f"not scored: {allowed:g} s were used up"), True)] * len(places)
        else:
            judged = _judged(reward, [rows[at] for at in places])
        for at, verdict in zip(places, judged, strict=True):
            found[at] = verdict
    return found


def _judged(reward: Any, rows: Sequence[Mapping[str, Any]]) -> list[tuple[Verdict, bool]]:
    try:
        return list(reward.verdicts([row["completion"] for row in rows], **columns_of(rows)))
    except StudioError:
        raise
    except Exception as error:
        return [(Verdict(None, reason=f"{type(error).__name__}: {error}"), True)] * len(rows)


def cell(verdict: Verdict, failed: bool) -> dict[str, Any]:
    score = verdict.score
    sound = score is not None and math.isfinite(score)
    return {
        "score": score if sound else None,
        "extracted": verdict.extracted,
        "reason": verdict.reason,
        "failed": failed,
    }


def total(scores: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """TRL's total: the weighted sum of what applies; None where nothing does."""
    kept = [s * w for s, w in zip(scores, weights, strict=True) if s is not None and math.isfinite(s)]
    return math.fsum(kept) if kept else None


def histogram(scores: Sequence[float | None]) -> dict[str, Any]:
    """{"edges" (n + 1), "counts" (n), "missing"}; equal scores stand in one bar around their value."""
    kept = [s for s in scores if s is not None]
    if not kept:
        return {"edges": [], "counts": [], "missing": len(scores)}
    low, high = min(kept), max(kept)
    if low == high:
        return {"edges": [low - 0.5, high + 0.5], "counts": [len(kept)], "missing": len(scores) - len(kept)}
    width = (high - low) / BINS
    counts = [0] * BINS
    for score in kept:
        counts[min(int((score - low) / width), BINS - 1)] += 1
    edges = [*(low + width * n for n in range(BINS)), high]
    return {"edges": edges, "counts": counts, "missing": len(scores) - len(kept)}
