"""Layers of settings laid over one another; the newer one wins, under whichever of its names a setting stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.config.fields import default_of
from backend.config.legacy_names import DATASET_ARGUMENTS, RENAMED
from backend.config.schema import FIELDS

# Arguments that mean nothing beside another dataset or model.
BELONGS_TO = {"dataset": ("dataset_args",), "model": ("model_args", "model_revision")}


def today(name: str) -> str:
    """Today's name of a setting; the name itself where it has no newer one."""
    return RENAMED[name][0] if name in RENAMED else name


def overlay(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` on top of `base`. A dotted name (`dataset_args.digits`) changes one entry of a mapping, any other one
    replaces what stands there, under an old name too. Another dataset, model or list of rewards starts without
    the arguments of what is gone. Both names of one setting inside `over` are kept: `check` refuses them."""
    # Nothing under an old name says nothing: recipes often list what they do not use.
    given = {name: value for name, value in over.items() if not (value is None and name in RENAMED)}
    out = _without_strangers(dict(base), given)
    for name in given:
        if "." not in name:
            out = {other: value for other, value in out.items() if other in given or today(other) != today(name)}
    for name, value in given.items():
        head, *rest = name.split(".")
        if rest:
            out = _put(_renamed(out, today(head)), [today(head), *rest], value)
        else:
            out[name] = value
    return out


def _without_strangers(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    for owner, arguments in BELONGS_TO.items():
        new = [value for name, value in over.items() if today(name) == owner]
        old = [value for name, value in base.items() if today(name) == owner] or [default_of(FIELDS[owner])]
        if new and new != old:
            base = {name: value for name, value in base.items() if today(name) not in arguments}
            if owner == "dataset":
                base = {name: value for name, value in base.items() if name not in DATASET_ARGUMENTS}
    names = [value for name, value in over.items() if today(name) == "rewards" and isinstance(value, (list, str))]
    args = base.get("reward_args")
    if names and isinstance(args, Mapping):  # arguments of a reward that is gone mean nothing
        chosen = names[-1] if isinstance(names[-1], list) else [each.strip() for each in names[-1].split(",")]
        base["reward_args"] = {name: own for name, own in args.items() if name in chosen}
    return base


def _renamed(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {name if today(other) == name else other: value for other, value in values.items()}


def _put(into: Mapping[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    """A copy of `into` with the value at a dotted name; what stood in its way is replaced."""
    head, *rest = path
    inner = into.get(head)
    return {**into, head: _put(inner if isinstance(inner, Mapping) else {}, rest, value) if rest else value}
