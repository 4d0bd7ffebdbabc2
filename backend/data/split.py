"""Holding rows out of a file: by content, so that a question that stands twice is never on both sides."""

from __future__ import annotations

import random
from typing import Any

from backend.errors import Refused
from backend.text import Text


def hold_out(rows: list[dict[str, Any]], size: int, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(train, held out): `size` different questions, drawn by `seed`, held out; both sides keep the file's order.

    Of a held-out question that stands several times only the first row is kept. Refused when nothing would be
    left to train on.
    """
    ids = list(dict.fromkeys(row["prompt_id"] for row in rows))
    if size >= len(ids):
        raise Refused(
            Text(
                en=f"eval_size: {size} held-out rows of {len(ids)} different prompts leave none to train on; "
                f"at most {len(ids) - 1}",
                ko=f"eval_size: 서로 다른 프롬프트 {len(ids)}개 중 {size}개를 떼면 학습할 행이 없습니다. "
                f"최대 {len(ids) - 1}",
            )
        )
    held = set(random.Random(f"hold out {seed}").sample(ids, size))
    train = [row for row in rows if row["prompt_id"] not in held]
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["prompt_id"] in held:
            first.setdefault(row["prompt_id"], row)
    return train, list(first.values())
