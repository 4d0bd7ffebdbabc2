"""Whether a new run would take a change: every change that a rule offers is tried on the run's own settings."""

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

ROWS = frozenset({"dataset_args", "sft_args"})


def settings(facts: Facts) -> RunConfig | None:
    """The run's settings; None where they are of another version, or of a run that was not made here."""
    return _made(json.dumps(dict(facts.config), sort_keys=True, default=str))


def accepted(facts: Facts, values: Mapping[str, Any]) -> tuple[Change, ...]:
    """The changes to `values`, in one piece; none where a run with them would be refused, or nothing would change."""
    told = {name: value for name, value in values.items() if facts.config.get(name) != value}
    if not told or not told.keys() <= FIELDS.keys():
        return ()
    config = settings(facts)
    if config is not None and not _fits(config, told):
        return ()
    return tuple(Change(name, facts.config.get(name), value) for name, value in told.items())


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
