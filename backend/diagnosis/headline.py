"""One sentence on a run, from its records and the findings that stand: learning, learning slowly, not learning because
..., broken because ..., cannot tell yet.

The order: what is broken cannot be judged; then what was measured on held-out rows; then whether what rises is what was
wanted (the task's own reward, where there are others beside it); then the gain of the reward (first against last steps,
Welch, claimed at 99%, shown at 95%); then what holds it up. So the sentence never contradicts a finding: a run that
rises while groups are dead is learning and says what holds it back, and one that does not rise names the finding that
explains it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from backend.diagnosis.base import Finding
from backend.diagnosis.engine import Engine
from backend.diagnosis.records import Records
from backend.headline import SMALLEST_WINDOW, Gain, HeldOut, gain, number, signed
from backend.text import Text

State = Literal["learning", "learning_slowly", "not_learning", "broken", "cannot_tell"]
SLOW = 0.05  # of the reward's range in 100 steps: less is slow
FLAT_RULE = "D1"  # says that the total does not rise
FLAT = 0.05  # of the reward's range: an interval narrower than this can tell flat from rising
SOLVED = 0.9  # of the reward's range: above it there is not much left to gain
GRAVE = ("stop", "critical")
MOST_STEPS = 100_000  # more than this many steps "needed" means: not by waiting

STATES: dict[State, tuple[Text, Text]] = {  # while it runs, after its end
    "learning": (Text("Learning", "학습되고 있습니다"), Text("Learned", "학습되었습니다")),
    "learning_slowly": (
        Text("Learning slowly", "느리게 학습되고 있습니다"),
        Text("Learned slowly", "느리게 학습되었습니다"),
    ),
    "not_learning": (Text("Not learning", "학습되지 않고 있습니다"), Text("Did not learn", "학습되지 않았습니다")),
    "broken": (Text("Broken", "고장났습니다"), Text("Broken", "고장났습니다")),
    "cannot_tell": (Text("Cannot tell yet", "아직 판단할 수 없습니다"), Text("Cannot tell", "판단할 수 없습니다")),
}
NO_STEP = Text("no GRPO step yet", "아직 GRPO 스텝이 없습니다")


def headline(engine: Engine, ended: bool = False) -> dict[str, Any]:
    """{"state", "text", "because", "needs", "gain", "held_out"} of what an engine has seen so far.

    `because`: the id of the finding that explains it; `needs`: steps until it can tell. Text's numbers are rewards as
    logged (weighted sums) and shares.
    """
    records = engine.records
    standing = [f for f in engine.findings() if f.state == "fired" and f.because_of is None]
    rewards = records.window(engine.last_step).reward
    found, held_out = gain(rewards.values), _held_out(records)
    task = _task(engine)
    scale = _scale(records)
    steps = max(rewards.steps, default=0)
    state, because, needs = _judge(found, task, held_out, standing, scale, len(rewards.values), steps)
    text = _sentence(state, because, needs, found, task, held_out, standing, steps, ended)
    return {
        "state": state,
        "text": text.to_json(),
        "because": because.rule.id if because else None,
        "needs": needs if state == "cannot_tell" and not ended else None,
        "gain": None
        if found is None
        else {"first": found.first, "last": found.last, "half": found.half, "window": found.window},
        "held_out": None
        if held_out is None
        else {
            "before": held_out.before,
            "after": held_out.after,
            "n": held_out.n,
            "low": held_out.low,
            "high": held_out.high,
        },
    }


@dataclass(frozen=True, slots=True)
class Task:
    """The gain of the task's own reward, beside others; `solved`: there is not much left to gain."""

    name: str
    gain: Gain
    solved: bool

    @property
    def rose(self) -> bool:
        return self.gain.sure and self.gain.change > 0


def _task(engine: Engine) -> Task | None:
    """None without a task reward, where it is the only one, and before there are enough steps."""
    facts = engine.records.facts
    if facts.task is None or len(facts.reward_names) < 2:
        return None
    name = facts.reward_names[facts.task]
    found = gain(engine.records.window(engine.last_step).curve(f"rewards/{name}/mean").values)
    if found is None:
        return None
    bounds = facts.bounds[facts.task] if facts.task < len(facts.bounds) else None
    solved = bounds is not None and found.last >= bounds[0] + SOLVED * (bounds[1] - bounds[0])
    return Task(name, found, solved)


