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

from backend.diagnosis.base import SEVERITIES, Finding
from backend.diagnosis.engine import Engine
from backend.diagnosis.records import Window
from backend.diagnosis.rules._kinds import dead
from backend.diagnosis.rules._since_start import span
from backend.headline import SMALLEST_WINDOW, Gain, HeldOut, gain, number, signed
from backend.text import Text

State = Literal["learning", "learning_slowly", "not_learning", "broken", "cannot_tell"]
SLOW = 0.05  # of the reward's range in 100 steps: less is slow
FLAT_RULE = "D1"  # says that the total does not rise
FLOOR_RULE = "R3"  # says that the task never rises: what rises is something else
FLAT = 0.05  # of the reward's range: an interval narrower than this can tell flat from rising
SOLVED = 0.9  # of the reward's range: above it there is not much left to gain
GRAVE = ("stop", "critical")
MOST_STEPS = 100_000  # more than this many steps "needed" means: not by waiting
MOST_RUNS = 10  # more than so many times the planned steps likewise

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


@dataclass(frozen=True, slots=True)
class Task:
    """The gain of the task's own reward, beside others; `solved`: there is not much left to gain."""

    name: str
    gain: Gain
    solved: bool

    @property
    def rose(self) -> bool:
        return self.gain.sure and self.gain.change > 0


@dataclass(frozen=True, slots=True)
class Seen:
    """What the sentence is made of. `standing`: the findings that stand and that no other explains, the gravest first;
    `scale`: (least, width) of the total reward; `flat`: surely not rising; `spent`: the task is the same in nearly all
    groups; `slow`: the total rises, and slowly; `needs`: steps until it can be told, where nothing tells yet."""

    found: Gain | None
    task: Task | None
    held_out: HeldOut | None
    standing: Sequence[Finding]
    scale: tuple[float, float] | None
    steps: int
    flat: bool
    spent: bool
    slow: bool
    needs: int | None

    def first(self, means: str, least: Sequence[str] = SEVERITIES[:-1]) -> Finding | None:
        return next((f for f in self.standing if f.rule.means == means and f.severity in least), None)


