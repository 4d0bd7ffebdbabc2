"""Settings and rewards as the report shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.config.fields import GROUPS, default_of
from backend.config.schema import FIELDS, SETTINGS
from backend.report.facts import Facts, label_of
from backend.report.numbers import DASH
from backend.rewards import base as built_in
from backend.text import Text

OWN = ("rewards", "reward_weights", "reward_args", "reward_versions", "name", "evaluation")  # shown elsewhere


@dataclass(frozen=True, slots=True)
class Shown:
    name: str
    label: Text
    value: str
    default: str | None  # None where there is none to compare with


@dataclass(frozen=True, slots=True)
class RewardRow:
    """`label`: of a built-in reward; `version`: of a custom one."""

    name: str
    label: Text | None
    weight: str
    arguments: str
    version: int | None


def value(given: Any) -> str:
    """A setting as JSON writes it: text without quotes, a whole number without .0, nothing as a dash."""
    if given is None:
        return DASH
    if isinstance(given, str):
        return given
    if isinstance(given, float) and given.is_integer() and abs(given) < 1e15:
        given = int(given)
    return json.dumps(given, ensure_ascii=False, default=str)


def changed(facts: Facts) -> list[Shown]:
    return [_shown(name, given) for name, given in facts.changed.items() if name not in OWN]


def grouped(facts: Facts) -> list[tuple[Text | None, list[Shown]]]:
    """All settings in the form's groups; last, under no title, what this version does not know."""
    found: list[tuple[Text | None, list[Shown]]] = []
    for key, title in GROUPS.items():
        names = [name for name in FIELDS if name in facts.config and SETTINGS[name].group == key]
        if names:
            found.append((title, [_shown(name, facts.config[name]) for name in names]))
    strange = [name for name in facts.config if name not in FIELDS]
    return [*found, (None, [_shown(name, facts.config[name]) for name in strange])] if strange else found


def _shown(name: str, given: Any) -> Shown:
    default = value(default_of(FIELDS[name])) if name in FIELDS else None
    return Shown(name, label_of(name), value(given), default)


def rewards(config: Mapping[str, Any]) -> list[RewardRow]:
    """One row a reward, with the weight that it really had: 1 where none was given."""
    names: Sequence[str] = config.get("rewards") or ()
    weights = config.get("reward_weights") or [1.0] * len(names)
    arguments, versions = config.get("reward_args") or {}, config.get("reward_versions") or {}
    known = set(built_in.names())
    return [
        RewardRow(
            name,
            built_in.spec(name).label if name in known and name not in versions else None,
            f"{weights[k]:g}" if k < len(weights) else "1",
            value(arguments[name]) if arguments.get(name) else "",
            versions.get(name),
        )
        for k, name in enumerate(names)
    ]
