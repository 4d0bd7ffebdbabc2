"""Arguments of rewards that are right in kind and wrong in content: how they are refused; patterns of users."""

from __future__ import annotations

import re
import warnings
from typing import Any, NoReturn

from backend.errors import Refused
from backend.text import Text

FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE, "a": re.ASCII}


def refuse(field: str, value: Any, wanted_en: str, wanted_ko: str) -> NoReturn:
    """Refused: `field` (reward.argument) is `value`; expected what the two texts say."""
    shown = repr(value)
    shown = shown if len(shown) <= 200 else shown[:200] + "…"
    raise Refused(
        Text(
            en=f"reward_args: {field} is {shown}; expected {wanted_en}",
            ko=f"reward_args: {field} 값이 {shown}입니다. 가능한 값: {wanted_ko}",
        )
    )


def flags_of(letters: str) -> re.RegexFlag:
    """The flags that `letters` name, as in (?imsxa)."""
    value = re.RegexFlag(0)
    for letter in letters:
        value |= FLAGS[letter]
    return value


def check_pattern(name: str, pattern: str | None, flags: str = "", *, wanted: bool) -> None:
    """Refused for a pattern that does not compile, with the place; for a missing one where it is `wanted`."""
    if not pattern:
        if wanted or pattern == "":
            refuse(f"{name}.pattern", pattern, "a regular expression", "정규식")
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern, flags_of(flags))
    except re.error as error:
        place = error.pos if error.pos is not None else len(pattern)
        around = pattern[max(0, place - 20) : place + 20]
        refuse(
            f"{name}.pattern",
            pattern,
            f"a regular expression that compiles: {error.msg} at position {place} (near {around!r})",
            f"컴파일되는 정규식. {place}번째 글자({around!r} 부근)에서 오류: {error.msg}",
        )
    except (OverflowError, RecursionError, MemoryError) as error:
        refuse(
            f"{name}.pattern",
            pattern,
            f"a regular expression that compiles: {error or type(error).__name__}",
            f"컴파일되는 정규식. 오류: {error or type(error).__name__}",
        )
