"""The form as data: groups, fields, recipes and methods, for the page to draw."""

from __future__ import annotations

from typing import Any

from backend.config.fields import GROUPS, default_of
from backend.config.kinds import kind_of
from backend.config.layers import BELONGS_TO
from backend.config.presets import algorithms, presets
from backend.config.schema import FIELDS, FIELDS_BY_GROUP, SETTINGS
from backend.rewards import base as rewards
from backend.text import Text


def form_schema() -> dict[str, Any]:
    """JSON of everything the form shows; each text as {"en", "ko"}.

    fields: name, group, type (bool, int, float, choice, text, list, numbers, dict), choices, optional, default,
    min, max and whether each bound itself is excluded, label, help, basic, trl_name (null for our own),
    suggestions. groups: key, label and the fields' names in order. presets and algorithms: as `Preset.to_json`.
    """
    return {
        "groups": [
            {"key": key, "label": text.to_json(), "fields": FIELDS_BY_GROUP[key]} for key, text in GROUPS.items()
        ],
        "fields": [_field(name) for name in FIELDS],
        "presets": [p.to_json() for p in presets()],
        "algorithms": [a.to_json() for a in algorithms()],
        "belongs_to": {owner: list(names) for owner, names in BELONGS_TO.items()},
    }


def _field(name: str) -> dict[str, Any]:
    meta, kind = SETTINGS[name], kind_of(name)
    return {
        "name": name,
        "group": meta.group,
        "type": kind.name,
        "choices": _choices(name, kind.choices),
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


def _choices(name: str, literal: tuple[str, ...]) -> list[dict[str, Any]]:
    if name == "rewards":
        specs = [rewards.spec(r) for r in rewards.names()]
        return [{"value": s.name, "label": s.label.to_json(), "help": s.help.to_json()} for s in specs]
    if name == "stages":
        words = {"sft": Text("supervised warm-up", "지도 학습 워밍업"), "grpo": Text("GRPO", "GRPO")}
        return [{"value": value, "label": text.to_json()} for value, text in words.items()]
    return [{"value": value, "label": {"en": value, "ko": value}} for value in literal]
