"""The door to it: ids of runs in, their settings, evaluations and curves beside each other out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backend import views
from backend.compare.curves import AXES, Axis, Points, along, band, line, thinned, thinned_band
from backend.compare.settings import differences, seeds
from backend.diagnosis.service import PATIENCE_S
from backend.errors import Refused
from backend.evaluation import reading
from backend.evaluation.paired import paired
from backend.headline import wilson
from backend.text import Text
from storage.records import EvaluationItem, Run

if TYPE_CHECKING:
    from backend.services import Services

MOST = 12  # runs at once: more lines cannot be told apart
ALL = 10_000_000  # points of a curve: not thinned
AXIS_CURVES = ("num_tokens", "step_time")
HELD_OUT = "held_out"
# What is drawn, in this order, where at least one of the runs has it.
CHARTS: tuple[tuple[str, Text, str], ...] = (
    ("reward", Text("Reward", "보상"), ""),
    (HELD_OUT, Text("Held-out accuracy", "평가 정확도"), "%"),
    ("rewards/*/mean", Text("{0}", "{0}"), ""),
    ("signal/zero_std", Text("Groups without signal", "신호 없는 그룹"), "%"),
    ("completions/mean_length", Text("Completion length (tokens)", "답변 길이(토큰)"), ""),
    ("completions/clipped_ratio", Text("Truncated", "잘린 답변"), "%"),
    ("entropy", Text("Entropy", "엔트로피"), ""),
    ("kl", Text("KL to the reference", "기준 모델과의 KL"), ""),
    ("grad_norm", Text("Gradient norm", "그래디언트 노름"), ""),
    ("learning_rate", Text("Learning rate", "학습률"), ""),
)


class CompareService:
    """Thread-safe; holds nothing that a run's records do not."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def of(self, runs: Sequence[str]) -> dict[str, Any]:
        """{"runs", "gone", "settings", "groups", "charts"} of up to 12 runs in the order given; unknown ids are in
        "gone".

        A run: its view, "group" (its place in "groups": lists of places of runs that differ in the seed alone),
        "measured" (backend.sweeps.measures: measure, finding) and "against": its held-out answers against those of the
        first run on the same rows, {"difference", "low", "high", "won", "lost", "n", "p"}, None where they share none.
        """
        found, gone = self._runs(runs)
        groups = seeds(found)
        place = {i: k for k, members in enumerate(groups) for i in members}
        answers = [reading.answers(self._services, run)[1] for run in found]
        seen = [self._services.view_of(run) for run in found]
        measured = [
            self._services.sweeps.measures.of(self._services, run, view["elapsed_s"])
            for run, view in zip(found, seen, strict=True)
        ]
        said = self._findings(found)
        names = {name for run in found for phase, name in self._services.reader.latest(run.id) if phase == "train"}
        return {
            "runs": [
                {
                    **seen[i],
                    "seed": run.config.get("seed"),
                    "group": place[i],
                    "measured": _without_rows(measured[i]) | {"finding": said[i]},
                    "against": _against(answers[0], answers[i]) if i else None,
                }
                for i, run in enumerate(found)
            ],
            "gone": gone,
            "settings": views.plain(differences(found)),
            "groups": groups,
            "charts": _charts(names, any(self._services.reader.evaluations(run.id) for run in found)),
        }

    def curves(self, runs: Sequence[str], name: str, axis: str = "step", smoothing: float = 0.0) -> dict[str, Any]:
        """{"name", "axis", "lines": [{"run", "x", "y", "raw", "step"}], "bands": [{"group", "runs", "x", "mean",
        "low", "high"}], "without": [ids of runs that have no place on this axis]} of one metric of training.

        x: steps, tokens or seconds. `smoothing`: 0 to .95. Of "held_out" the lines are the evaluations' accuracies with
        "low" and "high", never smoothed, and there are no bands.
        """
        found, _ = self._runs(runs)
        chosen = _axis(axis)
        strength = min(0.95, max(0.0, smoothing))
        lines, without = [], []
        for run in found:
            curves = self._curves(run, name)
            if name == HELD_OUT:
                made = self._held_out(run, chosen, curves)
            else:
                points = curves.get(name)
                made = line(chosen, points, curves, strength) if points else None
            if made and made["x"]:
                lines.append({"run": run.id, **made})
            elif made or name in curves:
                without.append(run.id)
        bands = []
        by_run = {one["run"]: one for one in lines}
        for k, members in enumerate(seeds(found)):
            ids = [found[i].id for i in members if found[i].id in by_run]
            made = band([by_run[i] for i in ids], chosen) if len(ids) > 1 and name != HELD_OUT else None
            if made:
                bands.append({"group": k, "runs": ids, **thinned_band(made)})
        drawn = [{"run": one.pop("run"), **thinned(one)} for one in lines]
        return {"name": name, "axis": chosen, "lines": drawn, "bands": bands, "without": without}

    def _findings(self, runs: Sequence[Run]) -> list[dict[str, Any] | None]:
        """One a run. Those that have to be made are all begun before any is waited for, and all share one wait: the
        page asks again for what is "pending"."""
        until = time.monotonic() + PATIENCE_S
        finding = self._services.sweeps.measures.finding
        said = [finding(self._services, run, 0.0) for run in runs]
        for i, run in enumerate(runs):
            if (said[i] or {}).get("state") == "pending":
                said[i] = finding(self._services, run, max(0.0, until - time.monotonic()))
        return said

    def _runs(self, ids: Sequence[str]) -> tuple[list[Run], list[str]]:
        unique = list(dict.fromkeys(ids))
        if len(unique) > MOST:
            raise Refused(
                Text(
                    en=f"runs: {len(unique)} of them; at most {MOST} can be told apart on a chart",
                    ko=f"runs: {len(unique)}개입니다. 차트에서 구분할 수 있도록 최대 {MOST}개까지 비교합니다",
                )
            )
        found = [(run_id, self._services.reader.run(run_id)) for run_id in unique]
        return [run for _, run in found if run is not None], [run_id for run_id, run in found if run is None]

    def _curves(self, run: Run, name: str) -> dict[str, Points]:
        """The curve and those of the axes, whole."""
        _, curves = self._services.reader.history(run.id, ALL, names=(name, "reward", *AXIS_CURVES))
        return {name: points for (phase, name), points in curves.items() if phase == "train"}

    def _held_out(self, run: Run, axis: Axis, curves: dict[str, Points]) -> dict[str, Any]:
        kept = [e for e in self._services.reader.evaluations(run.id) if e.when in ("before", "during", "after") and e.n]
        steps = [e.step for e in kept]
        last = max((max(steps_, default=0) for steps_, _ in curves.values()), default=0)
        # Before the first step nothing was spent; after the last log, what the training took until then.
        at = steps if axis == "step" else [min(step, last) for step in steps]
        placed = [0.0 if step == 0 else along(axis, [step], curves)[0] for step in at]
        if not last and axis != "step":  # what it took is not known of any step
            placed = [x if step == 0 else None for x, step in zip(placed, steps, strict=True)]
        made: dict[str, Any] = {"x": [], "y": [], "low": [], "high": [], "n": [], "step": []}
        for evaluation, step, x in zip(kept, steps, placed, strict=True):
            if x is None or evaluation.accuracy != evaluation.accuracy:
                continue
            low, high = wilson(evaluation.accuracy, evaluation.n)
            row = (
                ("x", x),
                ("y", evaluation.accuracy),
                ("low", low),
                ("high", high),
                ("n", evaluation.n),
                ("step", step),
            )
            for key, value in row:
                made[key].append(value)
        return made


