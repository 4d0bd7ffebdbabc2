"""What a sweep is asked as, read and put in order: a base, the values of each swept field, seeds. Pure; no I/O."""

from __future__ import annotations

import difflib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.alerting import FIELD as ADDRESS
from backend.config.coerce import coerce
from backend.config.kinds import kind_of
from backend.config.layers import today
from backend.config.presets import algorithms
from backend.config.schema import FIELDS
from backend.errors import Refused
from backend.text import Text

MOST_RUNS = 100
METHOD = "algorithm"  # no field: a method of configs/algorithms, laid over the base
SEED = "seed"
KEYS = ("name", "preset", "from", "values", "sweep", "seeds", "leave_out")
# What is a run's own, or is decided by what is swept, or may hold a token (an axis stands in names, tables and files).
NOT_SWEPT = frozenset({"name", "evaluation", "control_of", "reward_versions", "dataset_sha256", "attached", ADDRESS})
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Asked:
    """A sweep in words that are understood. `axes`: field -> its values, in the order asked; without the seeds, which
    repeat every setting. `leave_out`: points that break a rule are left out instead of refusing the whole. `address`:
    where the runs' alerts go; it may hold a token, so it is not among `values`, which are stored and shown."""

    axes: dict[str, list[Any]]
    seeds: list[int] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    preset: str | None = None
    run: str | None = None
    name: str = ""
    leave_out: bool = False
    address: str = field(default="", repr=False)

    @property
    def size(self) -> int:
        """Points of the grid."""
        return math.prod(len(values) for values in self.axes.values()) * max(1, len(self.seeds))


def refused(name: str, value: Any, en: str, ko: str, suggest: Sequence[Any] = ()) -> Refused:
    """A refusal of one part of what was asked: its field, value, rule, and what would do. A value that may hold the
    address of alerts, also under a name that was meant to be its, is not repeated."""
    some = ", ".join(map(str, suggest))
    would, would_ko = (f" (would do: {some})", f" (가능한 값: {some})") if some else ("", "")
    shown = json.dumps(value, ensure_ascii=False, default=str)
    secret = ADDRESS in f"{name} {shown}" or difflib.get_close_matches(name[:80], [ADDRESS], 1, 0.7)
    shown = json.dumps("…", ensure_ascii=False) if secret else shown[:200]
    error = Refused(Text(en=f"{name}={shown}: {en}{would}", ko=f"{name}={shown}: {ko}{would_ko}"))
    error.field = name  # type: ignore[attr-defined]
    return error


