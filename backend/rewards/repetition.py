"""repetition: a punishment for saying the same again (Yeo et al. 2025, arXiv:2502.03373; TRL has it too)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Literal

from backend.rewards._patterns import refuse
from backend.rewards.verdict import Verdict

LABEL = {"en": "Repetition penalty", "ko": "반복 벌점"}
HELP = {
    "en": "max_penalty times the share of n-grams (runs of `ngram_size` words) that stood in the text before: 0 for "
    "a text that never repeats itself, near max_penalty for one that only does. Text without spaces (Korean written "
    "together, Chinese, Japanese) is compared by runs of three times as many characters.",
    "ko": "앞에 나온 n-gram(단어 `ngram_size`개의 연속)이 다시 나온 비율에 max_penalty를 곱합니다. 반복이 없으면 0, "
    "반복뿐이면 max_penalty에 가깝습니다. 띄어쓰기가 없는 글(붙여 쓴 한국어, 중국어, 일본어)은 세 배 길이의 글자 "
    "연속으로 비교합니다.",
}
BOUNDS = (-1.0, 0.0)

LONG_WORD = 12  # characters a word on average from which a text counts as written without spaces
CHARACTERS_A_WORD = 3


def judge(
    completion: str,
    *,
    ngram_size: int = 3,
    max_penalty: float = -1.0,
    unit: Literal["auto", "words", "characters"] = "auto",
) -> Verdict:
    """(1 - distinct n-grams / n-grams) * `max_penalty`, of the whole completion in small letters; 0 where it is too
    short for two n-grams. `unit`: "characters" takes `ngram_size` characters, white space aside; "auto" as in HELP.
    """
    words = unicodedata.normalize("NFC", completion).lower().split()
    letters = sum(map(len, words))
    size = ngram_size
    pieces: list[str] | str = words
    if unit == "characters" or (unit == "auto" and letters > LONG_WORD * len(words)):
        pieces = "".join(words)
        size = ngram_size * CHARACTERS_A_WORD if unit == "auto" else ngram_size
    total = len(pieces) - size + 1
    if total < 2:
        return Verdict(0.0, reason="too short to repeat itself")
    if isinstance(pieces, str):
        distinct = len({pieces[i : i + size] for i in range(total)})
    else:
        distinct = len({tuple(pieces[i : i + size]) for i in range(total)})
    share = 1.0 - distinct / total
    return Verdict(share * max_penalty + 0.0, None, f"{total - distinct} of {total} {size}-grams stood before")


def bounds(args: Mapping[str, Any]) -> tuple[float, float]:
    """The least and the greatest score with these arguments."""
    return float(args.get("max_penalty", -1.0)), 0.0


def check(args: Mapping[str, Any]) -> None:
    """Refused for an n-gram of nothing and for a penalty that would be a prize."""
    if not 1 <= args["ngram_size"] <= 100:
        refuse("repetition.ngram_size", args["ngram_size"], "1 to 100", "1~100")
    if not -1e6 <= args["max_penalty"] < 0:
        wanted = "a number below 0: what a text loses that only repeats itself"
        refuse("repetition.max_penalty", args["max_penalty"], wanted, "0보다 작은 수(반복뿐인 글이 잃는 점수)")
