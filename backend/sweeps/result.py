"""The table of a sweep: its settings in the order of the grid, each over its seeds, and whether one is the best."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.export import cell, safe_header
from backend.sweeps import grid
from backend.sweeps.measures import together
from backend.text import Text

LEVEL = "95%"


def settings(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """`rows`: of the runs, with "values", "state", "measures" (None without a run). One entry a setting: {"values",
    "label", "runs": positions, "done": how many ended well, together()'s keys over those that did}."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        values = grid.setting_of(row["values"])
        key = json.dumps(values, sort_keys=True, default=str)
        one = found.setdefault(key, {"values": values, "label": grid.label(values), "runs": [], "done": 0, "of": []})
        one["runs"].append(row["position"])
        if row["state"] == "succeeded" and row["measures"] is not None:
            one["done"] += 1
            one["of"].append(row["measures"])
    runs = [one.pop("of") for one in found.values()]
    return [{**one, **together(of)} for one, of in zip(found.values(), runs, strict=True)]


def best(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """{"setting": index | None, "words": {en, ko}}: the setting whose held-out accuracy after training is the highest,
    marked only where its interval lies above every other one's."""
    judged = [(at, one["accuracy"]) for at, one in enumerate(found) if one["accuracy"] is not None]
    waiting = sum(one["done"] < len(one["runs"]) for one in found)
    if len(found) < 2:
        return _said(
            None, Text(en="One setting: nothing to compare it with.", ko="설정이 하나라 비교할 것이 없습니다.")
        )
    if len(judged) < 2:
        if waiting:
            return _said(None, Text(
                en=f"Cannot tell yet: {len(found) - waiting} of {len(found)} settings have finished.",
                ko=f"아직 판단할 수 없습니다: 설정 {len(found)}개 중 {len(found) - waiting}개가 끝났습니다.",
            ))  # fmt: skip
        return _said(None, Text(
            en="No setting can be called the best: fewer than two have a held-out accuracy (eval_size).",
            ko="최고를 정할 수 없습니다: 평가 정확도가 있는 설정이 둘보다 적습니다(eval_size).",
        ))  # fmt: skip
    ranked = sorted(judged, key=lambda each: -each[1]["value"])
    (first, top), (second, next_) = ranked[0], ranked[1]
    incomplete = "1 setting is" if waiting == 1 else f"{waiting} settings are"
    so_far = (f"So far ({incomplete} not complete): ", f"지금까지(설정 {waiting}개 미완료): ")
    so, so_ko = so_far if waiting else ("", "")
    closest = max(one["high"] for _, one in ranked[1:])
    name, other = found[first]["label"], found[second]["label"]
    sides = f"{_share(top)} ({_range(top)})", f"{_share(next_)} ({_range(next_)})"
    if top["low"] > closest:
        return _said(first, Text(
            en=f"{so}Best: {name}, held-out accuracy {sides[0]}; next {other}, {sides[1]}. The {LEVEL} intervals are "
            "apart.",
            ko=f"{so_ko}최고: {name}, 평가 정확도 {sides[0]}. 다음: {other}, {sides[1]}. {LEVEL} 구간이 "
            "겹치지 않습니다.",
        ))  # fmt: skip
    few = any(len(one["runs"]) < 3 for one in found)
    more, more_ko = (
        (" More seeds or more held-out rows would tell.", " 시드나 평가 행을 늘리면 구분될 수 있습니다.")
        if few
        else (" More held-out rows would tell.", " 평가 행을 늘리면 구분될 수 있습니다.")
    )
    if _share(top) == _share(next_):  # what reads alike is said alike: none of them is the highest
        equal = sum(_share(one) == _share(top) for _, one in ranked)
        return _said(None, Text(
            en=f"{so}Not distinguishable: {equal} settings share the highest accuracy, {_share(top)}.{more}",
            ko=f"{so_ko}구분할 수 없습니다: 설정 {equal}개의 정확도가 {_share(top)}로 똑같이 가장 높습니다.{more_ko}",
        ))  # fmt: skip
    return _said(None, Text(
        en=f"{so}Not distinguishable: {name} is highest with {sides[0]}, and its {LEVEL} interval overlaps that of "
        f"another setting ({other}: {sides[1]}).{more}",
        ko=f"{so_ko}구분할 수 없습니다: {name}이(가) {sides[0]}로 가장 높지만 {LEVEL} 구간이 다른 설정"
        f"({other}: {sides[1]})과 겹칩니다.{more_ko}",
    ))  # fmt: skip


def _said(at: int | None, words: Text) -> dict[str, Any]:
    return {"setting": at, "words": words.to_json()}


def _share(one: Mapping[str, Any]) -> str:
    return f"{one['value']:.1%}"


def _range(one: Mapping[str, Any]) -> str:
    return f"{100 * one['low']:.1f}–{100 * one['high']:.1f}"


COLUMNS = (
    "position", "run", "state", "seed", "accuracy_before", "accuracy_after", "accuracy_low", "accuracy_high", "rows",
    "gain", "gain_low", "gain_high", "reward", "mean_length", "reward_spread", "grad_norm_spread", "not_finite",
    "seconds", "headline",
)  # fmt: skip


def to_csv(axes: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """One line a run: its point, then what it came to. No cell starts a formula."""
    yield _line([*COLUMNS[:4], *(safe_header(name) for name in axes), *COLUMNS[4:]])
    for row in rows:
        found = row["measures"] or {}
        before, after, gain = (found.get(name) or {} for name in ("before", "after", "gain"))
        yield _line([
            str(row["position"] + 1), row["run"]["id"] if row["run"] else "", row["state"],
            str(row["values"].get(grid.SEED, "")),
            *(_value(row["values"].get(name)) for name in axes),
            cell(before.get("accuracy")), cell(after.get("accuracy")), cell(after.get("low")), cell(after.get("high")),
            str(after.get("n", "")), cell(gain.get("difference")), cell(gain.get("low")), cell(gain.get("high")),
            *(cell(found.get(name)) for name in ("reward", "length", "reward_spread", "grad_spread")),
            str(found.get("not_finite", "")), cell(found.get("seconds")),
            str((found.get("finding") or {}).get("state", "")),
        ])  # fmt: skip


def _value(value: Any) -> str:
    return grid.shown(value) if isinstance(value, (int, float, bool)) else safe_header(grid.shown(value))


def _line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


__all__ = ["best", "settings", "to_csv"]
