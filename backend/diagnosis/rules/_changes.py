"""Changes of settings that a new run would take: each is tried on the run's own settings before it is offered."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from backend.config.rules.base import RULES
from backend.config.rules.base import Facts as Surroundings
from backend.config.schema import FIELDS, RunConfig
from backend.diagnosis.base import Change
from backend.diagnosis.records import Facts
from backend.diagnosis.rules._settings import differs

ROWS = frozenset({"dataset_args", "sft_args"})


def settings(facts: Facts) -> RunConfig | None:
    """The run's settings; None where they are of another version, or of a run that was not made here."""
    return _made(json.dumps(dict(facts.config), sort_keys=True, default=str))


def offer(facts: Facts, values: Mapping[str, Any]) -> tuple[Change, ...]:
    """The changes to `values`, in one piece; none where a run with them would be refused, or nothing would change."""
    config = settings(facts)
    told = {name: value for name, value in values.items() if differs(facts, name, value)}
    if not told or not told.keys() <= FIELDS.keys():
        return ()
    if config is not None and not _fits(config, told):
        return ()
    return tuple(Change(name, facts.config.get(name), value) for name, value in told.items())


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


@functools.lru_cache(maxsize=64)
def _made(config: str) -> RunConfig | None:
    known = {name: value for name, value in json.loads(config).items() if name in FIELDS}
    try:
        return RunConfig(**known)
    except (ValueError, TypeError):  # pydantic's ValidationError is a ValueError
        return None


def _fits(config: RunConfig, values: Mapping[str, Any]) -> bool:
    """Whether the settings with `values` break no rule that they did not break before."""
    try:
        changed = RunConfig(**{**config.to_dict(), **values})
    except (ValueError, TypeError):
        return False
    return _broken(changed.model_dump_json()) <= _broken(config.model_dump_json())


@functools.lru_cache(maxsize=256)
def _broken(config: str) -> frozenset[tuple[str | None, str]]:
    """What the settings' rules say, but for those that would read or generate the rows."""
    made, around = RunConfig.model_validate_json(config), Surroundings()
    rules = [rule for rule in RULES if not rule.fields & ROWS]
    return frozenset((problem.field, problem.code) for rule in rules for problem in rule.find(made, around))
