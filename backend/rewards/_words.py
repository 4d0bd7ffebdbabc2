"""The words that may stand beside a number in an answer: units of measure, counters, functions (in _words.txt).

A measure says what the number means: 5 cm is not 5 m. A counter (개, apples) says nothing: 12개 is 12.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path


def _read() -> dict[str, list[list[str]]]:
    """The lines of each part of the file, each as its words."""
    parts: dict[str, list[list[str]]] = {}
    lines: list[list[str]] = []
    for line in Path(__file__).with_name("_words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            lines = parts[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            lines.append(line.split())
    return parts


_parts = _read()
MEASURES = {word: words[0] for words in _parts["measures"] for word in words}
COUNTERS = frozenset(word for words in _parts["counters"] for word in words)
CHANGES = frozenset(word for words in _parts["changes"] for word in words)
PERCENTS = frozenset(word for words in _parts["percents"] for word in words)
FUNCTIONS = frozenset(word for words in _parts["functions"] for word in words)
CURRENCY = {"$": "usd", "₩": "krw", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr"}
POWERS = {"square": 2, "sq": 2, "제곱": 2, "cubic": 3, "cu": 3, "세제곱": 3}
FILLERS = frozenset(("of", "the", "a", "an"))
CONNECTORS = frozenset(("and", "or", "또는", "그리고", "혹은", "및", "와", "과"))

_WORD = re.compile(r"[A-Za-z]+|[가-힣]+|[℃℉]|°\s*[CF]?")
_RATIO = re.compile(r"\s*(?:/|\bper\b)\s*")
_POWER = re.compile(r"\s*\^\s*\{?\s*(-?[1-3])\s*\}?(?!\d)|([23])(?!\d)")

Unit = tuple[tuple[str, int], ...]
"""(measure, power) pairs in order; empty for a counter."""


@functools.lru_cache(4096)
def unit(phrase: str) -> Unit | None:
    """The unit that a whole phrase is ("cm^2", "square meters", "km/h", "개"); None where it is none."""
    powers: dict[str, int] = {}
    counters = 0
    if not phrase.strip():
        return None
    for number, piece in enumerate(_RATIO.split(phrase.strip())):
        found = _product(piece) if piece or number else []  # "per hour"
        if found is None:
            return None
        for name, power in found:
            if name:
                powers[name] = powers.get(name, 0) + (-power if number else power)
            else:
                counters += 1
    if counters > 2 or len(powers) > 3:
        return None
    if powers == {"km": 1, "h": -1}:
        powers = {"kmh": 1}
    if powers == {"mi": 1, "h": -1}:
        powers = {"mph": 1}
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _product(piece: str) -> list[tuple[str, int]] | None:
    """The measures of a phrase without a stroke, each with its power; "" for a counter; None where it is none."""
    found: list[tuple[str, int]] = []
    power, rest = 1, piece.strip()
    while rest:
        word = _WORD.match(rest)
        if word is None:
            return None
        rest = rest[word.end() :]
        text = word[0].replace(" ", "")
        if text in FILLERS and rest.strip():
            pass
        elif text in POWERS and rest.strip():
            power = POWERS[text]
        elif name := _measure(text):
            raised = _POWER.match(rest)
            rest = rest[raised.end() :] if raised else rest
            found.append((name[0], int(raised[1] or raised[2]) if raised else power * name[1]))
            power = 1
        elif text in ("squared", "cubed") and found and found[-1][0]:
            found[-1] = (found[-1][0], 2 if text == "squared" else 3)
        elif text in ("Celsius", "celsius", "Fahrenheit") and found and found[-1][0] == "degree":
            found[-1] = ("fahrenheit" if text == "Fahrenheit" else "degree", 1)
        elif _is_counter(text):
            found.append(("", 1))
            power = 1
        else:
            return None
        rest = rest.strip(" .\N{MIDDLE DOT}")
    return found or None


def _measure(text: str) -> tuple[str, int] | None:
    """The measure and the power that one word says."""
    if text in ("°", "°C", "°F"):
        return ("fahrenheit" if text == "°F" else "degree"), 1
    for form in (text, text.lower() if len(text) > 1 else text):
        if form in MEASURES:
            return MEASURES[form], 1
    for power, name in ((3, "세제곱"), (2, "제곱")):
        if text.startswith(name) and text[len(name) :] in MEASURES:
            return MEASURES[text[len(name) :]], power
    return None


def _is_counter(text: str) -> bool:
    return text in COUNTERS or text.lower() in COUNTERS or (text.endswith("째") and text[:-1] in COUNTERS)
