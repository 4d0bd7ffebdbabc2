"""A run that learned and has stood still since, in words: until when, how surely, and what may help."""

from __future__ import annotations

from dataclasses import dataclass

from backend.diagnosis.plateau import Plateau, plateau, stands
from backend.diagnosis.records import Window
from backend.diagnosis.rules._settings import percent
from backend.diagnosis.rules._since_start import SOLVED, compared, span
from backend.headline import number, signed
from backend.text import Text

SPENT = 0.05  # of the highest learning rate: less moves nothing any more
FEW_LIVE = 4  # live groups a step
MOSTLY = 0.5  # of the groups


@dataclass(frozen=True, slots=True)
class Stood:
    """`name`: of the reward that rose, "" for the sum of all; `first`: what it was at the start; `solved`: it stands
    near the most that can be had; `hint`: what may help."""

    found: Plateau
    name: str
    first: float
    solved: bool
    hint: Text

    def text(self, ended: bool) -> Text:
        """One sentence without its full stop; of a solved task one that goes behind the usual one."""
        at = self.found.step
        if self.solved:
            return Text(
                f"It {'was' if ended else 'has been'} near the most that can be had since step {at:,}: harder prompts "
                "would teach more",
                f"{at:,}스텝부터 얻을 수 있는 최고점에 가깝습니다. 더 어려운 문제라야 더 배웁니다",
            )
        moved = f"{number(self.first)} → {number(self.found.level)}"
        since = f"{signed(self.found.change)} ± {number(self.found.half)}"
        still, still_ko = ("then stood still", "멈췄습니다") if ended else ("has stood still since", "멈춰 있습니다")
        return Text(
            f"Learned until step {at:,}, {still}: {self.name or 'reward'} {moved}, and {since} over the "
            f"{self.found.steps:,} steps after. {self.hint.en}",
            f"{at:,}스텝까지 학습되었고 그 뒤로는 {still_ko}: {self.name or '보상'} {moved}, 이후 "
            f"{self.found.steps:,}스텝 동안 {since}. {self.hint.ko}",
        )


def stood(window: Window, task_name: str, by_task: bool, first: float) -> Stood | None:
    """`task_name`: of the task reward where there are others beside it, else ""; `by_task`: it, and not the sum of all,
    is what rose. None where what rose goes on rising, or may."""
    facts = window.facts
    name = task_name if by_task else ""
    what = "task" if by_task else "total"
    curve, scale = window.curve(f"rewards/{name}/mean") if name else window.reward, span(window, what)
    if scale is None:
        return None
    found = plateau(curve.steps, curve.values, scale[1], facts.total_steps)
    if found is None or _held_out_rose(window, found.step):
        return None
    other = window.reward if by_task else window.curve(f"rewards/{task_name}/mean") if task_name else None
    others = span(window, "total" if by_task else "task")
    if other is not None and others is not None and not stands(other.steps, other.values, others[1], found.step):
        return None
    bounds = facts.bounds[facts.task] if facts.task is not None and facts.task < len(facts.bounds) else None
    known = bounds is not None if what == "task" else window.records.extremes.known
    solved = known and found.level >= scale[0] + SOLVED * scale[1]
    return Stood(found, name, first, solved, _hint(window))


def _held_out_rose(window: Window, since: int) -> bool:
    """Whether held-out rows have surely become better between the first look after a step and the latest."""
    later = sorted((pair for pair in window.evaluations if pair[0].step >= since), key=lambda pair: pair[0].step)
    if len(later) < 2 or later[0][0].step == later[-1][0].step:
        return False
    found = compared(later[0], later[-1], 1)
    return found is not None and found.low > 0


def _hint(window: Window) -> Text:
    rates = window.curve("learning_rate").values
    if rates and 0 <= rates[-1] < SPENT * max(rates):
        return Text(
            "The learning rate is spent: a constant one may go on from there",
            "학습률이 다 떨어졌습니다. 일정한 학습률이면 더 나아갈 수 있습니다",
        )
    dead = len(window.dead) / max(1, len(window.groups))
    if dead > MOSTLY:
        return Text(
            f"{percent(dead)} of the groups are dead by now: other prompts would teach more",
            f"이제 그룹의 {percent(dead)}가 죽은 그룹입니다. 다른 문제라야 더 배웁니다",
        )
    live = window.groups_a_step * (1 - dead)
    if 0 < live < FEW_LIVE:
        return Text(
            f"A step has {live:.1f} live groups: more prompts an update may help",
            f"스텝마다 살아 있는 그룹이 {live:.1f}개입니다. 업데이트마다 문제를 늘려 보세요",
        )
    return Text(
        "Harder or fresh prompts, more answers a prompt, or another learning rate may help",
        "더 어렵거나 새로운 문제, 문제당 더 많은 답변, 다른 학습률이 도움이 될 수 있습니다",
    )
