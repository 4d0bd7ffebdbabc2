"""language: the share of letters that belong to a script, Hangul or any other that Unicode names."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from backend.rewards._patterns import refuse
from backend.rewards.extract import reasoning
from backend.rewards.verdict import Verdict

LABEL = {"en": "Language (script)", "ko": "언어(문자)"}
HELP = {
    "en": "The share of the text's letters that are of one script (hangul, latin, han, kana, cyrillic, or any other "
    "that Unicode names). Digits, punctuation, tags, LaTeX and code blocks count neither way; a text without letters "
    "is left out. min_share: 1 from that share on, else 0. part: the answer after the reasoning, or the whole "
    "completion.",
    "ko": "글자 가운데 한 문자(hangul, latin, han, kana, cyrillic 등 유니코드가 이름 붙인 문자)가 차지하는 "
    "비율입니다. 숫자, 문장 부호, 태그, LaTeX, 코드 블록은 세지 않으며, 글자가 없으면 계산에서 뺍니다. min_share: 그 "
    "비율 이상이면 1, 아니면 0. part: 추론 뒤의 답만 또는 응답 전체.",
}
BOUNDS = (0.0, 1.0)

NAMES = {"han": ("CJK",), "kana": ("HIRAGANA", "KATAKANA"), "japanese": ("HIRAGANA", "KATAKANA", "CJK")}
TAG = re.compile(r"</?[A-Za-z_][A-Za-z0-9_]{0,30}>")
COMMAND = re.compile(r"\\[A-Za-z]+")
LATEX = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"))
# Pandoc's rule, by which "$5 and $6" is no formula.
INLINE = re.compile(r"\$(?![\s$])[^$\n]*(?<!\s)\$(?!\d)")
CODE = (("```", "```"), ("`", "`"))


def judge(
    completion: str,
    *,
    script: str = "hangul",
    min_share: float | None = None,
    part: Literal["answer", "whole"] = "answer",
    ignore_code: bool = True,
    prefilled: bool = False,
) -> Verdict:
    """`script`: a name of NAMES or the first word of Unicode's names of its letters. `prefilled`: the chat template has
    opened the thought. Letters are Unicode's category L after compatibility composition (NFKC).
    """
    text = completion if part == "whole" else reasoning(completion, prefilled).rest
    if text is None:
        return Verdict(0.0, reason="the reasoning never ends")
    text = _without(text, (*(CODE if ignore_code else ()), *LATEX))
    for pattern in (INLINE, TAG, COMMAND):
        text = pattern.sub(" ", text)
    wanted = _prefixes(script)
    letters = inside = 0
    for letter, count in Counter(unicodedata.normalize("NFKC", text)).items():
        if unicodedata.category(letter)[0] == "L":
            letters += count
            inside += count * unicodedata.name(letter, "").startswith(wanted)
    if not letters:
        return Verdict(None, reason="no letters to judge")
    share = inside / letters
    score = share if min_share is None else float(share >= min_share)
    return Verdict(score, None, f"{inside} of {letters} letters are {script}")


def _without(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """`text` less all that stands between two marks, the first pair first. What is never closed stays."""
    for opening, closing in pairs:
        kept: list[str] = []
        start = 0
        while (opened := text.find(opening, start)) >= 0:
            closed = text.find(closing, opened + len(opening))
            if closed < 0:
                break
            kept += (text[start:opened], " ")
            start = closed + len(closing)
        text = "".join((*kept, text[start:]))
    return text


def _prefixes(script: str) -> tuple[str, ...]:
    name = script.strip().lower()
    return tuple(f"{word} " for word in NAMES.get(name, (name.upper(),)))


@functools.cache
def _known(script: str) -> bool:
    wanted = _prefixes(script)
    return any(
        unicodedata.name(letter, "").startswith(wanted)
        for letter in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(letter)[0] == "L"
    )


def check(args: Mapping[str, Any]) -> None:
    """Refused for a script that no letter belongs to, and for a share that is none."""
    if not args["script"].strip() or not _known(args["script"]):
        some = "hangul, latin, han, kana, japanese, cyrillic, greek, arabic, hebrew, thai, devanagari"
        refuse("language.script", args["script"], f"a script that Unicode names, such as {some}", some)
    if args["min_share"] is not None and not 0 < args["min_share"] <= 1:
        refuse("language.min_share", args["min_share"], "above 0 and at most 1", "0보다 크고 1 이하")
