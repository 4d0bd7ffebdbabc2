"""What a custom reward may be called, and where none may be used at all."""

from __future__ import annotations

import keyword
import unicodedata
from functools import cache

from backend.errors import Refused
from backend.rewards import base as built_in
from backend.settings import on_space
from backend.text import Text

LONGEST_NAME = 64
DEVICES = {"con", "prn", "aux", "nul"}  # names of devices on Windows, in any case

ON_SPACE = Text(
    en="custom rewards are off on a public Space: code of visitors is not run here. Built-in rewards work; for your "
    "own, "
    "run GRPO Studio on your machine.",
    ko="공개 Space에서는 사용자 보상을 쓸 수 없습니다. 방문자의 코드를 실행하지 않기 때문입니다. 내장 보상은 쓸 수 "
    "있고, "
    "직접 만든 보상은 내 컴퓨터에서 GRPO Studio를 실행해 쓰세요.",
)


def refuse_on_space() -> None:
    """Refused, in words, on a public Space."""
    if on_space():
        raise Refused(ON_SPACE)


@cache
def _built_in() -> frozenset[str]:
    return frozenset(name.lower() for name in built_in.names())


def name_problem(name: str) -> Text | None:
    """Why `name` cannot be the name of a custom reward; None where it can."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        return Text(
            en="a name is a Python identifier that begins with a letter: letters, digits and _, no spaces",
            ko="이름은 글자로 시작하는 파이썬 식별자여야 합니다. 글자, 숫자, _만 쓸 수 있고 공백은 안 됩니다",
        )
    if len(name) > LONGEST_NAME:
        return Text(en=f"a name has at most {LONGEST_NAME} characters", ko=f"이름은 {LONGEST_NAME}자까지입니다")
    if unicodedata.normalize("NFKC", name) != name or name.lower() in DEVICES:
        return Text(
            en="this name does not mean the same file on every system; take another",
            ko="시스템마다 다른 파일로 읽힐 수 있는 이름입니다. 다른 이름을 쓰세요",
        )
    if name.lower() in _built_in():
        return Text(en="a built-in reward has this name; take another", ko="내장 보상의 이름입니다. 다른 이름을 쓰세요")
    return None


def require_name(name: str) -> str:
    """`name` as it is; Refused, with what would do, where it cannot be one."""
    problem = name_problem(name)
    if problem is not None:
        raise Refused(Text(en=f"name={name!r}: {problem.en}", ko=f"name={name!r}: {problem.ko}"))
    return name
