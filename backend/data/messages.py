"""Messages, prompts and answers as they stand in a cell, checked."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from typing import Any

from backend.data.faults import BadRow, clip
from backend.data.prompts import Prompt, as_prompt

LARGEST_LITERAL = 1_000_000  # characters
ROWS_OF_NUMPY = re.compile(r"\}\n\s*\{")  # it writes no comma; a line end inside a text would be written as \n
ROLES = ("system", "user", "assistant", "tool", "developer")


def is_blank(value: Any) -> bool:
    """None or white space."""
    return value is None or (isinstance(value, str) and not value.strip())


def empty(value: Any) -> bool:
    """Nothing that anybody could read: None, white space, an empty list."""
    return is_blank(value) or value == []


def said(content: Any) -> str:
    """The text of a message; blocks are joined."""
    if isinstance(content, list):
        return "\n".join(str(block.get("text") or "") for block in content if isinstance(block, dict))
    return str(content)


def unpacked(value: Any, told: Counter[str] | None = None) -> Any:
    """A list of messages that stands as text in a cell, as JSON or as Python writes it; anything else as it is.

    `told` counts "python_messages": what pandas wrote as Python's own text.
    """
    if not isinstance(value, str) or not value.lstrip().startswith("[{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        pass
    if len(value) > LARGEST_LITERAL:
        return value
    try:
        found = ast.literal_eval(ROWS_OF_NUMPY.sub("}, {", value.strip()))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return value
    if not isinstance(found, list) or not all(isinstance(m, dict) and {"role", "content"} <= set(m) for m in found):
        return value
    if told is not None:
        told["python_messages"] += 1
    return found


def as_messages(value: Any, column: str, told: Counter[str] | None = None) -> Prompt:
    """The prompt of a cell: text, a list of messages, or such a list as text. BadRow where it is none."""
    value = unpacked(value, told)
    if isinstance(value, str):
        if not value.strip():
            raise BadRow(column, "blank_prompt", "the prompt is blank", "프롬프트가 비어 있습니다")
        return value
    if value is None:
        raise BadRow(column, "blank_prompt", "the prompt is blank: it must be a text or a list of messages",
                     "프롬프트가 비어 있습니다. 글이거나 메시지 목록이어야 합니다")  # fmt: skip
    if not isinstance(value, list) or not value:
        raise BadRow(
            column,
            "no_prompt",
            "the prompt must be a text or a list of messages that is not empty",
            "프롬프트는 글이거나 비어 있지 않은 메시지 목록이어야 합니다",
        )
    for number, message in enumerate(value, start=1):
        fault = _fault(message)
        if fault is not None:
            en, ko = fault
            raise BadRow(column, "bad_message", f"message {number} of the prompt {en}",
                         f"프롬프트의 {number}번째 메시지: {ko}")  # fmt: skip
    if all(not said(message["content"]).strip() for message in value if message["role"] != "system") and any(
        message["role"] != "system" for message in value
    ):
        raise BadRow(column, "blank_prompt", "the prompt is blank: no message says anything",
                     "프롬프트가 비어 있습니다. 내용이 있는 메시지가 없습니다")  # fmt: skip
    return [{"role": message["role"], "content": message["content"]} for message in value]


def _fault(message: Any) -> tuple[str, str] | None:
    """Why this is no message, in both languages."""
    if not isinstance(message, dict):
        return "is no object with a role and a content", "role과 content가 있는 객체가 아닙니다"
    role = message.get("role")
    if role is None:
        return "has no role", "role이 없습니다"
    if role not in ROLES:
        there = ", ".join(ROLES)
        shown = clip(str(role))
        return f"has the role {shown!r}; the roles are {there}", f"role이 {shown!r}입니다. 가능: {there}"
    if message.get("content") is None and message.get("tool_calls"):
        return (
            "calls a tool and says nothing (content null): tool calls cannot be part of a prompt here",
            "도구 호출이고 내용이 없습니다(content null). 도구 호출은 프롬프트로 쓸 수 없습니다",
        )
    if "content" not in message:
        return "has no content", "content가 없습니다"
    return ("has the content null", "content가 null입니다") if message["content"] is None else None


def as_answer(value: Any, column: str, told: Counter[str] | None = None) -> Prompt:
    """The completion of a cell: text, or the assistant's messages, also as text. BadRow where it is none."""
    if isinstance(value, str):
        whole = unpacked(value)
        value = unpacked(value, told) if isinstance(whole, list) and whole and all(map(_is_answer, whole)) else value
    if isinstance(value, list):
        messages = as_messages(value, column)
        assert isinstance(messages, list)
        if all(message["role"] == "assistant" for message in messages):
            return messages
        raise BadRow(column, "no_answer", "a completion holds the assistant's messages only",
                     "completion에는 assistant의 메시지만 있어야 합니다")  # fmt: skip
    if value is None or not str(value).strip():
        raise BadRow(column, "blank_completion", "the completion is blank", "답변이 비어 있습니다")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_answer(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") == "assistant" and "content" in message


def pair(prompt: Prompt, completion: Prompt) -> tuple[Prompt, Prompt]:
    """Both plain or both conversations."""
    if isinstance(prompt, list) and isinstance(completion, str):
        return prompt, [{"role": "assistant", "content": completion}]
    if isinstance(prompt, str) and isinstance(completion, list):
        return as_prompt(prompt), completion
    return prompt, completion
