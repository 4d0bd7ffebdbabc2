"""Numbers in Korean words: 3만 5천, 1억 2,000만, 2.5만, 삼만 오천, 열두, 4분의 3."""

from __future__ import annotations

import re
from fractions import Fraction

DIGITS = {word: value for value, word in enumerate("영일이삼사오육칠팔구")} | {"공": 0, "령": 0, "륙": 6}
SMALL = {"십": 10, "백": 100, "천": 1000}
LARGE = {"만": 10**4, "억": 10**8, "조": 10**12, "경": 10**16}
NATIVE_TENS = {"열": 10, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90}
NATIVE_ONES = {"하나": 1, "둘": 2, "셋": 3, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9} | {
    "한": 1,
    "두": 2,
    "세": 3,
    "네": 4,
    "첫": 1,
}
NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3}){1,20}|\d{1,60})(?!\d)(?:\.\d{1,60}(?!\d))?")
NATIVE = re.compile(rf"(?P<twenty>스무)|(?P<tens>{'|'.join(NATIVE_TENS)})?(?P<ones>{'|'.join(NATIVE_ONES)})?")
COUNTED = re.compile(
    r"\s*(?:번째|째|개|명|마리|권|대|살|번|장|시|시간|병|잔|가지|그루|송이|자루|채|벌|쌍|사람|달|배|곳|판|일|월|년|분|초|원)"
)
FRACTION = re.compile(r"\s*분의\s*")


def number(text: str) -> tuple[Fraction, str] | None:
    """The number in Korean words that the text begins with, and what follows it; None where it begins with none.

    Digits alone are none (there is nothing Korean in them), and a lone digit word (일, 이) is one only where nothing
    follows: it is a word of many meanings.
    """
    first = _counted(text) or _native(text)
    bare = NUMBER.match(text)
    if first is None and bare:
        first = Fraction(bare[0].replace(",", "")), text[bare.end() :]
        parts = FRACTION.match(first[1])
        if parts is None:
            return None
    if first is None:
        return None
    parts = FRACTION.match(first[1])
    if parts and first[0]:
        rest = first[1][parts.end() :]
        upper = _counted(rest)
        plain = NUMBER.match(rest)
        if upper is None and plain:
            upper = Fraction(plain[0].replace(",", "")), rest[plain.end() :]
        return (upper[0] / first[0], upper[1]) if upper else None
    return first


def _counted(text: str) -> tuple[Fraction, str] | None:
    """Sino-Korean: digits or digit words with 십, 백, 천 and 만, 억, 조."""
    total, section, last = Fraction(0), Fraction(0), Fraction(10**20)
    current: Fraction | None = None
    small, at, words, places = Fraction(10**4), 0, 0, 0  # words: digit words seen; places: 십 ... 조 seen
    while True:
        start = at
        while start < len(text) and text[start] == " ":
            start += 1
        letter = text[start : start + 1]
        digits = NUMBER.match(text, start)
        if digits and current is None and (places or at == 0):
            current, at = Fraction(digits[0].replace(",", "")), digits.end()
        elif letter in DIGITS and letter and current is None and not (places == 0 and words):
            if text[at - 1 : at].isdigit():
                break
            current, at, words = Fraction(DIGITS[letter]), start + 1, words + 1
        elif letter in SMALL and letter and SMALL[letter] < small:
            section += (1 if current is None else current) * SMALL[letter]
            current, small, at, places = None, Fraction(SMALL[letter]), start + 1, places + 1
        elif letter in LARGE and letter and LARGE[letter] < last:
            section += current or 0
            total += (section if section or current is not None else 1) * LARGE[letter]
            section, current, small = Fraction(0), None, Fraction(10**4)
            last, at, places = Fraction(LARGE[letter]), start + 1, places + 1
        else:
            break
    rest = text[at:]
    alone = not rest.strip() or FRACTION.match(rest) or (rest[0] == " " and COUNTED.match(rest))
    if places or (words and alone):
        return total + section + (current or 0), rest
    return None


def _native(text: str) -> tuple[Fraction, str] | None:
    """하나, 열두, 스무: followed by nothing or by a counter."""
    found = NATIVE.match(text)
    if not found or not found[0]:
        return None
    value = 20 if found["twenty"] else NATIVE_TENS.get(found["tens"], 0) + NATIVE_ONES.get(found["ones"], 0)
    rest = text[found.end() :]
    return (Fraction(value), rest) if not rest.strip() or COUNTED.match(rest) else None
