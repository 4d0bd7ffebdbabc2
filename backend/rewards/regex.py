"""regex: the answer matches a regular expression of the user's, within a time limit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from backend.rewards._patterns import FLAGS, check_pattern, flags_of, refuse
from backend.rewards.extract import reasoning
from backend.rewards.verdict import Verdict

LABEL = {"en": "Regular expression", "ko": "정규식"}
HELP = {
    "en": "1 when the answer, without the reasoning before it and the white space around it, matches the pattern "
    "from its first to its last character, else 0 (with or without an <answer> tag around it). where=search: the "
    "pattern may match anywhere in it. part=whole: the whole completion with its reasoning. A pattern that takes "
    "longer than its limit scores 0.",
    "ko": "추론 부분과 앞뒤 공백을 뺀 답 전체가 정규식과 일치하면 1, 아니면 0입니다(<answer> 태그로 감싼 답은 태그를 "
    "빼고도 봅니다). where=search: 답의 일부만 일치해도 됩니다. part=whole: 추론을 포함한 응답 전체를 봅니다. 제한 "
    "시간을 넘긴 매칭은 0입니다.",
}
BOUNDS = (0.0, 1.0)
ISOLATED = True


def judge(
    completion: str,
    *,
    pattern: str = "",
    where: Literal["full", "search"] = "full",
    flags: str = "",
    part: Literal["answer", "whole"] = "answer",
    prefilled: bool = False,
    limit_s: float = 5.0,
) -> Verdict:
    """`flags`: letters of (?imsxa). `prefilled`: the chat template has opened the thought."""
    text = completion if part == "whole" else reasoning(completion, prefilled).rest
    if text is None:
        return Verdict(0.0, reason="the reasoning never ends")
    text = text.strip()
    compiled = re.compile(pattern, flags_of(flags))
    found = compiled.fullmatch(text) if where == "full" else compiled.search(text)
    if found is None and part == "answer" and text.startswith("<answer>") and text.endswith("</answer>"):
        text = text.removeprefix("<answer>").removesuffix("</answer>").strip()
        found = compiled.fullmatch(text) if where == "full" else compiled.search(text)
    if found is None:
        return Verdict(0.0, text, "does not match the pattern")
    return Verdict(1.0, found[0], "matches the pattern")


def check(args: Mapping[str, Any]) -> None:
    """Refused for a pattern that is missing or does not compile, and for flags that there are not."""
    if not set(args["flags"]) <= set(FLAGS):
        letters = ", ".join(FLAGS)
        refuse("regex.flags", args["flags"], f"letters of {letters}", letters)
    check_pattern("regex", args["pattern"], args["flags"], wanted=True)