def read(raw: Mapping[str, Any]) -> Asked:
    """A sweep from a file or the page. Refused for what cannot be understood; whether the points are in order is the
    plan's question."""
    for key in raw:
        if key not in KEYS:
            near = difflib.get_close_matches(str(key), KEYS, 1, 0.6)
            inside = today(str(key)) in FIELDS
            en = "a setting of every run stands under values" if inside else f"is no part of a sweep: {', '.join(KEYS)}"
            ko = (
                "모든 실행에 쓸 설정은 values 아래에 두세요" if inside else f"스윕의 항목이 아닙니다: {', '.join(KEYS)}"
            )
            raise refused(str(key), raw[key], en, ko, near)
    values = _mapping(raw, "values")
    address = _address(values)
    swept = _mapping(raw, "sweep")
    if len(swept) > MOST_RUNS:
        raise refused("sweep", len(swept), f"fields at once: {MOST_RUNS} at most", f"필드는 {MOST_RUNS}개까지입니다")
    axes: dict[str, list[Any]] = {}
    for key, found in swept.items():
        name = _name(key)
        if name in axes:
            raise refused(key, name, "is swept twice, under two names", "두 이름으로 두 번 스윕합니다")
        axes[name] = _values(key, found)
    given = raw.get("seeds")
    if given is not None and not isinstance(given, list | tuple):  # 3 may mean the seed 3 or three seeds
        raise refused("seeds", given, "must be a list of whole numbers, such as [1, 2, 3]",
                      "[1, 2, 3]처럼 정수 목록이어야 합니다")  # fmt: skip
    seeds = _seeds(given)
    if SEED in axes:
        if seeds:
            raise refused(SEED, axes[SEED], "stands under sweep and under seeds", "sweep과 seeds에 모두 있습니다")
        seeds = _seeds(axes.pop(SEED))
    if not axes and len(seeds) < 2:
        raise refused("sweep", {}, "name a field with its values, or several seeds",
                      "필드와 값들을 지정하거나 시드를 여러 개 지정하세요")  # fmt: skip
    for name in values:
        if any(_overwrites(axis, _full(name)) for axis in axes):
            raise refused(name, values[name], "is swept: it cannot be fixed under values too",
                          "스윕하는 필드라 values에서 고정할 수 없습니다")  # fmt: skip
    for name in axes:
        inside = [other for other in axes if other != name and _overwrites(name, other)]
        if inside:
            raise refused(inside[0], axes[inside[0]], f"{name} is swept too and replaces all of it: sweep one of the "
                          "two", f"{name}도 스윕해서 이 값을 모두 덮어씁니다. 둘 중 하나만 스윕하세요")  # fmt: skip
    by_methods = _set_by_methods() if METHOD in axes else set()
    if named := [name for name in axes if name in by_methods]:
        raise refused(named[0], axes[named[0]], "the swept algorithm sets it too, so only one of the two would count",
                      "스윕하는 알고리즘도 정하는 값이라 둘 중 하나만 적용됩니다")  # fmt: skip
    preset, run = _text(raw, "preset"), _text(raw, "from")
    if preset and run:
        raise refused("from", run, f"give a run or a preset ({preset}) as the base, not both",
                      f"실행과 프리셋({preset}) 중 하나만 바탕으로 지정하세요")  # fmt: skip
    leave_out = raw.get("leave_out")
    if leave_out is not None and not isinstance(leave_out, bool):  # "false" in quotes is no false
        raise refused("leave_out", leave_out, "must be true or false", "true나 false여야 합니다", [True, False])
    name = (_text(raw, "name") or "").strip()
    asked = Asked(axes, seeds, values, preset, run, name, bool(leave_out), address)
    if len(asked.name) > LONGEST_NAME:
        raise refused("name", asked.name, f"at most {LONGEST_NAME} characters", f"{LONGEST_NAME}자까지 됩니다")
    if not asked.name.isprintable():
        raise refused("name", asked.name.encode("ascii", "backslashreplace").decode(), "has characters that cannot be "
                      "shown", "표시할 수 없는 문자가 있습니다")  # fmt: skip
    if asked.size > MOST_RUNS:
        sizes = [str(len(each)) for each in [*axes.values(), *([seeds] if seeds else [])]]
        raise _too_many(" x ".join(sizes), asked.size)
    return asked


def _too_many(sizes: str, runs: int) -> Refused:
    return refused("sweep", sizes, f"makes {runs:,} runs, and a sweep has {MOST_RUNS} at most: take fewer values, or "
                   "sweep fewer fields at once",
                   f"실행이 {runs:,}개입니다. {MOST_RUNS}개까지입니다. 값이나 필드를 줄이세요")  # fmt: skip


def _address(values: dict[str, Any]) -> str:
    """The address of alerts, taken out of `values`; whether it is a sound one is the plan's question."""
    given = values.pop(ADDRESS, None) or ""
    if not isinstance(given, str):
        raise refused(ADDRESS, given, "must be text", "문자열이어야 합니다")
    inside = [name for name in values if today(name.partition(".")[0]) == ADDRESS]
    if inside:
        raise refused(inside[0], values[inside[0]], f"{ADDRESS} has no arguments", f"{ADDRESS}에는 인자가 없습니다")
    return given


