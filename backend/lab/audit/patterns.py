"""Patterns that can take for ever: found in arguments and sources, and tried in a process that can be killed.

Backtracking goes wild where a repeated part can match the same text in several ways: a repeat inside a repeat, or
branches that overlap. Only such patterns are tried, so that a usual one costs nothing here.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from backend.text import Text

ATTACK_LENGTHS = (32, 4000)  # repeats: what is exponential shows at the first, what is a high power at the second
LIMIT_S = 1.0
MOST_ATTACKS = 12
UNBOUNDED = 16  # a repeat that may go this often counts as one without an end
CALLS = {"compile", "match", "search", "findall", "finditer", "fullmatch", "sub", "subn", "split"}
ENDS = ("\x00", "!")
HOLE = "x"


def in_args(args: Mapping[str, Any]) -> list[str]:
    """The patterns among the arguments of a built-in reward."""
    found: list[str] = []
    for name, value in args.items():
        if "pattern" in name:
            found += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    return found


def in_source(source: str) -> list[str]:
    """The patterns that a source gives to `re`, as far as they stand there as texts."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    named = {
        target.id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and called(node.func) in CALLS:
            text = _text(node.args[0], named)
            if text:
                found.append(text)
    return list(dict.fromkeys(found))


def _text(node: ast.expr, named: Mapping[str, str]) -> str:
    """The text that an expression makes, with HOLE for what only a call would tell; "" where nothing is known."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return named.get(name, "")
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [_text(left, named), _text(right, named)]
            return "".join(part or HOLE for part in parts) if any(parts) else ""
        case ast.JoinedStr(values=values):
            pieces = [
                _text(each.value, named) if isinstance(each, ast.FormattedValue) else _text(each, named)
                for each in values
            ]
            return "".join(piece or HOLE for piece in pieces) if any(pieces) else ""
        case _:
            return ""


def called(function: ast.expr) -> str:
    """The name by which something is called, without what stands before its dot."""
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def attacks(pattern: str) -> list[str]:
    """Texts on which the pattern may backtrack without end; none for one that has no nested repeat."""
    tree = _parsed(pattern)
    if tree is None:
        return []
    found: list[str] = []
    for before, body in _repeats(tree, ""):
        for piece in dict.fromkeys(_samples(body)):
            if piece:
                found += [before + piece * count + end for count in ATTACK_LENGTHS for end in ENDS]
    return found[:MOST_ATTACKS]


def slow_text(pattern: str) -> str | None:
    """The first attack that takes longer than LIMIT_S, found in a process that is then killed; None: none does."""
    tried = attacks(pattern)
    if not tried:
        return None
    from backend.killable import shared

    for text in tried:
        result = shared().map("backend.lab.audit.patterns:attempt", [{"pattern": pattern, "text": text}], LIMIT_S)[0]
        if result.outcome == "timeout":
            return text
    return None


def attempt(pattern: str, text: str) -> bool:
    """Runs in the killable pool."""
    compiled = re.compile(pattern, re.DOTALL)
    return bool(compiled.search(text) or compiled.fullmatch(text))


def sample(pattern: str) -> str | None:
    """A text that the pattern matches in full; None where none was found. Nothing with nested repeats is tried out."""
    tree = _parsed(pattern)
    if tree is None:
        return None
    for text in (_sample(tree, 0), _sample(tree, 1)):
        if attacks(pattern) or re.fullmatch(pattern, text):
            return text
    return None


def around_group(pattern: str) -> tuple[str, str] | None:
    """Texts for what stands before and after the last group that captures; None for a pattern without one."""
    tree = _parsed(pattern)
    items = list(tree) if tree is not None else []
    groups = [at for at, (op, value) in enumerate(items) if str(op) == "SUBPATTERN" and value[0] is not None]
    if not groups:
        return None
    return _sample(items[: groups[-1]], 0), _sample(items[groups[-1] + 1 :], 0)


def _parsed(pattern: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from re import _parser as parser  # type: ignore[attr-defined]

            return parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return None


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Unbounded repeats whose body can match in several ways, each with a text for what stands before it."""
    for op, value in tree:
        kind = str(op)
        if kind in ("MAX_REPEAT", "MIN_REPEAT"):
            _, most, body = value
            if int(most) >= UNBOUNDED and _ambiguous(body):
                yield before, body
            yield from _repeats(body, before)
        elif kind == "SUBPATTERN":
            yield from _repeats(value[-1], before)
        elif kind == "ATOMIC_GROUP":
            pass  # it gives nothing back
        elif kind == "BRANCH":
            for branch in value[1]:
                yield from _repeats(branch, before)
        elif kind in ("ASSERT", "ASSERT_NOT"):
            yield from _repeats(value[1], before)
        before += _sample([(op, value)], 0)


def _ambiguous(body: Any) -> bool:
    for op, value in body:
        kind = str(op)
        if kind in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = value
            if int(most) >= UNBOUNDED or (int(least) == 0 and len(body) == 1) or _ambiguous(inner):
                return True
        elif kind == "BRANCH" or (kind == "SUBPATTERN" and _ambiguous(value[-1])):
            return True
    return False


def _samples(body: Any) -> Iterator[str]:
    """Short texts that a repeated part matches: the least, one repeat more, and each of its branches."""
    yield _sample(body, 0)
    yield _sample(body, 1)
    for op, value in body:
        if str(op) == "BRANCH":
            yield from (_sample(branch, 1) for branch in value[1])
        elif str(op) == "SUBPATTERN":
            yield from _samples(value[-1])


def _sample(tree: Any, more: int) -> str:
    """A text that the tree matches, with each repeat as short as it may be (and `more` times more, where it may)."""
    made = ""
    for op, value in tree:
        kind = str(op)
        if kind == "LITERAL":
            made += chr(value)
        elif kind == "NOT_LITERAL":
            made += "a" if value != ord("a") else "b"
        elif kind == "ANY":
            made += "a"
        elif kind == "IN":
            made += _one_of(value)
        elif kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, body = value
            made += _sample(body, more) * min(int(most), int(least) + more)
        elif kind == "SUBPATTERN":
            made += _sample(value[-1], more)
        elif kind == "ATOMIC_GROUP":
            made += _sample(value, more)
        elif kind == "BRANCH":
            made += _sample(value[1][0], more)
    return made


def _one_of(options: Any) -> str:
    negated = any(str(op) == "NEGATE" for op, _ in options)
    if negated:
        pattern = {str(op): value for op, value in options}
        taken = {chr(value) for op, value in options if str(op) == "LITERAL"}
        wide = {"CATEGORY_SPACE": "a", "CATEGORY_DIGIT": "a", "CATEGORY_WORD": "-"}
        first = wide.get(str(pattern.get("CATEGORY")), "a")
        return next(letter for letter in (first, "a", "b", "1", "-", "_") if letter not in taken)
    op, value = options[0]
    match str(op):
        case "LITERAL":
            return chr(value)
        case "RANGE":
            return chr(value[0])
        case _:
            return {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_NOT_SPACE": "a"}.get(str(value), "a")


TITLE = Text(en="Patterns that may take for ever", ko="무한정 걸릴 수 있는 패턴")
