"""What the headline is made of, and how it is put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from backend.diagnosis.base import SEVERITIES, SPEAKS, Finding
from backend.diagnosis.stood import Stood
from backend.headline import Gain, HeldOut, number, signed
from backend.text import Text

State = Literal["learning", "learning_slowly", "not_learning", "broken", "cannot_tell"]
FLAT_RULE = "D1"  # says that the total does not rise
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
    groups; `slow`: the total rises, and slowly; `needs`: steps until it can be told, where nothing tells yet; `stood`:
    what rose has stood still since."""

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
    stood: Stood | None = None

    @property
    def by_task(self) -> bool:
        """It learns by the task's own reward, whatever the sum of all does."""
        found, task = self.found, self.task
        return task is not None and task.rose and found is not None and not (found.sure and found.change > 0)

    def first(self, means: str, least: Sequence[str] = SEVERITIES[:-1]) -> Finding | None:
        return next((f for f in self.standing if f.rule.means == means and f.severity in least), None)


def sentence(seen: Seen, state: State, because: Finding | None, ended: bool) -> Text:
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
    by_task, learns = seen.by_task, state in ("learning", "learning_slowly")
    if by_task and task is not None and learns:  # the figures that say so stand first
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
    elif seen.stood is not None and learns and not seen.stood.solved:
        told = seen.stood.text(ended)
        en, ko = told.en, told.ko
    elif found is not None:
        join, join_ko = ("; ", ". ") if because is not None else (": ", ": ")
        en, ko = f"{en}{join}{moved.en}", f"{ko}{join_ko}{moved.ko}"
    en, ko = f"{en}.", f"{ko}."
    if seen.stood is not None and learns and seen.stood.solved:
        told = seen.stood.text(ended)
        en, ko = f"{en} {told.en}.", f"{ko} {told.ko}."
    if held_out is not None:
        said = held_out.text()
        en, ko = f"{en} {said.en}", f"{ko} {said.ko}"
    held = next(
        (
            f
            for f in seen.standing
            if f is not because and f.rule.means in SPEAKS and not (by_task and f.rule.id == FLAT_RULE)
        ),
        None,
    )
    if held is not None and held.severity != "info" and (learns or state == "cannot_tell"):
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
