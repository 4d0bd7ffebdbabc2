"""Messages, prompts and answers as they stand in a cell, checked."""

from __future__ import annotations

import json
from typing import Any

from backend.data.faults import BadRow
from backend.data.prompts import Prompt, as_prompt

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


def as_messages(value: Any, column: str) -> Prompt:
    """The prompt of a cell: text, a list of messages, or such a list as JSON text. BadRow where it is none."""
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
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
    for message in value:
        if not isinstance(message, dict) or message.get("role") not in ROLES or message.get("content") is None:
            raise BadRow(
                column,
                "bad_message",
                "each message of the prompt needs a role and a content",
                "프롬프트의 메시지마다 role과 content가 있어야 합니다",
            )
    if all(not said(message["content"]).strip() for message in value if message["role"] != "system") and any(
        message["role"] != "system" for message in value
    ):
        raise BadRow(column, "blank_prompt", "the prompt is blank: no message says anything",
                     "프롬프트가 비어 있습니다. 내용이 있는 메시지가 없습니다")  # fmt: skip
    return [{"role": message["role"], "content": message["content"]} for message in value]


def as_answer(value: Any, column: str) -> Prompt:
    """The completion of a cell: text, or the assistant's messages. BadRow where it is none."""
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


def pair(prompt: Prompt, completion: Prompt) -> tuple[Prompt, Prompt]:
    """Both plain or both conversations."""
    if isinstance(prompt, list) and isinstance(completion, str):
        return prompt, [{"role": "assistant", "content": completion}]
    if isinstance(prompt, str) and isinstance(completion, list):
        return as_prompt(prompt), completion
    return prompt, completion
