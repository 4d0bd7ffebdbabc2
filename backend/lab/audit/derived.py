"""Formats that the source of a custom reward asks for: the marks and patterns that stand in it, as answers to try."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from backend.lab.audit import patterns
from backend.lab.audit.formats import FORMATS, THOUGHT, Format
from backend.text import Text

MOST = 16
MARK = re.compile(r"<[^<>\s()\[\]{}*+?|\\]{1,40}>|\[\[|\]\]|\$\$|\*\*")
CUTTERS = {"split", "rsplit", "partition", "rpartition", "find", "rfind", "index", "rindex", "startswith", "endswith"}
LONGEST = 40  # characters of a mark
READERS = {"loads", "literal_eval", "raw_decode", "safe_load", "model_validate_json", "parse_raw"}
# Calls that take a text apart: what they look for may stand in no constant that could be read here.
TAKES_APART = CUTTERS | READERS | patterns.CALLS | {"splitlines", "fromstring", "eval", "exec"}
NOT_KEYS = {"content", "role"}
MOST_KEYS = 4


class Shape(NamedTuple):
    before: str
    left: str
    right: str
    after: str = ""
    literal: bool = False


def formats_in(sources: Sequence[str]) -> list[Format]:
    """Formats made of what the sources look for, without those that are known anyway; at most MOST."""
    known = {(each.before, each.left, each.right, each.after) for each in FORMATS}
    found: list[Format] = []
    for source in sources:
        for shape in _shapes(source):
            key = (shape.before, shape.left, shape.right, shape.after)
            if key in known or len(found) == MOST:
                continue
            known.add(key)
            shown = " ".join("".join([shape.before, shape.left, "…", *shape[2:4]]).replace(THOUGHT, "…").split())
            found.append(Format(f"source_{len(found) + 1}", Text(en=shown, ko=shown), *shape))
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
    tree = _tree(source)
    calls = [patterns.called(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    return bool(marks or _cuts(source) or patterns.in_source(source) or TAKES_APART & set(calls))


def ignores_texts(source: str | None, function: str | None) -> bool:
    """Whether a reward only counts its completions, and looks into none of them: `[1.0 for _ in completions]`."""
    tree = _tree(source) if source is not None else None
    defined = list(ast.walk(tree)) if tree is not None else []
    body = next(
        (n for n in defined if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == function), None
    )
    if (
        body is None
        or len([n for n in defined if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]) > 1
    ):
        return False
    counted: set[int] = set()
    loops: set[str] = set()
    for node in ast.walk(body):
        match node:
            case (
                ast.For(target=target, iter=ast.Name(id="completions") as name)
                | ast.comprehension(target=target, iter=ast.Name(id="completions") as name)
            ):
                counted.add(id(name))
                loops |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id="completions") as name]):
                counted.add(id(name))
    read = [n for n in ast.walk(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return not any((n.id == "completions" and id(n) not in counted) or n.id in loops for n in read)


def _shapes(source: str) -> Iterator[Shape]:
    """Objects with the keys that are read first, then whole patterns, pairs of marks, single marks."""
    constants = _constants(source)
    yield from _objects(source)
    for pattern in patterns.in_source(source):
        around = patterns.around_group(pattern)
        if around is not None and any(around):
            left, right = around
            yield Shape(f"{THOUGHT}\n", left, right)
            yield Shape("", left, right)
    marks = list(dict.fromkeys(mark for text in constants for mark in MARK.findall(text)))[:6]
    if len(marks) >= 4:
        first, second, third, fourth = marks[:4]
        for line in ("\n", ""):
            for inner in ("\n", ""):
                thought = f"{first}{inner}{THOUGHT}{inner}{second}{line}"
                yield Shape(thought, f"{third}{inner}", f"{inner}{fourth}")
                yield Shape(thought, f"{third}{inner}", f"{inner}{fourth}", "\n")
        # The opened thought may be the chat template's, so that only its end is written.
        yield Shape(f"{THOUGHT}{second}\n", third, fourth)
    for at in range(len(marks) - 1):
        yield Shape(f"{THOUGHT}\n", marks[at], marks[at + 1])
    for mark in _cuts(source):
        if mark not in marks:
            yield Shape(f"{THOUGHT}\n", mark if mark.endswith((" ", "\n")) else f"{mark} ", "")


def _objects(source: str) -> Iterator[Shape]:
    """JSON with the keys that the source reads, the answer under each of them, as a text and as a value."""
    keys = _keys(source)
    for key in reversed(keys):  # the answer stands last, mostly
        others = [f"{json.dumps(other)}: {json.dumps(THOUGHT)}, " for other in keys if other != key]
        for before in dict.fromkeys(("".join(others), "")):
            left = f"{{{before}{json.dumps(key)}: "
            yield Shape("", left, "}", literal=True)
            yield Shape("", f'{left}"', '"}')
            yield Shape("", f"```json\n{left}", "}\n```", literal=True)


def _keys(source: str) -> list[str]:
    """The keys that a source which parses its text reads: `found["sum"]`, `found.get("sum")`, `"sum" in found`."""
    tree = _tree(source)
    nodes = list(ast.walk(tree)) if tree is not None else []
    if not any(isinstance(node, ast.Call) and patterns.called(node.func) in READERS for node in nodes):
        return []
    given = {node.kwarg.arg for node in nodes if isinstance(node, ast.arguments) and node.kwarg}
    found: list[str] = []
    for node in nodes:
        match node:
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(key))):
                pass
            case ast.Call(func=ast.Attribute(attr="get", value=owner), args=[ast.Constant(value=str(key)), *_]):
                pass
            case ast.Compare(left=ast.Constant(value=str(key)), ops=[ast.In() | ast.NotIn()], comparators=[owner]):
                pass
            case _:
                continue
        columns = isinstance(owner, ast.Name) and owner.id in given
        if not columns and key.isidentifier() and key not in NOT_KEYS:
            found.append(key)
    return list(dict.fromkeys(found))[:MOST_KEYS]


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