def headline(engine: Engine, ended: bool = False) -> dict[str, Any]:
    """{"state", "text", "because", "needs", "gain", "held_out"} of what an engine has seen so far.

    `because`: the id of the finding that explains it; `needs`: steps until it can tell. Text's numbers are rewards as
    logged (weighted sums) and shares.
    """
    window = engine.records.window(engine.last_step)
    rewards = window.reward
    known = sum(map(math.isfinite, rewards.values))
    found, task, scale = gain(rewards.values), _task(window), span(window, "total")
    needs = _first(rewards.values) if found is None else _needed(engine, found, task, scale, known)
    fired = [f for f in engine.findings() if f.state == "fired"]
    roots = [f for f in fired if f.because_of is None]
    flat = found is not None and _flat(engine, fired, found, scale)
    spent = dead(window, by_task=True).nearly_all
    slow = _slow_of_late(rewards.steps, rewards.values, scale)
    steps = max(rewards.steps, default=0)
    seen = Seen(found, task, _held_out(window), roots, scale, steps, flat, spent, slow, needs)
    state, because = _judge(seen)
    held_out = seen.held_out
    return {
        "state": state,
        "text": _sentence(seen, state, because, ended).to_json(),
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


def _task(window: Window) -> Task | None:
    """None without a task reward, where it is the only one, and before there are enough steps."""
    facts = window.facts
    if facts.task is None or len(facts.reward_names) < 2:
        return None
    name = facts.reward_names[facts.task]
    found = gain(window.curve(f"rewards/{name}/mean").values)
    if found is None:
        return None
    bounds = facts.bounds[facts.task] if facts.task < len(facts.bounds) else None
    solved = bounds is not None and found.last >= bounds[0] + SOLVED * (bounds[1] - bounds[0])
    return Task(name, found, solved)


def _judge(seen: Seen) -> tuple[State, Finding | None]:
    found, task, held_out = seen.found, seen.task, seen.held_out
    broken = seen.first("broken", SEVERITIES)
    if broken is not None:
        return "broken", broken
    doubt, stalled = seen.first("doubtful", GRAVE), seen.first("stalled")
    if held_out is not None and held_out.sure:
        return ("learning", None) if held_out.change > 0 else ("not_learning", doubt or stalled)
    if doubt is not None:
        return "not_learning", doubt
    grave = stalled is not None and stalled.severity in GRAVE
    if found is None:
        return ("not_learning", stalled) if grave else ("cannot_tell", None)
    if task is not None and task.rose and not (found.sure and found.change < 0):
        slow = seen.slow and _slow(task.gain, None, seen.steps) and not task.solved
        return ("learning_slowly" if slow else "learning"), None
    if found.sure and found.change > 0:
        if grave and stalled is not None and stalled.rule.id == FLOOR_RULE:
            return "not_learning", stalled
        if task is not None and not task.solved:
            # What rises is something beside the task: the finding that says so, or more steps, must tell.
            because = seen.first("doubtful") or stalled
            return ("not_learning", because) if because else ("cannot_tell", None)
        return ("learning_slowly" if seen.slow else "learning"), None
    if found.sure:
        return "not_learning", stalled
    # A mild hindrance is no proof that nothing is learned: as long as the reward may yet rise, nobody can tell. Rules
    # on trends have looked at the rise themselves.
    if stalled is not None and (grave or seen.flat or seen.spent or stalled.rule.trend):
        return "not_learning", stalled
    return "cannot_tell", None


def _slow(found: Gain, scale: tuple[float, float] | None, steps: int) -> bool:
    """Less than SLOW of the range in 100 steps, unless there is not much left to gain."""
    low, width = scale or (0.0, 1.0)
    if scale is not None and found.last >= low + SOLVED * width:
        return False
    apart = max(1, steps - found.window)  # from the middle of the first window to that of the last
    return 100 * found.change / apart < SLOW * width


def _slow_of_late(steps: Sequence[int], rewards: Sequence[float], scale: tuple[float, float] | None) -> bool:
    """Slow now, and after nine and eight tenths of the steps: about the bound the word would come and go."""
    ends = {len(steps) * tenths // 10 for tenths in (10, 9, 8)}
    looks = [(found, steps[end - 1]) for end in ends if end and (found := gain(rewards[:end])) is not None]
    return bool(looks) and all(_slow(found, scale, step) for found, step in looks)


def _first(rewards: Sequence[float]) -> int | None:
    """Steps until there are enough rewards for a first answer; None where none of them is a number."""
    known = sum(map(math.isfinite, rewards))
    return max(1, 2 * SMALLEST_WINDOW - known) if known or len(rewards) < 2 * SMALLEST_WINDOW else None


def _flat(engine: Engine, fired: Sequence[Finding], found: Gain, scale: tuple[float, float] | None) -> bool:
    """What the rule says that looks for it, whose answer does not waver; where it is not asked, and of a solved task,
    which it leaves alone, the ends of the run."""
    low, width = scale or (0.0, 1.0)
    if FLAT_RULE in engine.standings and found.last < low + SOLVED * width:
        return any(finding.rule.id == FLAT_RULE for finding in fired)
    return found.change + found.half < FLAT * width


def _needed(
    engine: Engine, found: Gain, task: Task | None, scale: tuple[float, float] | None, logged: int
) -> int | None:
    """Steps until it can be told, as the rule that looks for a flat reward reckons it: its interval stands on all
    steps. Before it has been asked, until the interval of the ends is as narrow as FLAT of the range: its half width
    falls with the root of the steps."""
    window = engine.records.window(engine.last_step)
    beside = task is not None and not task.solved and found.sure and found.change > 0
    flat = engine.standings.get(FLAT_RULE)
    most = min(MOST_STEPS, MOST_RUNS * (window.facts.total_steps or MOST_STEPS))
    if flat is not None and not beside and window.full and flat.asked >= window.step + window.after_warmup:
        needed = engine.needs(FLAT_RULE)
        return needed if needed is not None and needed <= most else None
    half, wanted = (task.gain.half, FLAT) if beside and task else (found.half, FLAT * (scale[1] if scale else 1.0))
    needed = math.ceil(logged * ((half / wanted) ** 2 - 1))
    if beside:
        needed = max(needed, SMALLEST_WINDOW)  # the rule that says so looks again by then
    return needed if 0 < needed <= most else None


def _held_out(window: Window) -> HeldOut | None:
    """Before training against the latest look at the held-out rows."""
    of_run = [e for e, _ in window.evaluations]
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


def _sentence(seen: Seen, state: State, because: Finding | None, ended: bool) -> Text:
    found, task, held_out, steps, needs = seen.found, seen.task, seen.held_out, seen.steps, seen.needs
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
            en += f" after {steps:,} steps" + ("" if ended or needs is None else f": a first answer needs {needs} more")
            ko += f": {steps:,}스텝" + ("" if ended or needs is None else f", 첫 판단까지 {needs}스텝 더 필요합니다")
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
            for f in seen.standing
            if f is not because and f.rule.means in ("stalled", "doubtful") and not (by_task and f.rule.id == FLAT_RULE)
        ),
        None,
    )
    if held is not None and held.severity != "info" and state in ("learning", "learning_slowly", "cannot_tell"):
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
    return title[:1].lower() + title[1:] if title[1:2].islower() or title[:2] == "A " else title
