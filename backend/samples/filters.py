"""Filters as people and addresses write them: names and texts in, a SampleFilter out.

`reward` is the name of a reward, or "total". A reward function may itself be called total: "reward:total" is that one,
as "reward:NAME" is any other, and "total" stays the sum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from backend.errors import Refused
from backend.text import Text
from storage.explore import SampleFilter
from storage.explore_records import NAMED, TOTAL

KINDS = ("live", "dead", "all_right", "all_wrong", "tied")
SHOWN = 200  # characters of one that is told
LONGEST = 2000  # characters of a condition
WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
# The name in an address and at the command line -> the field of SampleFilter.
NAMES = {
    "from": "step_from",
    "to": "step_to",
    "phase": "phase",
    "prompt": "prompt_id",
    "kind": "kind",
    "correct": "correct",
    "truncated": "truncated",
    "reward": "reward",
    "low": "low",
    "high": "high",
    "text": "text",
}


class WrongFilter(Refused):
    """One condition cannot be read; `field` is its name in the address."""

    def __init__(self, field: str, value: str, en: str, ko: str) -> None:
        shown = repr(value) if len(value) <= SHOWN else f"{value[:SHOWN]!r}..."
        super().__init__(Text(en=f"{field}={shown}: {en}.", ko=f"{field}={shown}: {ko}."))
        self.field = field


def parse(given: Mapping[str, str | None], reward_names: tuple[str, ...] | None = None) -> SampleFilter:
    """The filter that `given` names; absent and empty ones hold nothing back, names that are no filter are passed over.

    `reward_names`: those of the run, so that an unknown one is refused and not found nowhere. Raises WrongFilter.
    """
    values: dict[str, Any] = {}
    for name, field in NAMES.items():
        raw = given.get(name)
        if raw is None or raw == "":
            continue
        values[field] = _value(name, raw)
    if values.get("step_from") is not None and values.get("step_to", math.inf) < values["step_from"]:
        raise WrongFilter("to", str(values["step_to"]), f"must be {values['step_from']} or more, where the steps begin",
                          f"시작 스텝인 {values['step_from']} 이상이어야 합니다")  # fmt: skip
    bounded = "low" in values or "high" in values
    reward = values.get("reward")
    if reward is None and bounded:
        values["reward"] = TOTAL
    if values.get("low", -math.inf) > values.get("high", math.inf):
        raise WrongFilter("high", str(values["high"]), f"must be {values['low']} or more, the lower end",
                          f"하한인 {values['low']} 이상이어야 합니다")  # fmt: skip
    if reward is not None:
        values["reward"] = _reward(reward, reward_names)
    return SampleFilter(**values)


def named(reward: str) -> str:
    """How a filter names a reward so that it is nothing else."""
    return NAMED + reward if reward == TOTAL or reward.startswith(NAMED) else reward


def _reward(raw: str, names: tuple[str, ...] | None) -> str:
    """The reward as a SampleFilter names it."""
    if raw == TOTAL or names is None:
        return raw
    for name in (raw.removeprefix(NAMED), raw):
        if name in names:
            return named(name)
    known = ", ".join((TOTAL, *map(named, names)))
    raise WrongFilter("reward", raw, f"must be one of {known}", f"{known} 중 하나여야 합니다")


def _value(name: str, raw: str) -> Any:
    if len(raw) > LONGEST and name != "prompt":
        raise WrongFilter(name, raw, f"must be at most {LONGEST} characters, not {len(raw):,}",
                          f"최대 {LONGEST}자여야 합니다(현재 {len(raw):,}자)")  # fmt: skip
    if name == "phase" and not (raw.isprintable() and raw.isascii()):
        raise WrongFilter(name, raw, "is no phase of a run", "실행 단계가 아닙니다")
    if name in ("from", "to"):
        try:
            step = int(raw)
        except ValueError:
            step = -1
        if not 0 <= step < 2**62:
            raise WrongFilter(name, raw, "must be a step, a whole number from 0", "0 이상의 정수인 스텝이어야 합니다")
        return step
    if name in ("low", "high"):
        try:
            value = float(raw)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise WrongFilter(name, raw, "must be a number", "숫자여야 합니다")
        return value
    if name in ("correct", "truncated"):
        if raw.lower() not in WORDS:
            raise WrongFilter(name, raw, "must be true or false", "true 또는 false여야 합니다")
        return WORDS[raw.lower()]
    if name == "kind" and raw not in KINDS:
        raise WrongFilter(name, raw, f"must be one of {', '.join(KINDS)}", f"{', '.join(KINDS)} 중 하나여야 합니다")
    return raw
