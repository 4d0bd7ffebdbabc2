"""Two texts word by word: a longest common subsequence, in a time that its bounds fix beforehand.

difflib's time depends on the text (a b a b ... against a c a c ... takes minutes at a few thousand words), and a model
that repeats itself writes exactly such texts. So the table of the classic dynamic programme (Wagner and Fischer 1974)
is filled one diagonal at a time with numpy: MOST x MOST cells at most, whatever stands in them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

import numpy as np

Parts = list[tuple[str, str]]  # (mark, text)

MOST = 800  # words of each text that are compared, after what both begin and end with
WORD = re.compile(r"\d+|[^\W\d]+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Difference:
    """`parts` in reading order: "=" in both, "+" only in this text, "-" only in the other, "~" in this text and not
    compared. "=", "+" and "~" together are this text to the letter. `cut`: there was more than is compared.
    `alike`: of the characters of both that were compared, the share that both have, 0..1."""

    parts: Parts
    cut: bool
    alike: float


def words_of(text: str) -> list[str]:
    """Numbers, words, blanks and single signs; together they are the text."""
    return WORD.findall(text)


def compare(text: str, other: str) -> Difference:
    """What `text` has that `other` has not, and the other way round."""
    mine, theirs = words_of(text), words_of(other)
    start = _common(mine, theirs)
    end = _common(mine[start:][::-1], theirs[start:][::-1])
    middle, against = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    cut = len(middle) > MOST or len(against) > MOST
    parts: Parts = [("=", "".join(mine[:start]))]
    parts += _tidy(_steps(middle[:MOST], against[:MOST]))
    if cut:
        parts.append(("~", "".join(middle[MOST:])))
    parts.append(("=", "".join(mine[len(mine) - end :])))
    size = {mark: sum(len(part) for kind, part in parts if kind == mark) for mark in "=+-"}
    whole = 2 * size["="] + size["+"] + size["-"]
    return Difference(_joined(parts), cut, 2 * size["="] / whole if whole else 1.0)


def _common(a: list[str], b: list[str]) -> int:
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return n


def _steps(a: list[str], b: list[str]) -> Parts:
    """The edits from b to a along a longest common subsequence, a word each."""
    n, m = len(a), len(b)
    known: dict[str, int] = {}
    left = np.array([known.setdefault(word, len(known)) for word in a], dtype=np.int32)
    right = np.array([known.setdefault(word, len(known)) for word in b], dtype=np.int32)
    # best[i, j]: the length of a longest common subsequence of a[i:] and b[j:]
    best = np.zeros((n + 1, m + 1), dtype=np.int16)
    for diagonal in range(n + m - 2, -1, -1):
        i = np.arange(max(0, diagonal - m + 1), min(n, diagonal + 1))
        j = diagonal - i
        longer = np.maximum(best[i + 1, j], best[i, j + 1])
        best[i, j] = np.where(left[i] == right[j], best[i + 1, j + 1] + 1, longer)
    parts: Parts = []
    i = j = 0
    while i < n and j < m:
        if left[i] == right[j]:
            parts.append(("=", a[i]))
            i, j = i + 1, j + 1
        elif best[i, j + 1] >= best[i + 1, j]:
            parts.append(("-", b[j]))
            j += 1
        else:
            parts.append(("+", a[i]))
            i += 1
    parts += [("-", word) for word in b[j:]]
    parts += [("+", word) for word in a[i:]]
    return parts


def _tidy(parts: Parts) -> Parts:
    """A blank or a sign that both have between two changes is part of the change: without this the marks of two
    different sentences are confetti."""
    blocks = _joined(parts)
    found: Parts = []
    for at, (mark, part) in enumerate(blocks):
        small = mark == "=" and len(part) <= 2 and not any(c.isalnum() for c in part)
        if small and 0 < at < len(blocks) - 1:
            found += [("-", part), ("+", part)]
        else:
            found.append((mark, part))
    return _joined(_ordered(found))


def _ordered(parts: Parts) -> Parts:
    """Within one change what the other has stands before what this one has; the order within each stays."""
    found: Parts = []
    for same, run in groupby(parts, key=lambda part: part[0] == "="):
        block = list(run)
        found += block if same else [*(p for p in block if p[0] == "-"), *(p for p in block if p[0] == "+")]
    return found


def _joined(parts: Parts) -> Parts:
    """Neighbours of one kind as one; nothing empty."""
    found: Parts = []
    for mark, text in parts:
        if found and found[-1][0] == mark:
            found[-1] = mark, found[-1][1] + text
        elif text:
            found.append((mark, text))
    return found
