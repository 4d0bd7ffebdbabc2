"""What the form, the checks and the tables need to know of a reward, built in or custom, without calling it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.custom.library import Library, Version
from backend.custom.look import look
from backend.custom.settings import LIMIT_S, MEMORY_MB
from backend.errors import NotFound, Refused
from backend.rewards import base as built_in
from backend.rewards.signature import Argument
from backend.text import Text


@dataclass(frozen=True, slots=True)
class Description:
    """`columns`: those that it cannot do without; `optional`: those it takes where the rows have them.

    `arguments`: what reward_args may set. `level` and `version` are None for a built-in reward.
    """

    name: str
    label: Text
    help: Text
    columns: tuple[str, ...]
    optional: tuple[str, ...]
    arguments: tuple[Argument, ...]
    bounds: tuple[float, float] | None
    custom: bool
    level: str | None = None
    version: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label.to_json(),
            "help": self.help.to_json(),
            "columns": list(self.columns),
            "optional": list(self.optional),
            "arguments": [
                {"name": a.name, "kind": a.kind, "default": a.default, "choices": list(a.choices)}
                for a in self.arguments
            ],
            "bounds": list(self.bounds) if self.bounds else None,
            "custom": self.custom,
            "level": self.level,
            "version": self.version,
        }


def names(home: Path | None) -> list[str]:
    """The built-in rewards, then the custom ones of this home; only the built-in ones without a home."""
    return [*built_in.names(), *(Library(home).names() if home is not None else [])]


def describe(
    home: Path | None, name: str, version: int | None = None, args: Mapping[str, Any] | None = None
) -> Description:
    """One reward of either kind; with `args`, as it is with them (a mapped column under the column's own name).

    NotFound, with the names there are.
    """
    if name in built_in.names():
        spec = built_in.spec(name)
        return Description(
            name,
            spec.label,
            spec.help,
            spec.columns,
            spec.optional_columns,
            spec.arguments,
            spec.bounds_with(args or {}),
            custom=False,
        )
    library = Library(home) if home is not None else None
    if library is None or not library.versions(name):
        there = ", ".join(names(home))
        raise NotFound(
            Text(
                en=f"rewards: there is no reward {name!r}; the rewards are {there}",
                ko=f"rewards: {name!r}라는 보상이 없습니다. 쓸 수 있는 보상: {there}",
            )
        )
    return of_version(library.get(name, version), args)


def of_version(version: Version, args: Mapping[str, Any] | None = None) -> Description:
    """The description of a saved version."""
    found = look(version.source, version.function).function
    if found is None:  # cannot be: it was saved
        raise Refused(Text(en=f"{version.name}: no function", ko=f"{version.name}: 함수가 없습니다"))
    mapping = {**version.settings.get("columns", {}), **((args or {}).get("columns") or {})}
    first = found.help.split("\n")[0]
    about = Text(
        en=f"Custom reward, version {version.version}, {version.level}." + (f" {first}" if first else ""),
        ko=f"사용자 보상, 버전 {version.version}, {version.level}." + (f" {first}" if first else ""),
    )
    return Description(
        version.name,
        Text(en=version.name, ko=version.name),
        about,
        tuple(mapping.get(column, column) for column in found.columns),
        tuple(mapping.get(column, column) for column in found.optional),
        (
            *(Argument(key, type(value).__name__, value, ()) for key, value in found.defaults.items()),
            Argument("limit_s", "float", version.settings.get("limit_s", LIMIT_S), ()),
            Argument("memory_mb", "int", version.settings.get("memory_mb", MEMORY_MB[version.level]), ()),
            Argument("columns", "dict", version.settings.get("columns", {}), ()),
        ),
        None,
        custom=True,
        level=version.level,
        version=version.version,
    )
