"""Recipes and methods from configs/, one YAML file each, and how a configuration is put together from parts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from backend.config.kinds import kind_of
from backend.config.layers import overlay, today
from backend.config.plain import plain
from backend.config.schema import FIELDS
from backend.errors import NotFound, Refused
from backend.settings import PROJECT
from backend.text import Text

CONFIGS = PROJECT / "configs"


@dataclass(frozen=True, slots=True)
class Preset:
    """One file: `values` are settings, `changes` say what differs from its source and why.

    A recipe is a whole run; a method (configs/algorithms) holds only the settings of an objective and is laid
    over a recipe.
    """

    name: str
    title: Text
    summary: Text
    values: dict[str, Any]
    changes: list[Text] = field(default_factory=list)
    source: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name, "title": self.title.to_json(), "summary": self.summary.to_json(),
            "values": self.values, "changes": [c.to_json() for c in self.changes], "source": self.source,
        }  # fmt: skip


def presets() -> list[Preset]:
    """All recipes; quickstart first, then by name."""
    return _read_all("presets", first="quickstart")


def algorithms() -> list[Preset]:
    """All methods, by name."""
    return _read_all("algorithms")


def load_preset(name: str) -> Preset:
    """The recipe of this name; NotFound, with the names there are, when there is none."""
    return _load("presets", name)


def load_algorithm(name: str) -> Preset:
    """The method of this name; NotFound, with the names there are, when there is none."""
    return _load("algorithms", name)


def _read_all(folder: Literal["presets", "algorithms"], first: str = "") -> list[Preset]:
    files = sorted((CONFIGS / folder).glob("*.yaml"), key=lambda p: (p.stem != first, p.stem))
    return [_read(path) for path in files]


def _load(folder: Literal["presets", "algorithms"], name: str) -> Preset:
    known = {p.stem: p for p in sorted((CONFIGS / folder).glob("*.yaml"))}
    if name in known:
        return _read(known[name])
    near = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f" (did you mean {near[0]}?)" if near else ""
    listed = ", ".join(known)
    what, korean = ("preset", "프리셋") if folder == "presets" else ("algorithm", "알고리즘")
    raise NotFound(
        Text(
            f"{what}: there is no {name!r}{hint}; there are {listed}",
            f"{what}: {name!r}라는 {korean}은 없습니다{hint}. 쓸 수 있는 것: {listed}",
        )
    )


def _read(path: Path) -> Preset:
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    try:
        return Preset(
            name=path.stem,
            title=Text(**raw["title"]),
            summary=Text(**raw["summary"]),
            values=dict(raw["values"]),
            changes=[Text(**c) for c in raw.get("changes", [])],
            source=raw.get("source"),
        )
    except (KeyError, TypeError) as error:
        raise Refused(f"{path.name}: needs title, summary (each en and ko) and values: {error}") from error


def load_file(path: Path) -> dict[str, Any]:
    """Settings from a YAML or JSON file; a whole preset file counts by its `values`."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise Refused(
            Text(
                f"config: {path} cannot be read: {error.strerror}",
                f"config: {path} 파일을 읽을 수 없습니다: {error.strerror}",
            )
        ) from error
    except (yaml.YAMLError, ValueError) as error:
        raise Refused(
            Text(
                f"config: {path} is no valid YAML or JSON: {error}",
                f"config: {path} 파일이 올바른 YAML이나 JSON이 아닙니다: {error}",
            )
        ) from error
    if isinstance(raw, dict) and isinstance(raw.get("values"), dict) and "title" in raw:
        raw = raw["values"]
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise Refused(
            Text(f"config: {path} must hold names and values", f"config: {path}에는 이름과 값이 있어야 합니다")
        )
    return {str(k): plain(v) for k, v in raw.items()}


def parse_sets(sets: Iterable[str]) -> dict[str, Any]:
    """`k=v` texts to values, each read as YAML; for a setting that is a text, as written where YAML would make
    something else of it (`name=12:30`). A dotted name (`dataset_args.digits=2`) stays one; `merge` puts it into its
    mapping.

    Refused when a text has no `=` or no name before it.
    """
    out: dict[str, Any] = {}
    for text in sets:
        name, equals, value = text.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not equals or not name:
            raise Refused(
                Text(
                    f"set: {text!r} must be name=value, such as num_generations=8",
                    f"set: {text!r}는 num_generations=8처럼 이름=값이어야 합니다",
                )
            )
        try:
            parsed = plain(yaml.safe_load(value)) if value.strip() else None
        except (yaml.YAMLError, ValueError):
            parsed = value  # such as a pattern with brackets or the 30th of February: taken as written
        if not isinstance(parsed, str) and _is_text(name):
            parsed = value.strip()
        out[name] = parsed
    return out


def _is_text(name: str) -> bool:
    """Whether a setting, under whichever of its names, holds text and nothing else."""
    return today(name) in FIELDS and kind_of(today(name)).members == ("str",)


def merge(
    preset: Preset | Mapping[str, Any] | None,
    file: Mapping[str, Any] | None = None,
    sets: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Settings laid over one another: recipe, then file, then `--set`. `algorithm=NAME` in the last two lays that
    method between the recipe and them. How one layer lies over another: `layers.overlay`."""
    base = dict(preset.values if isinstance(preset, Preset) else preset or {})
    layers = [dict(file or {}), dict(sets or {})]
    names = [layer.pop("algorithm") for layer in layers if "algorithm" in layer]
    if names and names[-1] is not None:
        base = overlay(base, load_algorithm(str(names[-1])).values)
    for layer in layers:
        base = overlay(base, layer)
    return base
