"""format: the completion ends with a well-formed answer (first reference article, sections 41 and 57)."""

from __future__ import annotations

import re
from typing import Literal

from backend.rewards.verdict import Verdict

LABEL = {"en": "Format", "ko": "형식"}
HELP = {
    "en": "1 when the completion ends with <answer>...</answer> in the chosen form, else 0. It never looks at "
    "whether the answer is right.",
    "ko": "응답이 정해진 형식의 <answer>...</answer>로 끝나면 1, 아니면 0입니다. 답이 맞는지는 보지 않습니다.",
}
BOUNDS = (0.0, 1.0)

NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")


def judge(
    completion: str,
    *,
    template: Literal["answer", "think_answer"] = "answer",
    content: Literal["number", "text"] | None = None,
    prefilled: bool = False,
) -> Verdict:
    """`template`: "answer" (anything, then the tag at the end) or "think_answer" (one thought, then one answer).

    `content`: what may stand in the tag; "number" (section 57, the default of "answer") or "text" without angle
    brackets (section 41, the default of "think_answer"). `prefilled`: the chat template has opened the thought.
    """
    text = completion.strip()
    if template == "think_answer":
        whole = "<think>" + text if prefilled and not text.startswith("<think>") else text
        if any(whole.count(tag) != 1 for tag in ("<think>", "</think>", "<answer>", "</answer>")):
            return Verdict(0.0, reason="not one thought followed by one answer")
        thought, _, text = whole.partition("</think>")
        text = text.strip()
        if not thought.startswith("<think>") or not text.startswith("<answer>"):
            return Verdict(0.0, reason="not one thought followed by one answer")
    if not text.endswith("</answer>"):
        return Verdict(0.0, reason="does not end with </answer>")
    _, opened, inside = text.removesuffix("</answer>").rpartition("<answer>")
    if not opened:
        return Verdict(0.0, reason="</answer> without <answer>")
    inside = inside.strip()
    if (content or ("number" if template == "answer" else "text")) == "number":
        fits = NUMBER.fullmatch(inside) is not None
    else:
        fits = bool(inside) and not set(inside) & set("<>")
    return Verdict(1.0, inside) if fits else Verdict(0.0, inside, "the tag does not hold what is asked for")
