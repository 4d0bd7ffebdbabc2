"""Rows in the shape that TRL and the recorder want: a prompt, a stable id, the ground truth, other columns."""

from __future__ import annotations

import hashlib
import json
from typing import Any

Prompt = str | list[dict[str, Any]]


def as_prompt(text: str, *, chat: bool = True, system: str | None = None) -> Prompt:
    """A list of messages for a model with a chat template, else plain text with the system prompt before it."""
    if not chat:
        return f"{system}\n\n{text}" if system else text
    messages = [{"role": "system", "content": system}] if system else []
    return [*messages, {"role": "user", "content": text}]


def prompt_id(prompt: Prompt) -> str:
    """Sixteen hex digits that depend on the prompt alone: the same question has one id in every run."""
    text = prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def row(prompt: Prompt, ground_truth: Any, **others: Any) -> dict[str, Any]:
    """One dataset row; `others` reach the rewards as columns of the same name."""
    return {"prompt": prompt, "prompt_id": prompt_id(prompt), "ground_truth": ground_truth, **others}
