"""Whether an export answers as the trained weights do: token by token, and how far the logits are apart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from backend.errors import StudioError
from backend.text import Text

EPSILON = {"float32": 2.0**-23, "bfloat16": 2.0**-7, "float16": 2.0**-10}
# How many units in the last place of the largest logit two sums of the same terms may be apart: a merged matrix is
# added up in another order, and in 16 bits it is rounded once more.
UNITS = {"float32": 256.0, "bfloat16": 4.0, "float16": 8.0}


class Mismatch(StudioError):
    """The export does not answer as the trained weights: it is removed."""


def read(folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """(answers, logits) that one of the two processes wrote."""
    from safetensors.numpy import load_file

    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    return answers, load_file(folder / "logits.safetensors")


def tolerance(logits: Mapping[str, Any], dtype: str) -> float:
    """The difference of two logits that rounding alone can make in this type."""
    largest = max(
        (float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) for values in logits.values()), default=0
    )
    return UNITS[dtype] * EPSILON[dtype] * max(1.0, largest)


def compare(
    trained: tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]],
    export: tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]],
    *,
    merged: bool,
    dtype: str,
    change: float | None,
) -> dict[str, Any]:
    """{"prompts", "same_tokens": prompts answered with the very same tokens, "tokens", "ties", "max_logit_difference"}.

    Mismatch for any other token. Only where a merged matrix is rounded anew may one differ: at a place where the
    trained weights' own two logits are nearer than rounding (`tolerance`), counted in `ties`. `change`: the largest
    logit difference between base and trained; a merged export that is as far from the trained weights as that has
    lost the training, which in float32 is a Mismatch and in 16 bits is told ("lost": true).
    """
    answers, logits = trained
    others, other_logits = export
    allowed = tolerance(logits, dtype) if merged else 0.0
    same = ties = 0
    for number, (mine, other) in enumerate(zip(answers, others, strict=True)):
        if mine["prompt"] != other["prompt"]:
            raise Mismatch(
                Text(
                    en=f"the export's tokenizer reads prompt {number + 1} as other tokens than the trained one did",
                    ko=f"내보낸 토크나이저가 {number + 1}번 프롬프트를 학습 때와 다른 토큰으로 나눕니다",
                )
            )
        gap = first_difference(mine, other["tokens"])
        if gap is None:
            same += 1
        elif gap <= allowed:
            ties += 1
        else:
            raise Mismatch(_other_answer(number, gap, allowed))
    apart = max((_apart(logits[key], other_logits[key]) for key in logits), default=0.0)
    verified = {
        "prompts": len(answers),
        "same_tokens": same,
        "tokens": sum(len(mine["tokens"]) for mine in answers),
        "ties": ties,
        "max_logit_difference": apart,
    }
    if merged and change is not None and apart >= change > allowed:
        if dtype == "float32":
            raise Mismatch(
                Text(
                    en=f"the merged weights are as far from the trained ones ({apart:.3g} in a logit) as the base is "
                    f"({change:.3g}): the adapter is not in them",
                    ko=f"병합한 가중치와 학습된 가중치의 차이(로짓 {apart:.3g})가 기준 모델과의 차이({change:.3g})"
                    "만큼 큽니다. 어댑터가 병합되지 않았습니다",
                )
            )
        verified["lost"] = True
    return verified


def _apart(mine: Any, other: Any) -> float:
    if mine.shape != other.shape:
        raise Mismatch(
            Text(
                en=f"the export has a vocabulary of another size: {mine.shape[-1]} and {other.shape[-1]}",
                ko=f"내보낸 모델의 어휘 크기가 다릅니다: {mine.shape[-1]}, {other.shape[-1]}",
            )
        )
    both = np.isfinite(mine) & np.isfinite(other)
    return float(np.abs(mine[both] - other[both]).max(initial=0.0))


def first_difference(mine: Mapping[str, Any], other: Sequence[int]) -> float | None:
    """None where the tokens agree; else how much likelier (in logits) the trained weights held their own token at the
    first place that differs: infinite where the other token is not among their likeliest."""
    tokens = mine["tokens"]
    if list(tokens) == list(other):
        return None
    at = next((i for i, (a, b) in enumerate(zip(tokens, other, strict=False)) if a != b), None)
    if at is None:  # one goes on where the other has ended
        return float("inf")
    ids, values = mine["top"][at]
    held = dict(zip(ids, values, strict=True))
    if tokens[at] not in held or other[at] not in held:
        return float("inf")
    return abs(held[tokens[at]] - held[other[at]])


def _other_answer(number: int, gap: float, allowed: float) -> Text:
    far = "beyond the five likeliest" if gap == float("inf") else f"{gap:.3g} below in its logit"
    far_ko = "상위 5개 밖" if gap == float("inf") else f"로짓 차이 {gap:.3g}"
    return Text(
        en=f"the export answers prompt {number + 1} with other tokens than the trained weights (the first other token "
        f"is {far}; rounding makes at most {allowed:.3g}). It was removed.",
        ko=f"내보낸 가중치가 {number + 1}번 프롬프트에 학습된 가중치와 다른 토큰으로 답합니다(처음 달라진 토큰: "
        f"{far_ko}, 반올림 오차 한도 {allowed:.3g}). 내보낸 파일은 지웠습니다.",
    )