def points(asked: Asked) -> list[dict[str, Any]]:
    """The grid in the order in which it runs: the last field moves fastest, and every setting has its first seed before
    any has its second: a sweep that is stopped half way has compared all of them."""
    settings = [dict(zip(asked.axes, chosen, strict=True)) for chosen in itertools.product(*asked.axes.values())]
    if not asked.seeds:
        return settings
    return [{**setting, SEED: seed} for seed in asked.seeds for setting in settings]


def setting_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """A point without its seed: what several seeds repeat."""
    return {name: value for name, value in values.items() if name != SEED}


def label(values: Mapping[str, Any]) -> str:
    """loss_type=dapo, temperature=0.3"""
    return ", ".join(f"{name}={shown(value)}" for name, value in values.items())


def shown(value: Any) -> str:
    """A value as a person would type it."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value or not math.isfinite(value) else repr(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _mapping(raw: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = raw.get(key) or {}
    if not isinstance(found, Mapping):
        raise refused(key, found, "must be names with values", "이름과 값의 묶음이어야 합니다")
    return {str(name): value for name, value in found.items()}


def _text(raw: Mapping[str, Any], key: str) -> str | None:
    found = raw.get(key)
    if found is not None and not isinstance(found, str):
        raise refused(key, found, "must be text", "문자열이어야 합니다")
    return found or None


def _name(key: str) -> str:
    """A field under today's name; of a mapping's argument (dataset_args.digits) the head is looked at."""
    if key == METHOD:
        return key
    head, dot, rest = key.partition(".")
    name = today(head)
    if name not in FIELDS:
        near = difflib.get_close_matches(head, [*FIELDS, METHOD], 3, 0.5)
        raise refused("sweep", key, "there is no such setting", "그런 설정은 없습니다", near)
    if name in NOT_SWEPT:
        raise refused("sweep", key, "cannot be swept", "스윕할 수 없는 설정입니다")
    if dot and kind_of(name).name != "dict":
        raise refused("sweep", key, f"{name} has no arguments", f"{name}에는 인자가 없습니다")
    if dot and not all(rest.split(".")):
        raise refused("sweep", key, "an argument has no name between its points", "점 사이에 인자 이름이 없습니다")
    return f"{name}{dot}{rest}"


def _full(name: str) -> str:
    """A setting or its argument under today's name."""
    head, dot, rest = name.partition(".")
    return f"{today(head)}{dot}{rest}"


def _overwrites(one: str, other: str) -> bool:
    """Whether setting `one` sets `other` too: they are the same, or `other` is an argument inside of it. The other way
    round is in order: reward_args fixes all, reward_args.format.content changes one of it at each point."""
    return other == one or other.startswith(f"{one}.")


def _values(key: str, given: Any) -> list[Any]:
    """The values of one field, typed where they can be read, each once. How many they are is asked first: a request
    may hold hundreds of thousands."""
    listed = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not listed:
        raise refused(key, listed, "has no values", "값이 없습니다")
    if len(listed) > MOST_RUNS:
        raise _too_many(f"{key}: {len(listed)} values", len(listed))
    found: dict[str, Any] = {}
    for value in listed:
        typed = value
        if today(key) in FIELDS:
            typed, fault = coerce(today(key), value)
            typed = value if fault is not None else typed  # the check of its points says what is wrong
        identity = json.dumps(typed, sort_keys=True, default=str)
        if identity in found:
            raise refused(key, value, "is given twice", "두 번 지정되었습니다")
        found[identity] = typed
    return list(found.values())


def _seeds(given: Any) -> list[int]:
    if given is None:
        return []
    found = _values(SEED, given) if given != [] else []
    for value in found:
        if isinstance(value, bool) or not isinstance(value, int):
            raise refused("seeds", value, "must be a whole number", "정수여야 합니다")
    return found


def _set_by_methods() -> set[str]:
    return {name for method in algorithms() for name in method.values}
