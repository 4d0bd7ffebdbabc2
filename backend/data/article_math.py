"""The set `article-math`: short sums of the kind that the first reference article trains on (section 57).

The calculations and the five test questions (section 59) are the article's; the wording is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.data import arguments
from backend.data.prompts import as_prompt, row

TRAIN = (
    ("12 × 7", "84"),
    ("25 + 38", "63"),
    ("144 ÷ 12", "12"),
    ("17 × 8", "136"),
    ("93 - 47", "46"),
    ("16 × 9", "144"),
    ("225 ÷ 15", "15"),
    ("128 + 79", "207"),
    ("300 - 128", "172"),
    ("19 × 11", "209"),
    ("256 ÷ 16", "16"),
    ("67 + 89", "156"),
    ("13 × 14", "182"),
    ("500 - 273", "227"),
    ("18 × 12", "216"),
    ("324 ÷ 18", "18"),
    ("45 + 76 - 21", "100"),
    ("8 × 7 + 4", "60"),
    ("(15 + 5) × 3", "60"),
    ("100 ÷ 4 + 17", "42"),
)
TEST = (
    ("23 × 7", "161"),
    ("37 + 58", "95"),
    ("512 ÷ 16", "32"),
    ("(12 + 8) × 6", "120"),
    ("15 × 9 - 20", "115"),
)
STYLES = {
    "ko": "다음 식을 계산해 보세요: {problem}\n계산 과정을 쓰고, 맨 끝에 <answer>숫자</answer> 꼴로 답을 적으세요.",
    "en": "Calculate {problem}.\nWrite your working, and end with the result as <answer>number</answer>.",
}
ARGUMENTS = ("style", "chat", "system_prompt")


def check(args: Mapping[str, Any]) -> None:
    """Refused, in words, for an argument that this set does not take."""
    arguments.known(args, ARGUMENTS)
    arguments.choice(args, "style", "ko", tuple(STYLES))
    arguments.flag(args, "chat", True)
    arguments.text(args, "system_prompt")


def rows(pairs: tuple[tuple[str, str], ...], args: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Dataset rows with the columns prompt, prompt_id and ground_truth, in the article's order."""
    check(args)
    template = STYLES[args.get("style", "ko")]
    chat, system = args.get("chat", True), args.get("system_prompt")
    return [row(as_prompt(template.format(problem=p), chat=chat, system=system), answer) for p, answer in pairs]
