"""Names that tutorials still use: carried over with a note, or refused in words."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from backend.config.legacy_names import DROPPED, IGNORED_WHEN_OFF, REFUSED, RENAMED, VALUES
from backend.config.report import Note, Problem, change, shown
from backend.config.schema import FIELDS
from backend.text import Text


def translate(raw: Mapping[str, Any]) -> tuple[dict[str, Any], list[Note], list[Problem]]:
    """`raw` under today's names and values, with what was changed and what could not be taken."""
    values: dict[str, Any] = {}
    notes: list[Note] = []
    problems: list[Problem] = []
    for name, value in raw.items():
        if name in FIELDS:
            values[name] = _current_value(name, value, notes)
    for name, value in raw.items():
        if name not in FIELDS:
            _old_name(str(name), value, raw, values, notes, problems)
    return values, notes, problems


def _current_value(name: str, value: Any, notes: list[Note]) -> Any:
    table = VALUES.get(name, {})
    key = value.strip().lower() if isinstance(value, str) else value
    for old, new in table.items():
        if type(old) is type(key) and old == key:
            notes.append(
                Note(
                    "changed",
                    name,
                    Text(f"{name}={value!r} is written {new!r} now", f"{name}={value!r}는 이제 {new!r}로 씁니다"),
                    "old_value",
                )
            )
            return new
    return value


def _old_name(
    name: str, value: Any, raw: Mapping[str, Any], values: dict[str, Any], notes: list[Note], problems: list[Problem]
) -> None:
    off = value is None or value is False or (isinstance(value, str) and value.strip().lower() in ("", "false", "none"))
    if name in RENAMED:
        new, why = RENAMED[name]
        if new in raw:
            rule = Text(
                f"is the old name of {new}, which is set too: keep one",
                f"{new}의 옛 이름인데 {new}도 있습니다: 하나만 두세요",
            )
            problems.append(Problem(name, shown(value), rule, [], "old_name"))
            return
        if name == "warmup_ratio" and not _share(value):
            rule = Text(
                "was a share of all steps, from 0 to below 1; as warmup_steps write it so, or as a number of steps",
                "전체 스텝에 대한 0 이상 1 미만의 비율이었습니다. warmup_steps에 비율이나 스텝 수로 쓰세요",
            )
            problems.append(Problem(name, shown(value), rule, [change("warmup_steps", 0.1)], "old_name"))
            return
        if name == "use_peft":
            value = "none" if off else "lora"
        values[new] = _current_value(new, value, notes)
        text = Text(f"{name} is called {new} now{why.en}", f"{name}의 지금 이름은 {new}입니다{why.ko}")
        notes.append(Note("changed", new, text, "old_name"))
    elif name in DROPPED or (name in IGNORED_WHEN_OFF and off):
        why = DROPPED.get(name) or Text("it is off, as always here", "여기서는 항상 꺼져 있습니다")
        notes.append(
            Note(
                "changed",
                None,
                Text(f"{name} is left out: {why.en}", f"{name} 설정은 쓰지 않습니다: {why.ko}"),
                "old_name",
            )
        )
    elif name in REFUSED or name in IGNORED_WHEN_OFF:
        rule, suggest = REFUSED.get(name) or IGNORED_WHEN_OFF[name]
        problems.append(Problem(name, shown(value), rule, list(suggest), "old_name"))
    else:
        problems.append(_unknown(name, value))


def _share(value: Any) -> bool:
    try:
        return 0 <= float(value) < 1
    except (TypeError, ValueError):
        return False


def _unknown(name: str, value: Any) -> Problem:
    low = name.strip().lower().replace("-", "_").replace(" ", "_")
    known = [*FIELDS, *RENAMED]
    near = difflib.get_close_matches(low, known, n=3, cutoff=0.6)
    if not near:
        near = [n for n in FIELDS if low in n][:3]
    targets = list(dict.fromkeys(RENAMED[n][0] if n in RENAMED else n for n in near))
    if not targets:
        return Problem(
            name, shown(value), Text("is no setting; see the list in the README", "없는 설정입니다"), [], "unknown"
        )
    listed = ", ".join(targets)
    rule = Text(f"is no setting; the nearest names are {listed}", f"없는 설정입니다. 가까운 이름: {listed}")
    return Problem(name, shown(value), rule, [change(t, shown(value)) for t in targets], "unknown")
