"""Numbers in English words."""

from __future__ import annotations

import re
from fractions import Fraction


def _from(first: int, words: str) -> dict[str, int]:
    return {word: first + place for place, word in enumerate(words.split())}


ONES = _from(0, "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen")
ONES |= _from(17, "seventeen eighteen nineteen")
TENS = {word: 10 * ten for word, ten in _from(2, "twenty thirty forty fifty sixty seventy eighty ninety").items()}
PARTS = _from(3, "third fourth fifth sixth seventh eighth ninth tenth") | {"half": 2, "halve": 2, "quarter": 4}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
WORD = re.compile(r"[\s-]*([A-Za-z]+)")
PART = re.compile(rf"[\s-]+(?:and\s+(?P<more>an?|one)[\s-]+)?(?P<part>{'|'.join(PARTS)})(?P<many>s)?\b", re.I)
WORDS = frozenset(
    (*ONES, *TENS, *SCALES, *PARTS, *(f"{part}s" for part in PARTS), "hundred", "dozen", "minus", "negative")
)


def number(text: str) -> tuple[Fraction, str] | None:
    """The number in English words that the text begins with, and what follows it; None where it begins with none.

    forty-two, one hundred and five, three million two thousand, two thirds, one and a half, a dozen."""
    alone = re.match(r"(?:an?\s+)?(dozen|half|hundred|thousand|million|billion)\b", text, re.I)
    if alone:
        word = alone[1].lower()
        value = {"dozen": Fraction(12), "half": Fraction(1, 2), "hundred": Fraction(100)}.get(word)
        return value or Fraction(SCALES[word]), text[alone.end() :]
    total, section, at, last = 0, 0, 0, 10**15
    while word := WORD.match(text, at):
        name = word[1].lower()
        if name == "and" and at and section % 100 == 0:
            after = WORD.match(text, word.end())
            if after is None or after[1].lower() not in {*ONES, *TENS}:
                break
        elif name in ONES and (
            section % 100 == 0 or (0 < ONES[name] < 10 and section % 100 >= 20 and not section % 10)
        ):
            section += ONES[name]
        elif name in TENS and section % 100 == 0:
            section += TENS[name]
        elif name == "hundred" and 0 < section < 100:
            section *= 100
        elif name in SCALES and section and SCALES[name] < last:
            total, section, last = total + section * SCALES[name], 0, SCALES[name]
        elif name == "dozen" and total + section:
            return Fraction((total + section) * 12), text[word.end() :]
        else:
            break
        at = word.end()
    if not at:
        return None
    value, part = Fraction(total + section), PART.match(text, at)
    if part and (part["more"] or part["many"] or value == 1):
        share = Fraction(1, PARTS[part["part"].lower()])
        return (value + share if part["more"] else value * share), text[part.end() :]
    return value, text[at:]