def _judge(
    found: Gain | None,
    task: Task | None,
    held_out: HeldOut | None,
    standing: Sequence[Finding],
    scale: tuple[float, float] | None,
    logged: int,
    steps: int,
) -> tuple[State, Finding | None, int | None]:
    broken = next((f for f in standing if f.rule.means == "broken"), None)
    if broken is not None:
        return "broken", broken, None
    doubt = next((f for f in standing if f.rule.means == "doubtful" and f.severity in GRAVE), None)
    stalled = next((f for f in standing if f.rule.means == "stalled" and f.severity != "info"), None)
    if held_out is not None and held_out.sure:
        return ("learning", None, None) if held_out.change > 0 else ("not_learning", doubt or stalled, None)
    if doubt is not None:
        return "not_learning", doubt, None
    if found is None:
        if stalled is not None and stalled.severity in GRAVE:
            return "not_learning", stalled, None
        return "cannot_tell", None, max(1, 2 * SMALLEST_WINDOW - logged)
    if task is not None and task.rose and not (found.sure and found.change < 0):
        slow = _slow(found, scale, steps) and _slow(task.gain, None, steps) and not task.solved
        return ("learning_slowly" if slow else "learning"), None, None
    if found.sure and found.change > 0:
        if stalled is not None and stalled.severity in GRAVE:
            return "not_learning", stalled, None
        if task is not None and not task.solved:
            # What rises is something beside the task: the finding that says so, or more steps, must tell.
            mild = next((f for f in standing if f.rule.means == "doubtful" and f.severity != "info"), None)
            because = mild or stalled
            return (
                ("not_learning", because, None) if because else ("cannot_tell", None, _needed(task.gain, None, logged))
            )
        return ("learning_slowly" if _slow(found, scale, steps) else "learning"), None, None
    if found.sure:
        return "not_learning", stalled, None
    if stalled is not None:
        return "not_learning", stalled, None
    return "cannot_tell", None, _needed(found, scale, logged)


def _scale(records: Records) -> tuple[float, float] | None:
    """The least and greatest total reward, from the functions' bounds or as seen; None where there is no span."""
    low, high = records.extremes.low, records.extremes.high
    return (low, high) if math.isfinite(low) and math.isfinite(high) and high > low else None


def _span(scale: tuple[float, float] | None) -> float:
    return scale[1] - scale[0] if scale else 1.0


def _slow(found: Gain, scale: tuple[float, float] | None, steps: int) -> bool:
    """Less than SLOW of the range in 100 steps, unless there is not much left to gain."""
    if scale is not None and found.last >= scale[0] + SOLVED * _span(scale):
        return False
    apart = max(1, steps - found.window)  # from the middle of the first window to that of the last
    return 100 * found.change / apart < SLOW * _span(scale)


def _needed(found: Gain, scale: tuple[float, float] | None, logged: int) -> int | None:
    """Steps until the interval is as narrow as FLAT of the range: its half width falls with the root of the steps."""
    wanted = FLAT * _span(scale)
    if found.half <= wanted:
        return SMALLEST_WINDOW
    needed = math.ceil(logged * ((found.half / wanted) ** 2 - 1))
    return needed if needed <= MOST_STEPS else None


def _held_out(records: Records) -> HeldOut | None:
    """Before training against the latest look at the held-out rows."""
    of_run = [e for e, _ in records.evaluations if e.when in ("before", "during", "after")]
    before = next((e for e in of_run if e.when == "before"), None)
    # The latest step: a run that went on after its "after" has newer ones. At one step "after" has all the rows.
    later = [e for e in of_run if e.when == "after" or (e.when == "during" and e.step > 0)]
    after = max(later, key=lambda e: (e.step, e.when == "after"), default=None)
    if before is None or after is None:
        return None
    return HeldOut.of(
        [
            {"when": "before", "n": before.n, "accuracy": before.accuracy},
            {"when": "after", "n": after.n, "accuracy": after.accuracy},
        ]
    )


