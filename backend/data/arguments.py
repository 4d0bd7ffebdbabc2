"""Reading `dataset_args`: one message a mistake, naming the argument, its value and what would do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from backend.errors import Refused
from backend.text import Text


def refuse(name: str, value: Any, en: str, ko: str, field: str = "dataset_args") -> Refused:
    """The error for `name` in the setting `field`; `en` and `ko` say what would do."""
    return Refused(Text(en=f"{field}: {name} is {value!r}; {en}", ko=f"{field}: {name} 값이 {value!r}입니다. {ko}"))


def known(args: Mapping[str, Any], names: Collection[str], field: str = "dataset_args") -> None:
    """Refuse an argument that is not one of `names`."""
    for name in args:
        if name not in names:
            there = ", ".join(sorted(names))
            raise Refused(
                Text(
                    en=f"{field}: there is no argument {name!r} here; the arguments are {there}",
                    ko=f"{field}: {name!r} 인자는 없습니다. 쓸 수 있는 인자: {there}",
                )
            )


def choice(
    args: Mapping[str, Any], name: str, default: Any, choices: Collection[Any], field: str = "dataset_args"
) -> Any:
    value = args.get(name, default)
    if isinstance(value, list | dict) or value not in choices:
        there = ", ".join(map(str, choices))
        raise refuse(name, value, f"one of {there}", f"가능한 값: {there}", field)
    return value


def whole(args: Mapping[str, Any], name: str, default: int, low: int, high: int, field: str = "dataset_args") -> int:
    value = args.get(name, default)
    if type(value) is not int or not low <= value <= high:
        raise refuse(
            name, value, f"a whole number from {low} to {high}", f"{low}부터 {high}까지의 정수여야 합니다", field
        )
    return value


def share(args: Mapping[str, Any], name: str, default: float, field: str = "dataset_args") -> float:
    value = args.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise refuse(name, value, "a number from 0 to 1", "0과 1 사이의 수여야 합니다", field)
    return float(value)


def flag(args: Mapping[str, Any], name: str, default: bool, field: str = "dataset_args") -> bool:
    value = args.get(name, default)
    if not isinstance(value, bool):
        raise refuse(name, value, "true or false", "true 또는 false여야 합니다", field)
    return value


def text(args: Mapping[str, Any], name: str, default: str | None = None, field: str = "dataset_args") -> str | None:
    value = args.get(name, default)
    if value is not None and not isinstance(value, str):
        raise refuse(name, value, "a text", "문자열이어야 합니다", field)
    return value
