"""One thing that an answer says: a number with its unit, or an expression; and what cannot be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from backend.rewards import _english, _korean
from backend.rewards._numbers import Number, number
from backend.rewards._plain import TEXT, plain
from backend.rewards._words import CHANGES, CONNECTORS, CURRENCY, FUNCTIONS, PERCENTS, Unit, unit


@dataclass(frozen=True, slots=True)
class One:
    """`text` is what it was read from. `number` is None for an expression, whose LaTeX is `latex`. `unit` is empty
    where there is none or only a counter. `name` is the x of "x = 5"."""

    text: str
    latex: str
    number: Number | None = None
    percent: bool = False
    unit: Unit = ()
    name: str | None = None


MONEY = re.compile(r"\s*(?:(?:US|AU|CA|NZ|HK)\s?(?=\$))?([$₩€£¥₹])\s*")
BEFORE = re.compile(
    r"(?:approximately|about|around|roughly|exactly|only|just|a total of|in total|total(?: of|:)?|equals?"
    r"|there (?:are|is)|(?:so |thus |therefore )?(?:the )?(?:final )?answer(?: is)?|it is|is"
    r"|약|대략|총|모두|전부|합계|정확히|(?:최종 )?정?답은?)\s*:?\s+|\\approx\s*|=\s*",
    re.I,
)
BELOW_ZERO = re.compile(r"영하\s*(?=\d)")
PERCENT = re.compile(
    r"\s*\x02?\s*(?:%|percent(?:age)?(?: points?)?\b|per cent\b|pct\b|퍼센트|프로(?!그))\s*\x02?", re.I
)
IN_BRACKETS = re.compile(r"^(?:\{([^{}()\[\]]+)\}|\(([^{}()\[\]]+)\)|\[([^{}()\[\]]+)\])$")
BASE = re.compile(r"\s*(\d{1,60})\s*_\s*\{?\s*(\d{1,2})\s*\}?\s*")
TRAILING_TEXT = re.compile(r"\s*\x02\s*([^\x02]*?)\s*\x02((?:\s*\^\s*\{?\d\}?)?)\s*$")
TRAILING_WORDS = re.compile(
    r"(?<=[\s})])([A-Za-z]{2,30}(?:[\s/^{}\d.]{1,5}[A-Za-z]{1,30}|\s*\^\s*\{?\d\}?){0,6})$|\s*(°\s*[CF]?)$"
)
ANGLE = re.compile(r"(?:sin|cos|tan|cot|sec|csc)(?![a-z]).*°\s*$", re.S)  # here a degree is part of the expression
NOUNS = re.compile(r"(?:of\s+)?[A-Za-z]{2,20}(?:\s+[A-Za-z]{2,20}){0,3}|[가-힣]{1,6}(?:\s+[가-힣]{1,6}){0,2}")
NO_NOUN = re.compile(
    "최소|최대|적어도|많아야|루트|음|마이너스|빼기|제외|로그|사인|탄젠트|" + "|".join(w for w in CHANGES if w > "z")
)
CURRENCY_SIGN = re.compile(r"[$₩€£¥₹]")
COMMAND = re.compile(r"\\(?:begin|end)\s*\{[A-Za-z*]+\}|\\[A-Za-z]+")
LETTERS = re.compile(r"[^\W\d_]{2,}")
PRODUCT = re.compile(r"a?b?c?x?y?z?|mn|pq|rs|uv|st|kn|nk|xt|yx|ba")
MATHEMATICS = re.compile(r"[\d+\-*/^=<>|\\(]")


def one(text: str, gold: bool) -> One:
    """The number with its unit that a text is, or else an expression."""
    body, currency = _front(text, gold)
    based = BASE.fullmatch(body)
    if based and all(int(digit) < int(based[2]) for digit in based[1]):  # 110_2 is 110 in a unit of its own
        return One(text, based[1], Number(Fraction(int(based[1]))), unit=((f"base {based[2]}", 1),))
    found = number(body.lstrip(f"{TEXT} "))
    if found:
        value, rest = found
        belongs = _behind(rest, gold)
        if belongs is not None and not (currency and belongs[1] and belongs[1] != currency):
            percent, measure = belongs
            return One(text, _written(value.value), value, percent, measure or currency)
    latex, percent, measure = body, False, currency
    if shorter := PERCENT.split(latex)[0] if re.search(PERCENT.pattern + r"$", latex, re.I) else "":
        latex, percent = shorter, True
    else:
        tail = None if ANGLE.search(latex) else TRAILING_TEXT.search(latex) or TRAILING_WORDS.search(latex)
        named = unit("".join(piece for piece in tail.groups() if piece)) if tail and tail.start() else None
        if tail and named is not None:
            latex, measure = latex[: tail.start()], named or currency
    if (again := number(latex)) and not again[1].strip():
        latex, percent, measure = body, False, currency  # what is left would be a number, yet it was none: 5%%
    return One(text, latex.replace(TEXT, " ").strip(), None, percent, measure)


def _written(value: Fraction) -> str:
    """For the algebra, when the other side is an expression."""
    return str(value) if value.denominator == 1 else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _front(text: str, gold: bool) -> tuple[str, Unit]:
    """Without what stands before a number and does not change it; the currency where that was one."""
    body = BELOW_ZERO.sub("-", text.replace(f"{TEXT}{TEXT}", ""))
    for _ in range(3):
        before = BEFORE.match(body.lstrip(f"{TEXT} "))
        if before is None or before[0] == body:
            break
        body = body.lstrip(f"{TEXT} ")[before.end() :]
    sign = re.match(r"\s*([-+]?)\s*", body)
    money = MONEY.match(body, sign.end() if sign else 0)
    if money and sign:
        return sign[1] + body[money.end() :], ((CURRENCY[money[1]], 1),)
    noun = None if gold else re.match(r"[가-힣]{1,5}\s+(?=\d)", body)
    if noun and not NO_NOUN.search(noun[0]):
        body = body[noun.end() :]
    return re.sub(r"^제\s?(?=\d)", "", body.strip()), ()


def _behind(rest: str, gold: bool) -> tuple[bool, Unit] | None:
    """Whether it is a percent, and the unit, of what follows a number; None where that is neither."""
    percent = PERCENT.match(rest)
    if percent:
        rest = rest[percent.end() :]
    marked = TEXT in rest or rest[:1].isspace()
    words = IN_BRACKETS.sub(r"\1\2\3", rest.replace(TEXT, " ").strip()).strip()
    if not words or CURRENCY_SIGN.fullmatch(words):
        return percent is not None, ((CURRENCY[words], 1),) if words else ()
    algebra = gold and not marked and len(words) == 1 and words.isascii()
    measure = None if algebra or (len(words) > 60) else unit(words)
    if measure is None and not gold and len(words) < 60 and NOUNS.fullmatch(words) and _says_nothing(words, marked):
        measure = ()
    return None if measure is None else (percent is not None, measure)


def _says_nothing(words: str, marked: bool) -> bool:
    """Whether words after a number are only what is counted: 12 clips, 3개의 사과."""
    parts = words.lower().split()
    if "가" <= words[0] <= "힣":
        return unit(parts[0].removesuffix("의")) is not None and not any(
            word in words for word in CHANGES if word > "z"
        )
    return marked and not any(part in CHANGES or part in FUNCTIONS or part in _english.WORDS for part in parts)


def unknown_word(text: str) -> str | None:
    """The first run of two or more letters that is no function, unit or number word; None where there is none.

    A product of variables such as xy or abc is one only beside other mathematics.
    """
    for run in LETTERS.findall(COMMAND.sub(" ", plain(text))):
        low = run.lower()
        if low in FUNCTIONS or low in _english.WORDS or low in CONNECTORS or unit(run) is not None or low in PERCENTS:
            continue
        if PRODUCT.fullmatch(run) and MATHEMATICS.search(text):
            continue
        if run[-1] in "와과" and unit(run[:-1]) is not None:
            continue
        korean = _korean.number(run)
        if korean and (not korean[1] or unit(korean[1]) is not None):
            continue
        return run
    return None
