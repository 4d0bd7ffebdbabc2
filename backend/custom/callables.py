"""Which callables a file binds at its top, read without running it.

TRL takes any callable, so a reward may be a def, a lambda, another name of one, functools.partial of one, an instance
of a class of the file that has `__call__`, or what a def of the file returns. What none of these is (the result of an
imported function, say) has no parameters that could be read here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend.custom.signature import Function, described, offered

DEEPEST = 8  # defs that return what a def returns
MOST_ASSIGNED = 30  # assigned names that are looked into; a file of aliases must not take minutes


@dataclass(frozen=True, slots=True)
class _Callable:
    """`args`: what a call may still give; `written`: the first line of the def as TRL could call it."""

    node: Any
    args: ast.arguments
    is_async: bool
    written: str
    bound: str = ""
    of: str = ""


def functions(tree: ast.Module) -> list[Function]:
    """Those at the top of the file, in order, also inside if, try and with; the last one of a name counts."""
    found = _Scope(tree.body).found
    return [described(name, each.node, each.args, each.is_async, each.written, each.bound, each.of)
            for name, each in found.items()]  # fmt: skip


def assigned(tree: ast.Module) -> list[str]:
    """Every name that is assigned at the top of the file."""
    return [name for node in _top(tree.body) for name, _ in _assigned(node)]


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and value is not None:
            yield target.id, value


def _top(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        for inner in ("body", "orelse", "finalbody"):
            if isinstance(node, ast.If | ast.Try | ast.With):
                yield from _top(getattr(node, inner, []))
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                yield from _top(handler.body)


class _Scope:
    """The callables and classes that statements bind; `outer` is asked for what they do not."""

    def __init__(self, body: Sequence[ast.stmt], outer: _Scope | None = None, depth: int = 0) -> None:
        self.found: dict[str, _Callable] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.outer, self.depth = outer, depth
        self.returned: dict[int, _Callable | None] = outer.returned if outer else {}  # by def
        left = MOST_ASSIGNED
        for node in _top(body):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._bind(node.name, _of_def(node))
            elif isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            for name, value in _assigned(node):
                made = self.made(name, value) if left > 0 else None
                if made is not None:  # else the name keeps what it had: `f = traced(f)`
                    self._bind(name, made)
                    left -= 1

    def _bind(self, name: str, made: _Callable) -> None:
        self.found.pop(name, None)
        self.found[name] = made

    def callable(self, name: str) -> _Callable | None:
        return self.found.get(name) or (self.outer.callable(name) if self.outer else None)

    def class_of(self, name: str) -> ast.ClassDef | None:
        return self.classes.get(name) or (self.outer.class_of(name) if self.outer else None)

    def made(self, name: str, value: ast.expr) -> _Callable | None:
        """What an expression is, where that can be told."""
        match value:
            case ast.Lambda():
                return _Callable(value, value.args, False, offered(name, value.args, False))
            case ast.Name(id=other):
                found = self.callable(other)
                return None if found is None or other == name else replace(found, bound="alias", of=other)
            case ast.Call(func=ast.Name(id="partial") | ast.Attribute(attr="partial"), args=[of, *given]):
                return self._partial(name, of, given, value.keywords)
            case ast.Call(func=ast.Name(id=maker)) if self.class_of(maker) is not None:
                return self._instance(maker, set())
            case ast.Call(func=ast.Name(id=maker)):
                return self._returned(name, maker)
        return None

    def _partial(self, name: str, of: ast.expr, given: list[ast.expr], keywords: list[ast.keyword]) -> _Callable | None:
        inner = self.made("", of)
        if inner is None or any(isinstance(each, ast.Starred) for each in given):
            return None
        bound = {each.arg: each.value for each in keywords if each.arg}
        args = _without(inner.args, len(given), bound)
        return replace(inner, args=args, bound="partial", of=of.id if isinstance(of, ast.Name) else "")

    def _instance(self, name: str, seen: set[str]) -> _Callable | None:
        """Of a class of the file, or of one that it inherits `__call__` from."""
        found = self.class_of(name)
        if found is None or name in seen or len(seen) > DEEPEST:
            return None
        seen.add(name)
        for node in _top(found.body):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "__call__":
                static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
                args = node.args if static else _without(node.args, 1, {})
                return replace(_of_def(node), args=args, bound="instance", of=name)
        bases = [base.id for base in found.bases if isinstance(base, ast.Name)]
        return next((made for base in bases if (made := self._instance(base, seen)) is not None), None)

    def _returned(self, name: str, maker: str) -> _Callable | None:
        """What a def of the file returns, where that is one of these."""
        found = self.callable(maker)
        if found is None or not isinstance(found.node, ast.FunctionDef) or self.depth >= DEEPEST:
            return None
        key = id(found.node)
        if key not in self.returned:
            self.returned[key] = None  # while it is looked into: it may return itself
            scope = _Scope(found.node.body, self, self.depth + 1)
            values = [node.value for node in _top(found.node.body) if isinstance(node, ast.Return) and node.value]
            self.returned[key] = scope.made(name, values[-1]) if values else None
        made = self.returned[key]
        return None if made is None else replace(made, bound="factory", of=maker)


def _of_def(node: ast.FunctionDef | ast.AsyncFunctionDef) -> _Callable:
    is_async = isinstance(node, ast.AsyncFunctionDef)
    return _Callable(node, node.args, is_async, offered(node.name, node.args, is_async))


def _without(args: ast.arguments, first: int, bound: dict[str, ast.expr]) -> ast.arguments:
    """Without the first so many parameters; those of `bound`, which a call by name may still give, with a default."""
    places = [*args.posonlyargs, *args.args]
    defaults = [*[None] * (len(places) - len(args.defaults)), *args.defaults]
    positional = {id(each) for each in args.posonlyargs}
    kept = list(zip(places, defaults, strict=True))[first:]
    named = [(a, d) for a, d in kept if id(a) not in positional]
    named += list(zip(args.kwonlyargs, args.kw_defaults, strict=True))
    known = {a.arg for a, _ in named}
    pairs = [(a, bound.get(a.arg, d)) for a, d in named]
    if args.kwarg:
        pairs += [(ast.arg(name), value) for name, value in bound.items() if name not in known]
    return ast.arguments(
        posonlyargs=[a for a, _ in kept if id(a) in positional],
        args=[],
        vararg=args.vararg,
        kwonlyargs=[a for a, _ in pairs],
        kw_defaults=[d for _, d in pairs],
        kwarg=args.kwarg,
        defaults=[],
    )
