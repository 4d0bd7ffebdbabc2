"""The form as data: groups, fields, recipes and methods, for the page to draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backend import custom
from backend.config.fields import GROUPS, default_of
from backend.config.kinds import kind_of
from backend.config.layers import BELONGS_TO
from backend.config.presets import algorithms, presets
from backend.config.schema import FIELDS, FIELDS_BY_GROUP, SETTINGS
from backend.errors import StudioError
from backend.text import Text


def form_schema(home: Path | None = None) -> dict[str, Any]:
    """JSON of everything the form shows; each text as {"en", "ko"}. `home`: whose custom rewards are offered.

    fields: name, group, type (bool, int, float, choice, text, list, numbers, dict), choices, optional, default,
    min, max and whether each bound itself is excluded, label, help, basic, trl_name (null for our own),
    suggestions. A choice of a reward has "custom": null, or its level and version. groups: key, label and the fields'
    names in order. presets and algorithms: as `Preset.to_json`.
    """
    return {
        "groups": [
            {"key": key, "label": text.to_json(), "fields": FIELDS_BY_GROUP[key]} for key, text in GROUPS.items()
        ],
        "fields": [_field(name, home) for name in FIELDS],
        "presets": [p.to_json() for p in presets()],
        "algorithms": [a.to_json() for a in algorithms()],
        "belongs_to": {owner: list(names) for owner, names in BELONGS_TO.items()},
    }


def _field(name: str, home: Path | None) -> dict[str, Any]:
    meta, kind = SETTINGS[name], kind_of(name)
    return {
        "name": name,
        "group": meta.group,
        "type": kind.name,
        "choices": _choices(name, kind.choices, home),
        "optional": kind.optional,
        "default": default_of(FIELDS[name]),
        "min": meta.ge if meta.ge is not None else meta.gt,
        "max": meta.le if meta.le is not None else meta.lt,
        "min_excluded": meta.gt is not None,
        "max_excluded": meta.lt is not None,
        "label": meta.label.to_json(),
        "help": meta.help.to_json(),
        "basic": meta.basic,
        "trl_name": trl_name(name),
        "suggestions": list(meta.suggestions),
    }


def trl_name(name: str) -> str | None:
    """The name under which TRL, PEFT or transformers know the field, with its class; None for our own."""
    where = SETTINGS[name].trl
    if where is None:
        return None
    return where if "." in where else f"{where}.{name}"


def _choices(name: str, literal: tuple[str, ...], home: Path | None) -> list[dict[str, Any]]:
    if name == "rewards":
        return reward_choices(home)
    if name == "stages":
        words = {"sft": Text("supervised warm-up", "지도 학습 워밍업"), "grpo": Text("GRPO", "GRPO")}
        return [{"value": value, "label": text.to_json()} for value, text in words.items()]
    return [{"value": value, "label": {"en": value, "ko": value}} for value in literal]


def reward_choices(home: Path | None) -> list[dict[str, Any]]:
    """The built-in rewards, then the custom ones of this home; none of these on a public Space."""
    found = []
    for name in custom.names(None if custom.on_space() else home):
        try:
            about = custom.describe(home, name)
        except StudioError:  # a file that somebody changed; the rules tell when it is used
            continue
        own = {"level": about.level, "version": about.version} if about.custom else None
        found.append({"value": name, "label": about.label.to_json(), "help": about.help.to_json(), "custom": own})
    return found
