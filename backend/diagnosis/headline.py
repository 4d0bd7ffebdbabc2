"""One sentence on a run, from its records and the findings that stand: learning, learning slowly, not learning because
..., broken because ..., cannot tell yet.

The order: what is broken cannot be judged; then what was measured on held-out rows; then whether what rises is what was
wanted (the task's own reward, where there are others beside it); then the gain of the reward (first against last steps,
Welch, claimed at 99%, shown at 95%); then what holds it up. So the sentence never contradicts a finding: a run that
rises while groups are dead is learning and says what holds it back, and one that does not rise names the finding that
explains it. One that rose and has stood still since is told so, and is at most slow while it goes on. While the reward
may yet rise a mild hindrance is a "but": that nothing is learned has to be sure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.diagnosis.base import Finding
from backend.diagnosis.engine import Engine
from backend.diagnosis.records import Window
from backend.diagnosis.rules._kinds import dead
from backend.diagnosis.rules._since_start import span
from backend.diagnosis.sentence import FLAT_RULE, Seen, State, Task, sentence
from backend.diagnosis.stood import stood
from backend.headline import SMALLEST_WINDOW, Gain, HeldOut, gain

SLOW = 0.05  # of the reward's range in 100 steps: less is slow
FLOOR_RULE = "R3"  # says that the task never rises: what rises is something else
FORM_RULE = "A2"  # says that form rises alone: a warning for as long as right answers may still follow
FLAT = 0.05  # of the reward's range: an interval narrower than this can tell flat from rising
SOLVED = 0.9  # of the reward's range: above it there is not much left to gain
GRAVE = ("stop", "critical")
MOST_STEPS = 100_000  # more than this many steps "needed" means: not by waiting
MOST_RUNS = 10  # more than so many times the planned steps likewise


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
    if state in ("learning", "learning_slowly") and found is not None:
        first = task.gain.first if seen.by_task and task is not None else found.first
        seen = replace(seen, stood=stood(window, task.name if task is not None else "", seen.by_task, first))
        now = seen.stood is not None and not seen.stood.solved and not ended
        if now and not (seen.held_out is not None and seen.held_out.sure):
            state = "learning_slowly"
    held_out = seen.held_out
    return {
        "state": state,
        "text": sentence(seen, state, because, ended).to_json(),
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
    broken = seen.first("broken", GRAVE)
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
            if because is not None and because.rule.id == FORM_RULE:
                return "cannot_tell", None  # the form may have come first: it is sure, or critical (above), later
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
