"""Pieces that a list and a group have in common: values, excerpts and prompts as the page gets them.

A number that is not finite goes as the word "nan", "inf" or "-inf": unknown and NaN are two things, and JSON has a word
for neither. Lone surrogates cannot be sent as UTF-8: each becomes U+FFFD, and how many there were is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from backend import views
from storage.records import Completion


def value(number: float | None) -> float | str | None:
    return None if number is None else views.kind_of(number) or number


def surrogates(text: str) -> int:
    """How many characters of it become U+FFFD on the way to the page."""
    return len(views.SURROGATE.findall(text))


def rewards(completion: Completion, names: Sequence[str]) -> list[float | str | None]:
    """Along `names`; None where a reward did not apply, or the row has fewer than there are names."""
    given = completion.rewards
    return [value(given[at]) if at < len(given) else None for at in range(len(names))]


def excerpt(text: str, most: int, needle: str | None = None) -> dict[str, Any]:
    """{"text", "before", "after"}: at most `most` characters, around the first place of `needle` where it has one;
    whether something stands before them and after them."""
    start = 0
    if needle:
        found = re.search(re.escape(needle), text, re.IGNORECASE)
        if found is not None and found.end() > most:
            start = max(0, found.start() - most // 4)
    return {
        "text": views.clean(text[start : start + most]),
        "before": start > 0,
        "after": start + most < len(text),
    }


def prompt_line(prompt: str, prompt_format: str) -> str:
    """What a prompt says, for a line of a list: of messages their texts, each behind its role."""
    if prompt_format != "messages":
        return prompt
    try:
        messages = json.loads(prompt)
        parts = [(str(message["role"]), message.get("content")) for message in messages]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return prompt
    if len(parts) == 1:
        return _written(parts[0][1])
    return "\n".join(f"{role}: {_written(content)}" for role, content in parts)


def _written(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def best_first(completions: Iterable[Completion]) -> list[int]:
    """Their places, the highest total first; of equal ones the one with the higher advantage, then the earlier.
    A total that is no number comes last."""
    numbered = list(enumerate(completions))

    def rank(pair: tuple[int, Completion]) -> tuple[bool, float, float, int]:
        at, one = pair
        total = one.total if one.total is not None and one.total == one.total else None
        advantage = one.advantage if one.advantage is not None and one.advantage == one.advantage else 0.0
        return total is None, -(total or 0.0), -advantage, at

    return [at for at, _ in sorted(numbered, key=rank)]
