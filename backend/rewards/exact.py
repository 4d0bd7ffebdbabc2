"""exact: the answer is the ground truth as written; only white space is forgiven."""

from __future__ import annotations

import unicodedata
from typing import Literal

from backend.rewards.extract import reasoning
from backend.rewards.verdict import Verdict, last_tag

LABEL = {"en": "Exact match", "ko": "정확히 일치"}
HELP = {
    "en": "1 when the text of the last <answer> tag after the reasoning is the ground truth as written, else 0. Only "
    "white space is forgiven: case, full stops and the way a number is written count. With where=whole, all that "
    "follows the reasoning is the answer. Rows without a ground truth, or with true or false for one, are left out.",
    "ko": "추론이 끝난 뒤 마지막 <answer> 태그의 내용이 정답과 글자 그대로 같으면 1, 아니면 0입니다. 공백 차이만 "
    "봐주고 대소문자, 마침표, 숫자 표기는 구분합니다. where=whole이면 추론 뒤의 글 전체를 답으로 봅니다. 정답이 없거나 "
    "true/false인 행은 계산에서 뺍니다.",
}
BOUNDS = (0.0, 1.0)


def judge(
    completion: str,
    *,
    ground_truth: object,
    where: Literal["tag", "whole"] = "tag",
    prefilled: bool = False,
) -> Verdict:
    """`ground_truth`: a string or number, compared as written; a list means any of them; None or a bool: no score.

    `where`: what the answer is, the last `<answer>` (in lower case) or all that follows the reasoning. `prefilled`:
    the chat template has opened the thought.
    """
    wanted = as_written(ground_truth)
    if not wanted:
        return Verdict(None, reason=unreadable(ground_truth))
    shown = reasoning(completion, prefilled).rest
    if shown is None:
        return Verdict(0.0, reason="the reasoning never ends, so there is no answer")
    answer = last_tag(shown) if where == "tag" else shown.strip()
    if answer is None:
        return Verdict(0.0, reason="no <answer> tag")
    if where == "tag" and shown.rfind("<answer>") > shown.rfind("</answer>"):
        return Verdict(0.0, reason="the last answer tag is never closed, so there is no answer")
    if one_spaced(answer) in wanted:
        return Verdict(1.0, answer, "the ground truth as written")
    return Verdict(0.0, answer, "not the ground truth as written" if answer else "the answer is empty")


def unreadable(ground_truth: object) -> str | None:
    """Why nothing can be compared with this ground truth; None where something can."""
    if as_written(ground_truth):
        return None
    if isinstance(ground_truth, bool):
        return "the ground truth is a true or false, which has no one way to be written"
    return "no ground truth to compare with"


def as_written(ground_truth: object) -> set[str]:
    """The texts that would be right; empty where there is none."""
    golds = ground_truth if isinstance(ground_truth, (list, tuple)) else [ground_truth]
    texts = [one_spaced(str(gold)) for gold in golds if isinstance(gold, (str, int, float)) and type(gold) is not bool]
    return {text for text in texts if text}


def one_spaced(text: str) -> str:
    """The text with one space for any white space, none outside; composed letters (a Mac writes Hangul in pieces)."""
    return unicodedata.normalize("NFC", " ".join(text.split()))