def _without_rows(measured: Mapping[str, Any]) -> dict[str, Any]:
    """As `measure` gives it, without the keys of the held-out rows, which only a sweep needs."""
    return {name: value for name, value in measured.items() if name != "rows"}


def _axis(name: str) -> Axis:
    for axis in AXES:
        if axis == name:
            return axis
    raise Refused(Text(en=f"axis={name!r}: one of {', '.join(AXES)}", ko=f"axis={name!r}: {', '.join(AXES)} 중 하나"))


def _against(first: Sequence[EvaluationItem], other: Sequence[EvaluationItem]) -> dict[str, Any] | None:
    """Rows that both answered, told by prompt and ground truth; a row asked twice is taken in its order."""
    rows: dict[tuple[str, str | None], list[bool | None]] = {}
    for item in first:
        rows.setdefault((item.prompt, item.ground_truth), []).append(item.correct)
    pairs = [
        (waiting.pop(0), item.correct) for item in other if (waiting := rows.get((item.prompt, item.ground_truth)))
    ]
    found = paired([a for a, _ in pairs], [b for _, b in pairs])
    if found is None:
        return None
    return {
        "difference": found.difference, "low": found.low, "high": found.high, "won": found.won, "lost": found.lost,
        "n": found.n, "p": found.p,
    }  # fmt: skip


def _charts(names: set[str], evaluated: bool) -> list[dict[str, Any]]:
    charts = []
    for name, title, unit in CHARTS:
        if name == HELD_OUT and evaluated:
            charts.append({"name": name, "title": title.to_json(), "unit": unit})
        elif "*" in name:
            first, last = name.split("*")
            for each in sorted(n for n in names if n.startswith(first) and n.endswith(last)):
                middle = each[len(first) : -len(last)]
                charts.append({"name": each, "title": Text(middle, middle).to_json(), "unit": unit})
        elif name in names:
            charts.append({"name": name, "title": title.to_json(), "unit": unit})
    return charts
