"""Which curves a report draws, from what the run logged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from backend.headline import wilson
from backend.report.charts import Chart, Line, chart
from backend.report.facts import Facts
from backend.report.words import Words
from backend.rewards.task import DECIDE_CORRECT
from storage.reader import Reader

DRAWN = 480  # points of a drawn curve: more than its width in pixels shows nothing more
READ = 20_000
SMOOTH_FROM = 30  # steps from which a curve is smoothed
HUES = ("blue", "orange", "purple", "green", "sky", "vermillion")
SHARES = (("zero_std", "ink"), ("all_right", "sky"), ("all_wrong", "vermillion"), ("tied", "muted"))
Curve = tuple[list[int], list[float]]


def charts(reader: Reader, facts: Facts, t: Words) -> list[Chart]:
    """Reward, accuracy, dead groups, length, entropy; those without a value are left out."""
    _, found = reader.history(facts.run.id, READ)
    curves: dict[str, Curve] = {name: curve for (phase, name), curve in found.items() if phase == "train"}
    made = [_reward(curves, facts, t), _accuracy(curves, facts, t), _signal(curves, t), _length(curves, facts, t)]
    if "sft" in (facts.config.get("stages") or ()):
        warm_up = {name: curve for (phase, name), curve in found.items() if phase == "sft"}
        made.insert(0, _plain(warm_up, "loss", t("chart.warm_up"), t("unit.loss"), t))
    made.append(_plain(curves, "entropy", t("chart.entropy"), t("unit.nats"), t))
    return [each for each in made if each is not None]


def window(n: int) -> int:
    """How many steps the trailing mean takes; 1 (none) for short runs."""
    return 1 if n < SMOOTH_FROM else max(3, n // 25)


def smooth(curve: Curve, w: int) -> Curve:
    """The trailing mean of the last `w` finite values; where the value itself is none, there is a gap."""
    steps, values = curve
    out = []
    for i, value in enumerate(values):
        last = [v for v in values[max(0, i - w + 1) : i + 1] if math.isfinite(v)]
        out.append(math.fsum(last) / len(last) if math.isfinite(value) and last else math.nan)
    return steps, out


def fewer(curve: Curve, most: int = DRAWN) -> Curve:
    """Every so many points, the last one and each that is no number."""
    steps, values = curve
    every = math.ceil(len(steps) / most)
    if every <= 1:
        return curve
    keep = [i for i in range(len(steps)) if i % every == 0 or i == len(steps) - 1 or not math.isfinite(values[i])]
    return [steps[i] for i in keep], [values[i] for i in keep]


def peaks(curve: Curve, most: int = DRAWN) -> Curve:
    """The lowest and the highest value of each stretch of steps, in their order, and each that is no number: a spike
    of one step stays a spike."""
    steps, values = curve
    wide = math.ceil(len(steps) / most) * 2
    if wide <= 2:
        return curve
    keep: set[int] = {i for i, value in enumerate(values) if not math.isfinite(value)}
    for start in range(0, len(steps), wide):
        inside = [i for i in range(start, min(start + wide, len(steps))) if math.isfinite(values[i])]
        if inside:
            keep |= {min(inside, key=values.__getitem__), max(inside, key=values.__getitem__)}
    ordered = sorted(keep)
    return [steps[i] for i in ordered], [values[i] for i in ordered]


def envelope(low: Curve, high: Curve, most: int = DRAWN) -> tuple[list[int], list[float], list[float]]:
    """(steps, low, high) of a band: the extremes of each stretch of steps. A stretch with a value that is no number is
    a gap."""
    wide = math.ceil(len(low[0]) / most)
    starts = range(0, len(low[0]), wide)
    return (
        [low[0][start] for start in starts],
        [_extreme(min, low[1][start : start + wide]) for start in starts],
        [_extreme(max, high[1][start : start + wide]) for start in starts],
    )


def _extreme(of: Callable[[list[float]], float], values: list[float]) -> float:
    return of(values) if all(math.isfinite(value) for value in values) else math.nan


def _line(curve: Curve, label: str, color: str, *, data: bool = False, dash: str = "solid") -> Line:
    x, y = fewer(smooth(curve, window(len(curve[0]))))
    return Line(label, x, y, color, data=data, dash=dash)


def _raw(curve: Curve, color: str) -> list[Line]:
    """The curve as logged, faint behind a smoothed one."""
    if window(len(curve[0])) == 1:
        return []
    x, y = peaks(curve)
    return [Line("", x, y, color, faint=True)]


def _note(curves: dict[str, Curve], name: str, t: Words) -> str:
    w = window(len(curves[name][0])) if name in curves else 1
    return t("chart.smoothed", w=w) if w > 1 else ""


def _plain(curves: dict[str, Curve], name: str, title: str, unit: str, t: Words) -> Chart | None:
    if name not in curves:
        return None
    return chart(title, unit, [*_raw(curves[name], "ink"), _line(curves[name], title, "ink")], zero=True,
                 note=_note(curves, name, t))  # fmt: skip


def _reward(curves: dict[str, Curve], facts: Facts, t: Words) -> Chart | None:
    lines = []
    names = facts.run.reward_names or tuple(facts.config.get("rewards") or ())
    if "reward" in curves:
        lines += _raw(curves["reward"], "ink")
    for k, name in enumerate(names):
        if (curve := curves.get(f"rewards/{name}/mean")) is not None:
            lines.append(
                _line(curve, name, HUES[k % len(HUES)], data=True, dash="dashed" if k >= len(HUES) else "solid")
            )
    if "reward" in curves:
        lines.append(_line(curves["reward"], t("chart.total"), "ink"))
    held = [e for e in facts.evaluations if e.when in ("before", "during", "after") and _known(e.mean_reward)]
    if held:
        values = [float(e.mean_reward or 0) for e in held]
        lines.append(Line(t("chart.held_out"), [e.step for e in held], values, "accent", kind="points"))
    return chart(t("chart.reward"), t("unit.reward"), lines, note=_note(curves, "reward", t))


def _accuracy(curves: dict[str, Curve], facts: Facts, t: Words) -> Chart | None:
    """Held-out evaluations with Wilson's 95% interval; the training batches' own accuracy behind them, where the
    reward that decides it is a share of right answers."""
    lines, notes = [], []
    decides = next((name for name in DECIDE_CORRECT if f"rewards/{name}/mean" in curves), None)
    if decides is not None:
        name = f"rewards/{decides}/mean"
        if all(0 <= value <= 1 for value in curves[name][1] if math.isfinite(value)):
            lines += [*_raw(curves[name], "blue"), _line(curves[name], t("chart.batch"), "blue")]
            notes.append(_note(curves, name, t))
    for moments, label, color in (
        (("during",), t("chart.during"), "orange"),
        (("before", "after"), t("chart.before_after"), "accent"),
    ):
        held = [e for e in facts.evaluations if e.when in moments and _known(e.accuracy) and e.n > 0]
        bounds = [wilson(e.accuracy, e.n) for e in held]
        if held:
            lines.append(Line(label, [e.step for e in held], [e.accuracy for e in held], color, kind="points",
                              low=[b[0] for b in bounds], high=[b[1] for b in bounds]))  # fmt: skip
    if any(line.kind == "points" for line in lines):
        notes.append(t("chart.whiskers"))
    note = " ".join(filter(None, notes))
    return chart(t("chart.accuracy"), t("unit.share_answers"), lines, share=True, note=note)


def _signal(curves: dict[str, Curve], t: Words) -> Chart | None:
    dead = "signal/zero_std" if "signal/zero_std" in curves else "frac_reward_zero_std"
    if dead not in curves:
        return None
    lines = _raw(curves[dead], "ink")
    dashes = {"all_right": "dashed", "all_wrong": "dashed", "tied": "dotted"}
    for name, color in SHARES[1:]:
        curve = curves.get(f"signal/{name}")
        if curve is not None and any(value > 0 for value in curve[1]):
            lines.append(_line(curve, t(f"chart.{name}"), color, dash=dashes[name]))
    lines.append(_line(curves[dead], t("chart.dead_all"), "ink"))
    return chart(t("chart.dead"), t("unit.share_groups"), lines, share=True, note=_note(curves, dead, t))


def _length(curves: dict[str, Curve], facts: Facts, t: Words) -> Chart | None:
    mean = curves.get("completions/mean_length")
    if mean is None:
        return None
    lines = []
    low, high = curves.get("completions/min_length"), curves.get("completions/max_length")
    if low and high and low[0] == high[0] == mean[0]:
        steps, bottom, top = envelope(low, high)
        lines.append(Line(t("chart.band"), steps, bottom, "muted", kind="band", low=bottom, high=top))
    lines.append(_line(mean, t("chart.mean"), "ink"))
    limit = facts.config.get("max_completion_length")
    longest = max((v for v in (high or mean)[1] if math.isfinite(v)), default=0.0)
    if isinstance(limit, int) and longest * 2 >= limit:
        ends: Sequence[int] = (mean[0][0], mean[0][-1])
        lines.append(Line(t("chart.limit"), list(ends), [float(limit)] * 2, "vermillion", dash="dotted"))
    return chart(
        t("chart.length"), t("unit.tokens"), lines, zero=True, note=_note(curves, "completions/mean_length", t)
    )


def _known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
