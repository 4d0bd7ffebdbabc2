"""What a check answers: problems that stop a run, notes that do not, and the plan."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from backend.config.bounds import LARGEST
from backend.text import Text, words

if TYPE_CHECKING:
    from backend.config.plan import Plan
    from backend.config.schema import RunConfig

SECRET = frozenset({"alert_webhook"})  # fields whose value no refusal repeats: it may hold a token

NoteKind = Literal["inert", "warn", "changed", "info"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule. `code` names the rule; `field` is where the page shows it.

    `suggest`: values that make this problem go away, the nearest first. A plain value is for the same field;
    {"field": f, "value": v} is for another one.
    """

    field: str
    value: Any
    rule: Text
    suggest: list[Any] = dataclasses.field(default_factory=list)
    code: str = "type"

    def __post_init__(self) -> None:
        if self.field in SECRET:
            object.__setattr__(self, "value", "…")

    def to_json(self, lang: str | None = None) -> dict[str, Any]:
        return {
            "field": self.field,
            "value": shown(self.value),
            "rule": words(self.rule, lang),
            "suggest": [shown(each) for each in self.suggest],
            "code": self.code,
        }


def shown(value: Any) -> Any:
    """`value` as JSON can carry it, for a message."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST:
        return f"{value:.3e}" if abs(value) < 10**300 else "a number of more than 300 digits"
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        if isinstance(value, dict):
            return {str(name): shown(each) for name, each in value.items()}
        return [shown(each) for each in value] if isinstance(value, list | tuple) else repr(value)[:200]
    return value


def change(field_name: str, value: Any) -> dict[str, Any]:
    """A suggestion for another field than the problem's."""
    return {"field": field_name, "value": value}


def as_change(problem: Problem, suggestion: Any) -> tuple[str, Any]:
    """A suggestion as (field, value), whichever of the two forms it has."""
    if isinstance(suggestion, dict) and set(suggestion) == {"field", "value"}:
        return suggestion["field"], suggestion["value"]
    return problem.field, suggestion


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth knowing that does not stop the run. `field` is None when it concerns no single one."""

    kind: NoteKind
    field: str | None
    text: Text
    code: str = ""

    def to_json(self, lang: str | None = None) -> dict[str, Any]:
        return {"kind": self.kind, "field": self.field, "text": words(self.text, lang), "code": self.code}


@dataclass(frozen=True, slots=True)
class Check:
    """The answer to "may this run start?". `config` is there when every value could be read and is in bounds,
    even if a rule between fields is broken; `ok` says whether the run may start."""

    config: RunConfig | None
    errors: list[Problem]
    notes: list[Note]
    plan: Plan | None

    @property
    def ok(self) -> bool:
        return not self.errors and self.config is not None

    def to_json(self, lang: str | None = None) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "errors": [p.to_json(lang) for p in self.errors],
            "notes": [n.to_json(lang) for n in self.notes],
            "plan": self.plan.to_json(lang) if self.plan else None,
        }
