"""choice: the option that the answer names is the right one; its text does not count."""

from __future__ import annotations

import re

from backend.rewards.extract import final_answer, no_answer
from backend.rewards.verdict import Verdict

LABEL = {"en": "Multiple choice", "ko": "객관식"}
HELP = {
    "en": "1 when the final answer (the last box or <answer> tag, ####, or a phrase such as 'the answer is') names the "
    "right option, else 0. Options are A to J, 1 to 10 or ① to ⑩, 가 to 차, ㄱ to ㅊ; (B), B., b and \\text{B} are B. "
    "Several options are right only where the ground truth has just these. Rows whose ground truth names no option "
    "are left out.",
    "ko": "최종 답(마지막 \\boxed나 <answer> 태그, ####, '정답은' 같은 표현)이 맞는 선택지를 가리키면 1, "
    "아니면 0입니다. 선택지는 A~J, 1~10 또는 ①~⑩, 가~차, ㄱ~ㅊ이고 (B), B., b, \\text{B}는 모두 B로 봅니다. 여러 개를 "
    "고른 답은 정답이 바로 그 여러 개일 때만 맞습니다. 정답이 선택지를 가리키지 않는 행은 계산에서 뺍니다.",
}
BOUNDS = (0.0, 1.0)

ALPHABETS = ("ABCDEFGHIJ", "①②③④⑤⑥⑦⑧⑨⑩", "가나다라마바사아자차", "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊ")
NAME = r"(?:[A-Ja-j]|10|[1-9]|[①-⑩가나다라마바사아자차ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊ])"
OPTION = rf"[(\[（{{]?\s*(?P<name>{NAME})\s*[)\]）}}]?"
WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|normal)?|math(?:rm|bf|it|sf)|boxed|fbox|mbox|bf|rm)\b\s*|\\[(),;\[\]! ]|[$*_`「」『』]"
    r"|(?<![A-Za-z])['\"“”‘’]|['\"“”‘’](?![A-Za-z])"
)
BEFORE = re.compile(
    r"(?:(?:the )?(?:correct )?(?:option|choice|answer)(?: is)?|선택지|보기|정답은?|답은?)\s*[:：]?\s*", re.I
)
AFTER = re.compile(
    r"(?:번|항)?\s*(?:입니다|이다|이에요|예요|임|is (?:the )?(?:correct|right)(?: (?:answer|option|choice))?)?[\s.。!]*"
)
JOINT = re.compile(r"\s*(?:,|;|/|&|\band\b|\bor\b|와|과|및|또는)\s*(?:and\b|or\b)?\s*")
LABELLED = re.compile(
    rf"[(\[（]\s*(?P<inner>{NAME})\s*[)\]）]|(?<!\w)(?P<bare>{NAME})(?:\s*[.):：](?!\d)|\s+[-–—]\s)|(?P<circled>[①-⑩])"
)
WIDE = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}  # Ｂ is B
LONGEST = 2000


def judge(completion: str, *, ground_truth: object, prefilled: bool = False) -> Verdict:
    """`ground_truth`: an option ("C", "(C)", "C. Paris", 3, "③"), several ("A, C"), or a list, any of which is right.

    `prefilled`: the chat template has opened the thought.
    """
    wanted = _golds(ground_truth)
    if not wanted:
        return Verdict(None, reason=unreadable(ground_truth))
    found = final_answer(completion, prefilled)
    if found is None:
        return Verdict(0.0, reason=no_answer(completion, prefilled))
    named = options(found.text)
    if not named:
        return Verdict(0.0, found.text, "the answer names no option")
    if named in wanted:
        return Verdict(1.0, found.text, "the right option")
    return Verdict(0.0, found.text, "another option" if len(named) == 1 else "several options, and not those asked for")


def unreadable(ground_truth: object) -> str | None:
    """Why this ground truth names no option; None where it does."""
    if _golds(ground_truth):
        return None
    if ground_truth is None or ground_truth == "" or ground_truth == []:
        return "no ground truth to compare with"
    return f"the ground truth names no option: {str(ground_truth)[:80]!r}"


def _golds(ground_truth: object) -> list[frozenset[tuple[int, int]]]:
    golds = ground_truth if isinstance(ground_truth, (list, tuple)) else [ground_truth]
    texts = [str(gold) for gold in golds if isinstance(gold, (str, int)) and not isinstance(gold, bool)]
    return [named for named in map(options, map(_marked, texts)) if named]


def _marked(gold: str) -> str:
    """What a gold marks as its answer (a whole solution with a ####, a tag, a box), else all of it."""
    found = final_answer(gold)
    return found.text if found and found.kind != "phrase" else gold


def options(text: str) -> frozenset[tuple[int, int]]:
    """The options that a short text names, each as (its alphabet, its place); empty where it names none.

    "B", "(b)", "B. some text", "option B", "B입니다" name one; "A, C" and "AC" name two; "A dog" names none.
    """
    plain = " ".join(WRAPPER.sub(" ", text[:LONGEST].translate(WIDE)).replace("{", " ").replace("}", " ").split())
    plain = plain[before.end() :] if (before := BEFORE.match(plain)) else plain
    pieces = JOINT.split(plain)
    alone = [re.fullmatch(OPTION + AFTER.pattern, piece) for piece in pieces]
    if all(alone):
        return frozenset(_place(one["name"]) for one in alone if one)
    if re.fullmatch(r"[A-J]{2,5}", plain) and len(set(plain)) == len(plain):
        return frozenset(map(_place, plain))
    if LABELLED.match(plain):  # an option and its text, which must not name another one in the same way
        names = [one["inner"] or one["bare"] or one["circled"] for one in LABELLED.finditer(plain)]
        alike = [name for name in names if name.islower() == names[0].islower()]
        return frozenset(place for place in map(_place, alike) if place[0] == _place(names[0])[0])
    return frozenset()


def _place(name: str) -> tuple[int, int]:
    if name.isdecimal():
        return 1, int(name) - 1
    upper = name.upper()
    return next((number, letters.index(upper)) for number, letters in enumerate(ALPHABETS) if upper in letters)
