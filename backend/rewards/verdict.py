"""What one reward says about one completion, and the text it looks at.

Standard library only and without imports of ours: a script that is exported for a machine where this project
is not installed carries this file as it stands.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Verdict(NamedTuple):
    """`score` is None where the reward does not apply (TRL leaves it out; it is never a 0).

    `extracted` is the part of the completion that was judged, `reason` says why the score is what it is.
    """

    score: float | None
    extracted: str | None = None
    reason: str | None = None


def completion_text(completion: Any) -> str:
    """The text of a completion in either of TRL's shapes: a string, or a list of messages (all turns joined)."""
    if isinstance(completion, str):
        return completion
    parts: list[str] = []
    for message in completion:
        content = message.get("content")
        if isinstance(content, list):  # multimodal content: blocks with a type
            parts.extend(block.get("text") or "" for block in content)
        elif content is not None:
            parts.append(content)
    return "\n".join(parts)


def after_reasoning(text: str, prefilled: bool = False) -> str | None:
    """What follows the last `</think>`; None for a thought that never closes.

    `prefilled`: the chat template has already opened the thought, so the completion holds no `<think>` of its own.
    """
    _, closed, rest = text.rpartition("</think>")
    if closed:
        return None if "<think>" in rest else rest
    return None if prefilled or "<think>" in text else text


def last_tag(text: str, tag: str = "answer") -> str | None:
    """The content of the last complete `<tag>...</tag>`, stripped; None where there is none. Case counts."""
    end = text.rfind(f"</{tag}>")
    start = text.rfind(f"<{tag}>", 0, end) if end >= 0 else -1
    return None if start < 0 else text[start + len(tag) + 2 : end].strip()
