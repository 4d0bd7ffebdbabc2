r"""What an answer says: one number or expression, or several, in an order or in none.

`read` makes of a text a `One` (a number with its unit, or an expression) or a `Several`. Nothing is evaluated but exact
numbers; an expression stays LaTeX for the symbolic comparison (_symbolic.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from backend.rewards._numbers import number
from backend.rewards._one import One, one
from backend.rewards._plain import TEXT, plain

LONGEST = 2000
MOST = 40  # parts of an answer


@dataclass(frozen=True, slots=True)
class Several:
    """`kind`: "list" (parts in any order), "set" (in braces) or "tuple" (in an order; `brackets` as they stand)."""

    text: str
    kind: Literal["list", "set", "tuple"]
    items: tuple[Answer, ...]
    brackets: str = ""
    name: str | None = None


Answer = One | Several

SPACED = re.compile(r"(?<![\d.,^_])(\d{1,3})((?:[ '’]\d{3})+)(?!\d|\s*/|,\d)")
GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?!\d|,\d)")
OPENING = {"(": 1, "[": 1, "{": 1}
CLOSING = {")": -1, "]": -1, "}": -1}
WORD_JOINT = (
    r"(?<!hundred)(?<!hundred\s)\s*\x02?\s*\b(?:and|or)\b(?!\s+(?:an?|one)\s+(?:half|quarter|third))\s*\x02?\s*"
)
JOINT = re.compile(
    rf"\s*[,;\n]\s*(?:\x02?\s*\b(?:and|or)\b\s*\x02?)?|{WORD_JOINT}|\s*(?:또는|그리고|혹은|및)\s*"
    r"|(?:(?<=[\d})A-Za-z\x02])|(?<=개|명|원|권|살|번|분|초|일|년|도|장))(?:와|과)\s+"
)
NAME = re.compile(
    r"\s*(?:(?P<symbol>(?:[A-Za-z]|\\(?:alpha|beta|gamma|delta|theta|lambda|mu|phi|omega|sigma|rho|tau|epsilon|Delta|varphi))"
    r"'*(?:_(?:\w|\{\w+\}))?(?:\(\s*[A-Za-z](?:\s*,\s*[A-Za-z])*\s*\))?)|\((?:\s*[A-Za-z]\s*,)+\s*[A-Za-z]\s*\)"
    r"|[A-Za-z](?:_\{?\w\}?)?(?:\s*:\s*[A-Za-z](?:_\{?\w\}?)?)+|[^\W\d_][^\W\d]*(?:\s+[^\W\d]+){0,5}|\x02[^\x02\d=]*\x02)\s*"
)
EQUALS = re.compile(r"(?<![<>!:=])=(?!=)|\\approx(?![A-Za-z])|\\in(?![A-Za-z])")
PLUS_MINUS = re.compile(r"\\pm(?![A-Za-z])\s*")
UNION = re.compile(r"\\cup(?![A-Za-z])")
RELATION = re.compile(r"[<>]|\\(?:le|ge|lt|gt|ne)(?![A-Za-z])")


def read(text: str, gold: bool = False) -> Answer | None:
    """What the text says; None where it is empty or longer than anything that could be an answer.

    `gold`: a letter right after a number is then a variable (5m), where in an answer it may be a unit.
    """
    if len(text) > LONGEST:
        return None
    whole = plain(text)
    if len(whole) > 2 * LONGEST:  # ½ and its like grow
        return None
    whole = _ungrouped(whole)
    pieces = _split(whole, JOINT)
    if len(pieces) > MOST:
        return None
    items: list[Answer] = []
    for piece in pieces:
        item = _item(piece, gold, 0)
        items += item.items if isinstance(item, Several) and item.kind == "list" else [item]
    if not items or len(items) > MOST:
        return None
    return items[0] if len(items) == 1 else Several(whole, "list", tuple(items))


def _ungrouped(text: str) -> str:
    """Without thousands separators; in brackets only where other commas there, with a space, part the elements."""
    text = SPACED.sub(lambda found: found[1] + re.sub(r"\D", "", found[2]), text)
    pieces: list[str] = []
    at, depths, parted = 0, _depths(text), re.search(r",\s", text)
    for found in GROUPED.finditer(text):
        if depths[found.start()] <= 0 or parted:
            pieces += [text[at : found.start()], found[0].replace(",", "")]
            at = found.end()
    return "".join(pieces) + text[at:]


def _depths(text: str) -> list[int]:
    """How many brackets are open before each letter; LaTeX environments count as one."""
    changes = [OPENING.get(letter, CLOSING.get(letter, 0)) for letter in text]
    for found in re.finditer(r"\\(begin|end)(?![A-Za-z])", text):
        changes[found.start()] += 1 if found[1] == "begin" else -1
    depths, depth = [], 0
    for change in changes:
        depths.append(depth + min(change, 0))
        depth += change
    return depths


def _split(text: str, pattern: re.Pattern[str]) -> list[str]:
    """The pieces between matches that stand in no bracket, without empty ones."""
    depths = _depths(text)
    pieces: list[str] = []
    at = 0
    for found in pattern.finditer(text):
        if found[0] and depths[found.start()] <= 0:
            pieces.append(text[at : found.start()])
            at = found.end()
    return [piece.strip() for piece in [*pieces, text[at:]] if piece.replace(TEXT, "").strip()]


def _item(text: str, gold: bool, depth: int) -> Answer:
    """One part of the answer: named, a bracket of several, a plus-or-minus, a ratio, or one thing."""
    text = text.strip()
    name, value = _named(text)
    if value != text:
        found = _item(value, gold, depth + 1) if depth < 4 else one(value, gold)
        if isinstance(found, Several) and found.kind == "list":
            return replace(found, text=text, items=tuple(replace(item, name=name) for item in found.items))
        return replace(found, text=text, name=name)
    if len(PLUS_MINUS.findall(text)) == 1 and r"\mp" not in text:
        both = tuple(one(PLUS_MINUS.sub(sign, text), gold) for sign in ("+", "-"))
        return Several(text, "list", both)
    if depth < 4 and (union := _split(text, UNION)) and len(union) > 1:
        return Several(text, "list", tuple(_item(piece, gold, depth + 1) for piece in union))
    return _bracketed(text, gold, depth) or _ratio(text, gold) or one(text, gold)


def _named(text: str) -> tuple[str | None, str]:
    """The name and the value of "x = 5" or "Area = 5" (its name is None); the text itself where it is no such thing."""
    pieces = _split(text, EQUALS)
    if len(pieces) < 2 or RELATION.search(text):
        return None, text
    for label, value in ((pieces[0], pieces[-1]), (pieces[-1], pieces[0])):
        found = NAME.fullmatch(label)
        if found and not (label is pieces[-1] and (len(pieces) > 2 or NAME.fullmatch(value))):
            return re.sub(r"[\s{}]", "", found["symbol"] or "") or None, value
    values = [number(piece) for piece in pieces]
    if (
        all(value and not value[1].strip() for value in values)
        and len({value[0].value for value in values if value}) == 1
    ):
        return None, pieces[-1]  # 2 + 5 = 7
    return None, text


def _bracketed(text: str, gold: bool, depth: int) -> Answer | None:
    """A set or a tuple, or what stands alone in its brackets; None where the text is no single bracket."""
    found = re.fullmatch(r"(\\\{|[(\[{])(.*?)(\\\}|[)\]}])", text, re.S)
    if not found or depth > 3:
        return None
    opening, inside, closing = found[1].strip(), found[2], found[3]
    if min(_depths(inside + " "), default=0) < 0 or opening.endswith("{") != closing.endswith("}"):
        return None
    pieces = _split(inside, JOINT)
    if opening.endswith("{") and (len(pieces) > 1 or opening == "\\{"):
        items = {repr(item): item for item in (_item(piece, gold, depth + 1) for piece in pieces)}
        return Several(text, "set", tuple(items.values())) if items else one(r"\emptyset", gold)
    if len(pieces) > 1:
        items = tuple(_item(piece, gold, depth + 1) for piece in pieces)
        return Several(text, "tuple", items, opening + closing)
    whole = opening + closing in ("()", "[]", "{}") and pieces and not RELATION.search(inside)
    return _item(pieces[0], gold, depth + 1) if whole else None


def _ratio(text: str, gold: bool) -> Several | None:
    """3:2"""
    pieces = [piece.strip() for piece in text.split(":")]
    if not 1 < len(pieces) < 5 or not all((value := number(piece)) and not value[1].strip() for piece in pieces):
        return None
    return Several(text, "tuple", tuple(one(piece, gold) for piece in pieces), "::")
