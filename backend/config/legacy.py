"""Names that tutorials still use: carried over with a note, or refused in words."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Mapping
from typing import Any

from backend.config.coerce import coerce
from backend.config.legacy_names import (
    ALIASES,
    DATASET_ARGUMENTS,
    DROPPED,
    IGNORED_WHEN_OFF,
    REFUSED,
    RENAMED,
    VALUES,
)
from backend.config.report import Note, Problem, change, shown
from backend.config.schema import FIELDS
from backend.text import Text

NOWHERE = Text(
    "is no setting; all of them are in docs/settings.md", "없는 설정입니다. 목록은 docs/settings.md에 있습니다"
)


def translate(raw: Mapping[str, Any]) -> tuple[dict[str, Any], list[Note], list[Problem]]:
    """`raw` under today's names and values, with what was changed and what could not be taken."""
    values: dict[str, Any] = {}
    notes: list[Note] = []
    problems: list[Problem] = []
    for name, value in raw.items():
        if name in FIELDS:
            values[name] = _current_value(name, value, notes)
    for name, value in raw.items():
        if name in FIELDS:
            continue
        if name in DATASET_ARGUMENTS:
            _dataset_argument(name, value, values, notes)
        else:
            _old_name(str(name), value, raw, values, notes, problems)
    _loading_type(values, notes, problems)
    return values, notes, problems


def _dataset_argument(name: str, value: Any, values: dict[str, Any], notes: list[Note]) -> None:
    if value is None:
        return
    given, _ = coerce("dataset_args", values.get("dataset_args", {}))
    if given is None:
        return  # what stands there is told in its turn
    argument = DATASET_ARGUMENTS[name]
    values["dataset_args"] = {**given, argument: value}
    text = Text(
        f"{name} is {argument} among dataset_args here", f"{name}의 자리는 여기서 dataset_args의 {argument}입니다"
    )
    notes.append(Note("changed", "dataset_args", text, "old_name"))


def _loading_type(values: dict[str, Any], notes: list[Note], problems: list[Problem]) -> None:
    """`dtype` and `torch_dtype` of model_init_kwargs belong into the setting `dtype`, which decides what is loaded."""
    kwargs = values.get("model_init_kwargs")
    given: dict[str, Any] = (coerce("model_init_kwargs", kwargs)[0] if kwargs is not None else None) or {}
    names = [name for name in ("torch_dtype", "dtype") if name in given]
    if not names:
        return
    rest = {name: value for name, value in given.items() if name not in names} or None
    wanted = _current_value("dtype", given[names[-1]], [])
    set_apart = _current_value("dtype", values.get("dtype", "auto"), [])
    if set_apart not in ("auto", wanted) or len({str(given[name]) for name in names}) > 1:
        rule = Text(
            f"holds {names[-1]}={given[names[-1]]!r} beside dtype {set_apart}: keep one, the setting dtype",
            f"{names[-1]}={given[names[-1]]!r}와 dtype {set_apart}가 함께 있습니다: dtype 설정 하나만 두세요",
        )
        problems.append(Problem("model_init_kwargs", shown(kwargs), rule, [rest], "old_name"))
        return
    values["dtype"], values["model_init_kwargs"] = wanted, rest
    text = Text(
        f"{names[-1]} of model_init_kwargs is the setting dtype here: {wanted}",
        f"model_init_kwargs의 {names[-1]}는 여기서 dtype 설정입니다: {wanted}",
    )
    notes.append(Note("changed", "dtype", text, "old_name"))


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
    off = value in (None, False, [], {}) or (isinstance(value, str) and value.strip().lower() in ("", "false", "none"))
    if name in RENAMED:
        if value is None:
            return  # recipes list what they do not use
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
    elif name in DROPPED or (name in IGNORED_WHEN_OFF and off) or (name in REFUSED and value is None):
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
        if name == "use_liger_kernel" and not importlib.util.find_spec("kernels"):
            suggest = ()
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
    near = [*ALIASES.get(low, ())] or difflib.get_close_matches(low, known, n=3, cutoff=0.75)
    if not near and len(low) > 3:
        near = [n for n in FIELDS if low in n][:3]
    targets = list(dict.fromkeys(RENAMED[n][0] if n in RENAMED else n for n in near))
    if not targets:
        return Problem(name, shown(value), NOWHERE, [], "unknown")
    listed = ", ".join(targets)
    rule = Text(f"is no setting; the nearest names are {listed}", f"없는 설정입니다. 가까운 이름: {listed}")
    fitting = [t for t in targets if coerce(t, _current_value(t, value, []))[1] is None]
    return Problem(name, shown(value), rule, [change(t, shown(value)) for t in fitting], "unknown")
