"""The settings of a custom reward: its limits, and which column stands for which parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.errors import Refused
from backend.text import Text

LIMIT_S = 30.0
LONGEST_LIMIT_S = 3600.0
MEMORY_MB = {"sandboxed": 1024, "trusted": 8192}
NAMES = ("limit_s", "memory_mb", "columns")


def check_settings(given: Mapping[str, Any], where: str = "settings") -> dict[str, Any]:
    """The settings as they will be used, None left out. Refused, naming what is wrong and what would do."""
    kept = {name: value for name, value in given.items() if value is not None}
    for name, value in kept.items():
        if name not in NAMES:
            _refuse(where, name, value, "there is no such setting", "그런 설정이 없습니다", ", ".join(NAMES))
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if name == "limit_s" and not (number and 0 < value <= LONGEST_LIMIT_S):
            _refuse(where, name, value, "seconds a call", "호출당 초", f"0 < limit_s <= {LONGEST_LIMIT_S:g}")
        if name == "memory_mb" and not (number and isinstance(value, int) and 64 <= value <= 2**20):
            _refuse(where, name, value, "megabytes, a whole number", "메가바이트 단위 정수", "64 .. 1048576")
        if name == "columns" and not (
            isinstance(value, Mapping) and all(isinstance(k, str) and isinstance(v, str) for k, v in value.items())
        ):
            _refuse(
                where,
                name,
                value,
                "parameter names to column names",
                "인자 이름과 열 이름의 쌍",
                '{"solution": "answer"}',
            )
    return kept


def _refuse(where: str, name: str, value: Any, en: str, ko: str, would_do: str) -> None:
    raise Refused(
        Text(
            en=f"{where}: {name}={value!r}: {en} (would do: {would_do})",
            ko=f"{where}: {name}={value!r}: {ko} (가능한 값: {would_do})",
        )
    )
