"""The reasons of verdicts in Korean. A reason is stored in English, once; what it says is known from its form."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from backend.text import Text

FILE = Path(__file__).with_name("_reasons.txt")
"""One form a line, the English (what changes in <angles>), " = ", the Korean."""
TAGS = {"<answer>", "</answer>"}  # these stand for themselves
SLOT = re.compile(r"</?[a-z]+>")


def text(reason: str) -> Text:
    """The reason in both languages; English in both where its form is not known (the words of an exception, say)."""
    return Text(en=reason, ko=_korean(reason) or reason)


def _korean(reason: str) -> str | None:
    first, parted, rest = reason.partition("; ")
    known = _form(first)
    return known if known is None or not parted else f"{known}; {_form(rest) or rest}"


def _form(reason: str) -> str | None:
    for pattern, korean in _forms():
        found = pattern.fullmatch(reason)
        if found is not None:
            return _filled(korean, found.groupdict())
    return None


def _filled(form: str, values: dict[str, str]) -> str:
    return SLOT.sub(lambda slot: slot[0] if slot[0] in TAGS else values[slot[0][1:-1]], form)


@functools.cache
def _forms() -> list[tuple[re.Pattern[str], str]]:
    """The forms with fewest slots first, so that "JSON: <why>" does not take what another form says better."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        english, _, korean = line.partition(" = ")
        parts, slots, start = [], 0, 0
        for slot in SLOT.finditer(english):
            if slot[0] not in TAGS:
                parts += [re.escape(english[start : slot.start()]), f"(?P<{slot[0][1:-1]}>.+?)"]
                start, slots = slot.end(), slots + 1
        parts.append(re.escape(english[start:]))
        found.append((slots, -len(english), re.compile("".join(parts), re.DOTALL), korean))
    return [(pattern, korean) for *_, pattern, korean in sorted(found, key=lambda form: form[:2])]
