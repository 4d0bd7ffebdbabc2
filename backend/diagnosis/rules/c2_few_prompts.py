"""C2: so few groups of a step can teach that the update is mostly noise.

Groups a step times the share of live ones, where all-right groups of prompts that the run itself has learned count as
live (little is left there, and that is no fault of the batch). A warning where that is surely below 2 (P > .99,
Jeffreys), a note below 4. The catalogue's 4 for the warning would speak on four groups a step as soon as one is dead,
which learns well; the settings' own note (backend.config.notes) speaks below 4 prompts before a run.

Real runs (docs/diagnosis.md): found in 3 of 3 with one prompt a step (step 96: it takes that long to have 64 groups
and a half); a warning in none of 22 healthy ones.
"""

from __future__ import annotations

import math

from backend.config.notes import FEW_PROMPTS
from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Level, Reading, Rule
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _kinds
from backend.diagnosis.rules._kinds import DEAD
from backend.diagnosis.rules._settings import accumulate
from backend.text import Text

VERY_FEW = FEW_PROMPTS / 2
NONE = 0.1  # idle share that counts as none

SMALL_BATCH = Cause("small_batch", Text(
    "The batch holds few prompts: accumulate more before each update",
    "배치에 프롬프트가 적습니다. 업데이트마다 더 많이 모으세요",
))  # fmt: skip
DEAD_GROUPS = Cause("dead_groups", Text(
    "Most groups of the batch are dead, so that few are left",
    "배치의 그룹이 대부분 죽어 있어 남는 것이 적습니다",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    if not window.groups:
        return None
    a_step = window.groups_a_step
    found = _kinds.dead(window)
    idle = found.count if _kinds.right_from_start(window) else found.count - len(found.of("all_right"))
    n = found.groups
    useful = a_step * (1 - idle / n)
    very_few = _below(VERY_FEW, a_step, idle, n)
    if very_few == "fire":
        severity = None
    elif _below(FEW_PROMPTS, a_step, idle, n) == "fire":
        severity = "info"
    else:
        return CLEAR if _below(FEW_PROMPTS, a_step, idle, n) == "clear" else HOLD
    configured = a_step < FEW_PROMPTS or idle < DEAD * n
    few = useful < VERY_FEW
    text = Text(
        f"{useful:.1f} of {a_step:.1f} groups a step can teach: the update is {'mostly noise' if few else 'noisy'}",
        f"스텝마다 그룹 {a_step:.1f}개 중 {useful:.1f}개만 배울 것이 있어 업데이트"
        f"{'가 대부분 잡음입니다' if few else '에 잡음이 많습니다'}",
    )
    evidence = {"groups_a_step": round(a_step, 2), "useful_a_step": round(useful, 2), "idle_share": round(idle / n, 3)}
    change = () if not useful else _more(window, FEW_PROMPTS / max(useful, 0.25))
    causes = (SMALL_BATCH,) if configured else (DEAD_GROUPS, SMALL_BATCH)
    more = a_step > VERY_FEW and stats.gone(idle, n, 1 - VERY_FEW / a_step, 0.0)
    keeps = None if more else "warn"
    return Reading("fire", text, evidence, window.worst(window.dead), causes, change, severity, keeps=keeps)


def _more(window: Window, factor: float) -> tuple[Change, ...]:
    """So many times as many prompts a step as are wanted, or as the rows allow."""
    times = max(2, min(16, math.ceil(factor)))
    return next((found for by in range(times, 1, -1) if (found := accumulate(window, by))), ())


def _below(few: float, a_step: float, idle: int, n: int) -> Level:
    """Whether fewer than `few` groups a step are of use: the idle share is above 1 - few / a_step; above NONE where a
    step has just so many, since a single dead group in a window takes nothing away."""
    if a_step < few:
        return "fire"
    return stats.share_level(idle, n, max(NONE, 1 - few / a_step))


RULE = Rule(
    id="C2",
    name="few_prompts",
    title=Text("Few groups a step can teach", "스텝마다 배울 그룹이 적습니다"),
    severity="warn",
    means="note",
    check=check,
    symptoms=("D1",),
    calibrated=True,
)
