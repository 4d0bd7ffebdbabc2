"""What can be made of a ground truth: its answer, other ways to write it, and answers that are not it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from backend.rewards.verdict import completion_text
from backend.text import Text

# How data sets call the column that a reward compares with.
GOLD_NAMES = (
    "ground_truth", "answer", "solution", "target", "label", "gold", "reference", "expected",
    "correct_answer", "output",
)  # fmt: skip
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
NUMBERED = re.compile(r"^\.?(?:\d+[.:)]|premise\s*\d*\s*:|전제\s*\d*\s*:)\s*", re.IGNORECASE)
OPPOSITES = {"yes": "no", "no": "yes", "true": "false", "false": "true", "예": "아니오", "아니오": "예"}
FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")

Row = Mapping[str, Any]


def answer_of(gold: Any) -> str | None:
    """The answer that a ground truth stands for, as text: the first of a list, what follows `####`, the boxed part."""
    if isinstance(gold, list):
        return next((found for each in gold if (found := answer_of(each)) is not None), None)
    if isinstance(gold, bool) or gold is None or isinstance(gold, dict):
        return None
    text = str(gold).strip()
    if "####" in text:
        text = text.rpartition("####")[2].strip()
    elif "\\boxed{" in text:
        text = _boxed(text)
    if text.startswith(("[{", "{")) and text.endswith(("}]", "}")):
        return None  # an item or tests as JSON: no answer that could be written down
    return text or None


def _boxed(text: str) -> str:
    start = text.rfind("\\boxed{") + len("\\boxed{")
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if not depth:
            return text[start:at]
    return text


def normal(answer: str) -> str | float:
    """What two answers share when they are the same number or the same word."""
    text = answer.strip().rstrip(".").casefold()
    if NUMBER.fullmatch(text) or GROUPED.fullmatch(text):
        return float(text.replace(",", ""))
    return text


def wrong_answer(answers: Sequence[str | None], row: int, gold: Any = None) -> str:
    """Another row's answer; where all rows have the same one, something that it is not."""
    return distractors(answers, row, 1, gold)[0]


def distractors(answers: Sequence[str | None], row: int, count: int, gold: Any = None) -> list[str]:
    """`count` different answers that are none of the row's own."""
    own = answers[row] or ""
    golds = gold if isinstance(gold, list) else [gold]
    taken = {normal(own), *(normal(str(each)) for each in golds if each is not None)}
    found: list[str] = []
    near = [answers[(row + step) % len(answers)] for step in range(1, len(answers))]
    for candidate in [*near, *_made_up(own)]:
        if candidate and normal(candidate) not in taken:
            taken.add(normal(candidate))
            found.append(candidate)
            if len(found) == count:
                break
    return found


def _made_up(own: str) -> list[str]:
    value = normal(own)
    if isinstance(value, float):
        return [f"{value + step:.10g}" for step in (1, -1, 10, 2, 5, 7, 11)]
    if own.casefold() in OPPOSITES:
        first = OPPOSITES[own.casefold()]
        return [first.capitalize() if own[0].isupper() else first, "maybe", "neither", "both", "unknown", "none"]
    if len(own) == 1 and own.upper() in "ABCDEFGHIJ":
        return [letter if own.isupper() else letter.lower() for letter in "ABCDEFGHIJ"]
    return ["987654321", "123456", "0", "1", "none of these", "unknown", "x"]


@dataclass(frozen=True, slots=True)
class Equivalent:
    """Another way to write an answer. `likely`: a model will write it on such rows, so refusing it costs signal."""

    id: str
    text: str
    likely: bool
    label: Text


def equivalents(answer: str) -> list[Equivalent]:
    """Other ways to write the same answer: white space for any, digits and separators for numbers."""
    found = [
        Equivalent("space", f" {answer} ", True, Text(en="white space around it", ko="앞뒤 공백")),
        Equivalent("full_stop", f"{answer}.", False, Text(en="a full stop after it", ko="끝의 마침표")),
    ]
    if len(answer) == 1 and answer.isalpha():
        found.append(
            Equivalent("bracket", f"({answer})", False, Text(en="brackets around the letter", ko="괄호로 감싼 글자"))
        )
    if not NUMBER.fullmatch(answer):
        return found
    whole, point, rest = answer.lstrip("-").partition(".")
    sign = "-" if answer.startswith("-") else ""
    if len(whole) > 3:
        grouped = f"{sign}{int(whole):,}{point}{rest}"
        found.append(Equivalent("separators", grouped, True, Text(en="thousands separators", ko="천 단위 구분 쉼표")))
    if sign:
        found.append(
            Equivalent("minus", f"−{whole}{point}{rest}", True, Text(en="the Unicode minus", ko="유니코드 빼기 기호"))
        )
    if not point:
        found.append(Equivalent("decimals", f"{answer}.0", False, Text(en=".0 after it", ko="끝의 .0")))
    found.append(
        Equivalent("full_width", answer.translate(FULL_WIDTH), False, Text(en="full-width digits", ko="전각 숫자"))
    )
    found.append(
        Equivalent("digits", answer.translate(ARABIC), False, Text(en="Arabic digits", ko="아라비아 문자권 숫자"))
    )
    return found


def filled(rows: Sequence[Row]) -> list[str]:
    """The columns that hold something in some row, in order: a column that is blank throughout is nobody's."""
    found = dict.fromkeys(name for row in rows for name in row)
    return [name for name in found if any(not is_blank(row.get(name)) for row in rows)]


def is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def gold_column(columns: Sequence[str], rows: Sequence[Row], reads_any: bool) -> str | None:
    """The column of the rows that holds what a reward compares with; None where it names none.

    `columns`: those that the reward names. `reads_any`: it may read others too (from **kwargs, under a name that its
    source does not show).
    """
    there = set(filled(rows))
    for name in GOLD_NAMES:
        if name in columns and name in there:
            return name
    return next((name for name in GOLD_NAMES if name in there), None) if reads_any else None


def prompt_text(prompt: Any) -> str:
    """The last message of the user, or the whole of a plain prompt."""
    if isinstance(prompt, str):
        return prompt
    turns = [message for message in prompt if message.get("role") == "user"] or list(prompt)
    return completion_text(turns[-1:])


def first_premise(prompt: str) -> str:
    """The first sentence or line of a task that says something: what a lazy answer would repeat."""
    lines = [line.strip(" \t-*•") for line in re.split(r"\n+|(?<=[^\d\s.][.?!])\s+", prompt)]
    numbered = next((line for line in lines if NUMBERED.match(line)), None)
    chosen = numbered or next((line for line in lines if len(line) > 3), prompt.strip())
    return NUMBERED.sub("", chosen).strip()


def kind_of(values: Sequence[Any]) -> Literal["text", "number", "mixed", "other", "none"]:
    """What the ground truths of a column are."""
    kinds = set()
    for value in values:
        if value is None:
            continue
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        kinds.add("text" if isinstance(value, str) else "number" if numeric else "other")
    if not kinds:
        return "none"
    return kinds.pop() if len(kinds) == 1 else "mixed"
