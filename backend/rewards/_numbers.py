r"""Numbers as people write them, exactly: 1,234.50, -3/4, 1\frac{1}{2}, 2^{10}, 1.5 \times 10^3, 0.\overline{3}, 5!,
forty-two, 2.5 million, 3만 5천. Nothing is rounded, nothing is evaluated by Python's own eval, and what would be too
large to hold is no number here.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import factorial
from typing import NamedTuple

from backend.rewards import _english, _korean


class Number(NamedTuple):
    """`worked_out` is False for a sum, a difference, a product or a quotient that was left uncalculated."""

    value: Fraction
    worked_out: bool = True


BITS = 13_000  # of a numerator or denominator: below the 4,300 digits that Python writes out
DEPTH = 40
DIGITS = 4000  # of one number, below the limit at which Python refuses to read it
LITERAL = re.compile(
    r"(?P<whole>\d+)?(?:\.(?P<part>\d+)?(?:\\overline\{(?P<over>\d+)\}|\\dot\{?(?P<dot>\d)\}?)?)?"
    r"(?:[eE](?P<exponent>[-+]?\d{1,4})(?![\d.]))?"
)
MIXED = re.compile(r"\s*(?:\\frac\{\s*(\d{1,200})\s*\}\{\s*(\d{1,200})\s*\}|(?<=\s)(\d{1,200})/(\d{1,200}))(?!\d)")
TIMES = re.compile(r"\s*(?:\\times|\\cdot|\*)\s*")
TEN = re.compile(r"\s*(?:\\times|\\cdot|\*)\s*10\s*\^")
OVER = re.compile(r"\s*(?:\\div)\s*")
SLASH = re.compile(r"\s*/\s*")
MORE = re.compile(r"\s+and\s+(?:an?|one)\s+(half|third|quarter)\b", re.I)
SCALE = re.compile(r"[\s-]*(hundred|thousand|million|billion|trillion|dozen)s?\b", re.I)


class _No(Exception):
    """What stands here is no number."""


def number(text: str) -> tuple[Number, str] | None:
    """The longest number that the text begins with, and what follows it; None where it begins with none."""
    sign = re.match(r"\s*(?:([-+])|(?:minus|negative)\s|마이너스|음의)?\s*", text, re.I)
    start = sign.end() if sign else 0
    negative = sign is not None and sign[0].strip() not in ("", "+")
    for words in (_korean.number, _english.number):
        found = words(text[start:])
        if found:
            return Number(-found[0] if negative else found[0]), found[1]
    worded = sign is not None and sign[0].strip() not in ("", "+", "-")
    scanner = _Scanner(text[start:] if worded else text)
    try:
        value = scanner.sum(0) * (-1 if worded else 1)
    except _No:
        return None
    rest = scanner.text[scanner.at :]
    scale = SCALE.match(rest)
    if scale and scanner.worked_out:
        word = scale[1].lower()
        value *= {"hundred": 100, "dozen": 12}.get(word) or _english.SCALES[word]
        rest = rest[scale.end() :]
    more = MORE.match(rest)
    if more and scanner.worked_out:
        value += Fraction(1, _english.PARTS[more[1].lower()])
        rest = rest[more.end() :]
    return Number(value, scanner.worked_out), rest


class _Scanner:
    """Recursive descent over sums, products, powers, fractions; every number it makes is bounded."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.worked_out = text, 0, True

    def take(self, pattern: re.Pattern[str] | str) -> re.Match[str] | None:
        found = re.compile(pattern).match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def sum(self, depth: int) -> Fraction:
        if depth > DEPTH:
            raise _No
        value = self.product(depth)
        while True:
            before, worked_out = self.at, self.worked_out
            sign = self.take(r"\s*([-+])\s*")
            if not sign:
                return value
            try:
                term = self.product(depth)
            except _No:
                self.at, self.worked_out = before, worked_out
                return value
            value, self.worked_out = _bounded(value + term if sign[1] == "+" else value - term), False

    def product(self, depth: int) -> Fraction:
        value = self.signed(depth)
        quotients = 0
        while True:
            before, worked_out = self.at, self.worked_out
            ten = TEN.match(self.text, self.at)
            times, over = self.take(TIMES), None
            over = None if times else self.take(OVER)
            slash = None if times or over else self.take(SLASH)
            if not (times or over or slash):
                return value
            try:
                factor = self.signed(depth)
                if (slash and quotients) or (not times and not factor):
                    raise _No
            except _No:
                self.at, self.worked_out = before, worked_out
                if slash and quotients:
                    raise
                return value
            quotients += bool(slash)
            value = _bounded(value * factor if times else value / factor)
            self.worked_out = worked_out and bool(slash or ten)

    def signed(self, depth: int) -> Fraction:
        sign = self.take(r"\s*([-+])?\s*")
        value = self.power(depth)
        return -value if sign and sign[1] == "-" else value

    def power(self, depth: int) -> Fraction:
        value = self.atom(depth)
        if self.take(r"\s*!(?![=!])"):
            if value.denominator != 1 or not 0 <= value <= 1000:
                raise _No
            value = _bounded(Fraction(factorial(value.numerator)))
        if re.compile(r"\s*\^\s*\{?\s*\\circ").match(self.text, self.at) or not self.take(r"\s*\^\s*"):
            return value
        if self.take(r"\{"):
            exponent = self.sum(depth + 1)
            self.need(r"\s*\}")
        elif self.take(r"\("):
            exponent = self.sum(depth + 1)
            self.need(r"\s*\)")
        else:
            exponent = Fraction(self.need(r"-?\d{1,6}")[0])
        if exponent.denominator != 1 or (value == 0 and exponent <= 0):
            raise _No
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        if bits * abs(exponent) > BITS and abs(value) != 1:
            raise _No
        return value ** (exponent.numerator if abs(value) != 1 else exponent.numerator % 2)

    def atom(self, depth: int) -> Fraction:
        if depth > DEPTH:
            raise _No
        if self.take(r"\\frac\s*\{"):
            upper = self.sum(depth + 1)
            self.need(r"\s*\}\s*\{")
            lower = self.sum(depth + 1)
            self.need(r"\s*\}")
            if not lower:
                raise _No
            return upper / lower
        for opening, closing in ((r"\(\s*", r"\s*\)"), (r"\{\s*", r"\s*\}")):
            if self.take(opening):
                value = self.sum(depth + 1)
                self.need(closing)
                return value
        return self.literal()

    def literal(self) -> Fraction:
        found = self.take(LITERAL)
        if not found or not (found["whole"] or found["part"] or found["over"] or found["dot"]):
            raise _No
        whole, part, over = found["whole"] or "0", found["part"] or "", found["over"] or found["dot"] or ""
        if len(found[0]) > DIGITS:
            raise _No
        value = Fraction(int(whole + part), 10 ** len(part))
        if over:
            value += Fraction(int(over), (10 ** len(over) - 1) * 10 ** len(part))
        if found["exponent"]:
            value *= Fraction(10) ** int(found["exponent"])
        if found[0].isdecimal():
            mixed = self.take(MIXED)
            if mixed:
                upper, lower = (int(piece) for piece in mixed.groups() if piece)
                if not upper < lower:
                    raise _No
                value += Fraction(upper, lower)
        return _bounded(value)

    def need(self, pattern: str) -> re.Match[str]:
        found = self.take(pattern)
        if not found:
            raise _No
        return found


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > BITS:
        raise _No
    return value
