"""Changes of settings that a new run would take: each is tried on the run's own settings before it is offered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.diagnosis.base import Change
from backend.diagnosis.records import Facts
from backend.diagnosis.rules._accepted import accepted as offer
from backend.diagnosis.rules._accepted import settings

__all__ = ["first", "offer", "other_difficulty", "probe", "settings", "warm_up"]


def first(facts: Facts, *tried: Mapping[str, Any]) -> tuple[Change, ...]:
    """The first of the offers that fits."""
    return next((found for values in tried if (found := offer(facts, values))), ())


def warm_up(facts: Facts) -> tuple[Change, ...]:
    """A supervised warm-up before GRPO, where the run had none."""
    stages = list(facts.get("stages", ()))
    return offer(facts, {"stages": ["sft", *stages]}) if stages == ["grpo"] else ()


def probe(facts: Facts) -> tuple[Change, ...]:
    """A probe in place of the run: it measures each prompt's solve rate and makes a set of those that can teach."""
    return offer(facts, {"stages": ["probe"]}) if "stages" in facts.config else ()


def other_difficulty(facts: Facts, harder: bool) -> tuple[Change, ...]:
    """Of the generated arithmetic: more or fewer carries, then digits. Other data have no such setting."""
    if facts.get("dataset") != "arithmetic":
        return ()
    args = dict(facts.get("dataset_args", {}))
    order = ["easy", "medium", "hard"]
    at, digits = order.index(args.get("difficulty", "medium")), int(args.get("digits", 2))
    step = 1 if harder else -1
    tried = []
    if 0 <= at + step < len(order):
        tried.append(args | {"difficulty": order[at + step]})
    if 2 <= digits + step <= 6:  # problems of one digit are few
        tried.append(args | {"digits": digits + step})
    if not harder:
        tried.reverse()
    return first(facts, *({"dataset_args": each} for each in tried))
