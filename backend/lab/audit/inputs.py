"""Whether a function changes what it is given: told from its source, nothing is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

MUTATORS = {
    "append", "extend", "insert", "pop", "popitem", "remove", "clear", "sort", "reverse", "update", "setdefault",
}  # fmt: skip
IN_PLACE = {"shuffle", "heapify", "heappop", "heappush"}
GIVEN = {"prompts", "completions", "completion_ids"}
SAME_ITEMS = {"zip", "enumerate", "reversed"}  # what they yield are the items themselves
Definition = ast.FunctionDef | ast.AsyncFunctionDef


def changes(source: str, function: str | None) -> tuple[int, str] | None:
    """The line, and the name of the argument, of the first place at which `function` changes an argument, or an item
    of one, in place. A name that was given a value of its own before that line is no argument any more."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    defined = [node for node in ast.walk(tree) if isinstance(node, Definition)]
    chosen = next((node for node in defined if node.name == function), None)
    if chosen is None:
        return _first(tree, {name: name for name in GIVEN}, None)
    args = chosen.args
    names = {each.arg: each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    return _first(chosen, names, args.kwarg.arg if args.kwarg else None)


def _first(tree: ast.AST, given: dict[str, str], rest: str | None) -> tuple[int, str] | None:
    """`given`: each name with the argument that it means; `rest`: the name of **kwargs, whose values are arguments."""
    nodes = sorted((n for n in ast.walk(tree) if isinstance(n, ast.stmt | ast.expr)), key=lambda node: node.lineno)
    for node in nodes:
        for target in _changed(node):
            name = _meant(target, given, rest)
            if name is not None:
                return node.lineno, name
        _named(node, given, rest)
    return None


def _changed(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose value the node changes in place."""
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            yield from (target.value for target in targets if isinstance(target, ast.Subscript))
        case ast.AugAssign(target=ast.Subscript(value=value)):
            yield value
        case ast.AugAssign(target=ast.Name() as name):
            yield name
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in MUTATORS:
            yield value
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[value, *_]) if name in IN_PLACE:
            yield value


def _meant(value: ast.expr, given: dict[str, str], rest: str | None) -> str | None:
    """The argument that an expression is, or is an item of; None for anything else."""
    match value:
        case ast.Name(id=name):
            return given.get(name)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))) if name == rest:
            return key
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=str(key)), *_]):
            return key if name == rest else None
        case ast.Subscript(value=inner, slice=index) if not isinstance(index, ast.Slice):
            return _meant(inner, given, rest)
        case _:
            return None


def _named(node: ast.AST, given: dict[str, str], rest: str | None) -> None:
    """What an assignment or a loop makes of names: another name of an argument, or of an item, or none of them."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            _keep(given, name, _meant(value, given, rest))
        case ast.For(target=target, iter=over):
            items = over.args if isinstance(over, ast.Call) and _called(over) in SAME_ITEMS else [over]
            counted = isinstance(over, ast.Call) and _called(over) == "enumerate"
            targets = target.elts[1:] if counted and isinstance(target, ast.Tuple) else [target]
            if not counted and isinstance(target, ast.Tuple) and len(target.elts) == len(items):
                targets = target.elts
            for each, item in zip(targets, items, strict=False):
                if isinstance(each, ast.Name):
                    _keep(given, each.id, _meant(item, given, rest))
        case _:
            pass


def _keep(given: dict[str, str], name: str, meant: str | None) -> None:
    if meant is None:
        given.pop(name, None)
    else:
        given[name] = meant


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""
