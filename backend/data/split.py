"""Holding rows out of a set: by content, so that a question that stands twice is never on both sides."""

from __future__ import annotations

import hashlib
import random
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from backend.data.messages import said
from backend.errors import Refused
from backend.text import Text


def question(prompt: Any) -> str:
    """What is asked, for comparing: NFC, white space collapsed, without system messages and roles.

    Without system messages, because a question that was trained on under one of them tells the answer under any other:
    the rows held out must not have it. Whether rows are the same is another matter; see `key_with_system`.
    """
    if isinstance(prompt, str):
        text = prompt
    else:
        text = "\n".join(said(message["content"]) for message in prompt if message["role"] != "system")
    return " ".join(unicodedata.normalize("NFC", text).split())


def key(prompt: Any) -> int:
    """64 bits of the question's hash."""
    return _hash(question(prompt))


def key_with_system(prompt: Any, known: int) -> int:
    """`known`, which is the prompt's `key`, or where it has system messages another number for each text of these."""
    if isinstance(prompt, str):
        return known
    system = [said(message["content"]) for message in prompt if message["role"] == "system"]
    return (
        _hash(f"{known} {' '.join(' '.join(unicodedata.normalize('NFC', text).split()) for text in system)}")
        if system
        else known
    )


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def draw(keys: Sequence[int], size: int, seed: int) -> set[int]:
    """`size` different questions of `keys`, drawn by `seed`. Refused when nothing would be left to train on."""
    different = list(dict.fromkeys(keys))
    if size >= len(different):
        raise Refused(
            Text(
                en=f"eval_size: {size} held-out rows of {len(different)} different prompts leave none to train on; "
                f"at most {len(different) - 1}",
                ko=f"eval_size: 서로 다른 프롬프트 {len(different)}개 중 {size}개를 떼면 학습할 행이 없습니다. "
                f"최대 {len(different) - 1}",
            )
        )
    return set(random.Random(f"hold out {seed}").sample(different, size))


def training_rows(keys: Sequence[int], size: int, seed: int) -> int:
    """How many of the rows with these keys `hold_out` leaves for training."""
    held = draw(keys, size, seed)
    return sum(each not in held for each in keys)


def hold_out(rows: list[dict[str, Any]], size: int, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(train, held out): `size` different questions, drawn by `seed`, held out; both sides keep the file's order.

    Of a held-out question that stands several times only the first row is kept. Refused when nothing would be
    left to train on.
    """
    keys = [key(row["prompt"]) for row in rows]
    held = draw(keys, size, seed)
    train = [row for row, each in zip(rows, keys, strict=True) if each not in held]
    first: dict[int, dict[str, Any]] = {}
    for row, each in zip(rows, keys, strict=True):
        if each in held:
            first.setdefault(each, row)
    return train, list(first.values())


def without(rows: list[dict[str, Any]], held_out: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows whose question is not one of the held-out ones."""
    taken: Collection[int] = {key(row["prompt"]) for row in held_out}
    return [row for row in rows if key(row["prompt"]) not in taken] if taken else rows
