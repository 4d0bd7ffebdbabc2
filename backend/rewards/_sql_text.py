"""What can be told of an SQL text without running it: its first word, and whether its outermost query is ordered."""

from __future__ import annotations

import re
from collections.abc import Iterator

TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<quoted>'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)|`[^`]*(?:`|\Z)|\[[^\]]*(?:\]|\Z))
    |(?P<word>[A-Za-z_\x80-\U0010ffff][\w$]*)
    |(?P<other>.)
    """,
    re.X | re.S,
)


def tokens(sql: str) -> Iterator[tuple[int, str]]:
    """(depth of parentheses, token) without white space and comments; words in capitals, quoted texts as they are.

    A doubled quote ends one token and begins the next: all the same here. What is never closed reaches to the end.
    """
    depth = 0
    for match in TOKEN.finditer(sql):
        if match.lastgroup == "space":
            continue
        text = match[0]
        if text == ")":
            depth -= 1
        yield depth, text.upper() if match.lastgroup == "word" else text
        if text == "(":
            depth += 1


def reads(sql: str) -> bool:
    """Whether it begins as a query that only reads: SELECT or WITH (WITH ... DELETE is refused when it runs)."""
    return next((text in ("SELECT", "WITH") for _, text in tokens(sql)), False)


def ordered(sql: str) -> bool:
    """Whether the outermost query has ORDER BY, so that the order of its rows is part of its answer."""
    before = ""
    for depth, text in tokens(sql):
        if depth == 0 and text == "BY" and before == "ORDER":
            return True
        before = text if depth == 0 else ""
    return False
