"""What a rule is, what it answers, and what a finding holds. Everything here is frozen and pure.

A rule is one module in backend/diagnosis/rules with a `RULE`. Its `check(window)` looks at the records up to one
step and answers with a Reading, or None where the question does not arise (no adapter, so no LoRA learning rate).
It keeps no state: the engine asks at every half window, wants two answers in a row before it believes one, and
remembers what has fired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from backend.text import Text

if TYPE_CHECKING:
    from backend.diagnosis.records import Window

Severity = Literal["stop", "critical", "warn", "info"]
SEVERITIES: tuple[Severity, ...] = ("stop", "critical", "warn", "info")  # the gravest first
# What a reading says: the condition holds for sure; it is gone for sure; neither; or there is too little to say.
Level = Literal["fire", "clear", "hold", "unknown"]
State = Literal["ok", "unknown", "fired", "cleared"]
# What a finding means for the run. broken: nothing it computes can be trusted; stalled: it cannot learn, or does not;
# doubtful: what rises is not what was wanted; cost: time or money; note: worth knowing (the last two: no headline).
Means = Literal["broken", "stalled", "doubtful", "cost", "note"]
SPEAKS: tuple[Means, ...] = ("broken", "stalled", "doubtful")  # what a finding must mean to be in the headline
# When it is asked: once with the settings; at every step; at every half window; after every evaluation; when the run
# has ended.
When = Literal["start", "step", "window", "evaluation", "end"]


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """One sampled completion: `step`, the place of its group among the groups of that step, its place in the group.

    Independent of row ids, which the training thread does not know; -1 for `index` means the whole group.
    """

    step: int
    group: int
    index: int = -1


@dataclass(frozen=True, slots=True)
class Cause:
    """A likely reason, with what speaks for it; the likeliest stands first in a finding."""

    id: str
    text: Text


@dataclass(frozen=True, slots=True)
class Change:
    """A setting to change, one click from a new run. `field` is one of RunConfig; None for `old`: it is not set."""

    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer of a rule.

    `need`: with level "unknown", how many more steps it wants (None: cannot be said). `evidence`: numbers, short texts
    and lists of them by name, in the units that `text` uses. `severity`: where it differs from the rule's own.
    `keeps`: the gravest severity that this answer still bears out where the finding has been that grave before: a
    share that wavers about a bound must not change the severity at every look.
    """

    level: Level
    text: Text | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    samples: tuple[Ref, ...] = ()
    causes: tuple[Cause, ...] = ()
    change: tuple[Change, ...] = ()
    severity: Severity | None = None
    need: int | None = None
    keeps: Severity | None = None


CLEAR = Reading("clear")
HOLD = Reading("hold")


def unknown(need: int | None = None) -> Reading:
    return Reading("unknown", need=need)


@dataclass(frozen=True, slots=True)
class Rule:
    """`id` as in the catalogue ("Z1"), `name` ("all_wrong"); both stand in stored findings and must not change.

    `confirm`: answers in a row that are wanted before it fires (and clears). `trend`: it waits for the warm-up of the
    learning rate plus 20 steps. `symptoms`: ids of rules that this one explains while it is fired.
    `calibrated`: measured on real training (docs/diagnosis.md); its figures stand in the module's docstring.
    """

    id: str
    name: str
    title: Text
    severity: Severity
    means: Means
    check: Callable[[Window], Reading | None]
    when: When | tuple[When, ...] = "window"
    confirm: int = 2
    trend: bool = False
    symptoms: tuple[str, ...] = ()
    calibrated: bool = False

    @property
    def moments(self) -> tuple[When, ...]:
        return self.when if isinstance(self.when, tuple) else (self.when,)


@dataclass(frozen=True, slots=True)
class Finding:
    """What the engine holds of one rule that has fired: the latest reading that said so, since when, and whether it
    still stands. `because_of`: the id of a fired rule that explains it."""

    rule: Rule
    state: State
    severity: Severity
    since_step: int
    last_step: int
    cleared_step: int | None
    reading: Reading
    because_of: str | None = None