def _sentence(
    state: State,
    because: Finding | None,
    needs: int | None,
    found: Gain | None,
    task: Task | None,
    held_out: HeldOut | None,
    standing: Sequence[Finding],
    steps: int,
    ended: bool,
) -> Text:
    said = STATES[state][1 if ended else 0]
    en, ko = said.en, said.ko
    if because is not None:
        en, ko = f"{en}: {_low(because.rule.title.en)}", f"{ko}: {because.rule.title.ko}"
    elif state == "not_learning" and found is not None and found.change < 0:
        en, ko = f"{en}: it got worse", f"{ko}: 나빠졌습니다"
    if state == "broken":
        return Text(en=f"{en}.", ko=f"{ko}.")
    if steps == 0:
        return Text(en=f"{en}: {NO_STEP.en}.", ko=f"{ko}: {NO_STEP.ko}.")
    moved = _moved(found, steps)
    # It learns by the task's own reward, whatever the sum of all does: the figures that say so stand first.
    by_task = task is not None and task.rose and found is not None and not (found.sure and found.change > 0)
    if by_task and task is not None and state in ("learning", "learning_slowly"):
        own = _moved(task.gain, steps, task.name)
        moved = Text(
            en=f"{own.en}; the total {_change(found)}",
            ko=f"{own.ko}, 총보상은 {_change(found)}",
        )
    if task is not None and not task.rose and found is not None and found.sure and found.change > 0 and not task.solved:
        beside = _change(task.gain)
        moved = Text(en=f"{moved.en}, but {task.name} {beside}", ko=f"{moved.ko}, 그러나 {task.name} {beside}")
    if state == "cannot_tell":
        if found is None:
            en += f" after {steps:,} steps" + ("" if ended else f": a first answer needs {needs} more")
            ko += f": {steps:,}스텝" + ("" if ended else f", 첫 판단까지 {needs}스텝 더 필요합니다")
        else:
            more = "" if ended or needs is None else f"; about {needs:,} more steps would tell"
            more_ko = "" if ended or needs is None else f" (약 {needs:,}스텝 더 필요)"
            noise = "" if found.sure else " is within the noise"
            noise_ko = "" if found.sure else ", 잡음 범위 안입니다"
            en += f": {moved.en}{noise}{more}"
            ko += f": {moved.ko}{noise_ko}{more_ko}"
    elif found is not None:
        join, join_ko = ("; ", ". ") if because is not None else (": ", ": ")
        en, ko = f"{en}{join}{moved.en}", f"{ko}{join_ko}{moved.ko}"
    en, ko = f"{en}.", f"{ko}."
    if held_out is not None:
        said = held_out.text()
        en, ko = f"{en} {said.en}", f"{ko} {said.ko}"
    held = next(
        (
            f
            for f in standing
            if f is not because and f.rule.means in ("stalled", "doubtful") and not (by_task and f.rule.id == FLAT_RULE)
        ),
        None,
    )
    if held is not None and held.severity != "info" and state in ("learning", "learning_slowly"):
        en += f" But: {_low(held.rule.title.en)}."
        ko += f" 다만: {held.rule.title.ko}."
    return Text(en=en, ko=ko)


def _moved(found: Gain | None, steps: int, name: str = "") -> Text:
    if found is None:
        return Text("", "")
    moved, change = f"{number(found.first)} → {number(found.last)}", f"{signed(found.change)} ± {number(found.half)}"
    return Text(
        en=f"{name or 'reward'} {moved} over {steps:,} steps ({change})",
        ko=f"{steps:,}스텝 동안 {name or '보상'} {moved} ({change})",
    )


def _change(found: Gain | None) -> str:
    if found is None:
        return ""
    return f"{number(found.first)} → {number(found.last)} ({signed(found.change)} ± {number(found.half)})"


def _low(title: str) -> str:
    """A title as the second half of a sentence; names such as "KL" keep their capitals."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title
