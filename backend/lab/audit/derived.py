"""Formats that the source of a custom reward asks for: the marks and patterns that stand in it, as answers to try."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

from backend.lab.audit import patterns
from backend.lab.audit.formats import FORMATS, THOUGHT, Format
from backend.text import Text

MOST = 16
MARK = re.compile(r"<[^<>\s()\[\]{}*+?|\\]{1,40}>|\[\[|\]\]|\$\$|\*\*")
CUTTERS = {"split", "rsplit", "partition", "rpartition", "find", "rfind", "index", "rindex", "startswith", "endswith"}
LONGEST = 40  # characters of a mark


def formats_in(sources: Sequence[str]) -> list[Format]:
    """Formats made of what the sources look for, without those that are known anyway; at most MOST."""
    known = {(each.before, each.left, each.right, each.after) for each in FORMATS}
    found: list[Format] = []
    for source in sources:
        for before, left, right, after in _shapes(source):
            key = (before, left, right, after)
            if key in known or len(found) == MOST:
                continue
            known.add(key)
            shown = " ".join(f"{before}{left}…{right}{after}".replace(THOUGHT, "…").split())
            found.append(Format(f"source_{len(found) + 1}", Text(en=shown, ko=shown), before, left, right, after))
    return found


def reachable(source: str, function: str | None) -> str:
    """What of a file the function uses: itself and the definitions at the top that it names, directly or not."""
    tree = _tree(source)
    if tree is None or function is None:
        return source
    defined: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for name in ast.walk(node):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    defined[name.id] = node
    kept: list[ast.stmt] = []
    waiting = [function]
    while waiting:
        node = defined.pop(waiting.pop(), None)
        if node is not None:
            if node not in kept:
                kept.append(node)
            waiting += [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    if not kept:
        return source
    return "\n".join(ast.unparse(node) for node in sorted(kept, key=lambda node: node.lineno))


def asks_for_a_form(source: str | None) -> bool:
    """Whether a source looks for marks or patterns at all, so that an answer may have missed the form it wants."""
    if source is None:
        return False
    marks = any(MARK.search(text) for text in _constants(source))
    return bool(marks or _cuts(source) or patterns.in_source(source))


def _shapes(source: str) -> Iterator[tuple[str, str, str, str]]:
    """(before, left, right, after): whole patterns first, then pairs of marks, then single ones."""
    constants = _constants(source)
    for pattern in patterns.in_source(source):
        around = patterns.around_group(pattern)
        if around is not None and any(around):
            left, right = around
            yield f"{THOUGHT}\n", left, right, ""
            yield "", left, right, ""
    marks = list(dict.fromkeys(mark for text in constants for mark in MARK.findall(text)))[:6]
    if len(marks) >= 4:
        first, second, third, fourth = marks[:4]
        for line in ("\n", ""):
            for inner in ("\n", ""):
                thought = f"{first}{inner}{THOUGHT}{inner}{second}{line}"
                yield thought, f"{third}{inner}", f"{inner}{fourth}", ""
                yield thought, f"{third}{inner}", f"{inner}{fourth}", "\n"
        # The opened thought may be the chat template's, so that only its end is written.
        yield f"{THOUGHT}{second}\n", third, fourth, ""
    for at in range(len(marks) - 1):
        yield f"{THOUGHT}\n", marks[at], marks[at + 1], ""
    for mark in _cuts(source):
        if mark not in marks:
            yield f"{THOUGHT}\n", mark if mark.endswith((" ", "\n")) else f"{mark} ", "", ""


def _tree(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _constants(source: str) -> list[str]:
    """The texts of a source in the order in which they stand, documentation aside."""
    tree = _tree(source)
    if tree is None:
        return []
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents
    ]
    return [str(node.value) for node in sorted(found, key=lambda node: (node.lineno, node.col_offset))]


def _cuts(source: str) -> list[str]:
    """Texts at which the source cuts or searches: `c.split("ANSWER:")`, `"ANSWER:" in c`."""
    tree = _tree(source)
    found: list[str] = []
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value=str(text)), *_]) if name in CUTTERS:
                found.append(text)
            case ast.Compare(left=ast.Constant(value=str(text)), ops=[ast.In() | ast.NotIn()]):
                found.append(text)
    return [text for text in dict.fromkeys(found) if text.strip() and len(text) <= LONGEST]
