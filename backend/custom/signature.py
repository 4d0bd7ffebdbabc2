"""What the source of a reward says of its functions, read without running it."""

from __future__ import annotations

import ast
from dataclasses import asdict, dataclass
from typing import Any

# What TRL gives besides the columns of the rows (GRPOTrainer._calculate_rewards, trl 1.16).
GIVEN = ("prompts", "completions", "completion_ids", "trainer_state", "log_extra", "log_metric", "environments")
NEVER_GIVEN = ("prompt", "completion")  # columns that TRL keeps back


@dataclass(frozen=True, slots=True)
class Function:
    """A function at the top of the file.

    `columns`: columns of the rows that it cannot do without: parameters without a default, and `kwargs["name"]`.
    `optional`: those that it takes where the rows have them: `kwargs.get("name")` and parameters with a default.
    `defaults`: these, which may also be set as arguments of the reward, with their values (None where it is no
    literal). `takes_all`: it has **kwargs. `positional`: parameters that no call by name can fill. `given`: names of
    GIVEN that it takes. `bound`: "" for a def or a lambda, "alias", "partial", "instance" or "factory" for a name that
    is assigned; `of`: what it was made of.
    """

    name: str
    line: int
    is_async: bool
    columns: tuple[str, ...]
    optional: tuple[str, ...]
    defaults: dict[str, Any]
    given: tuple[str, ...]
    takes_all: bool
    positional: tuple[str, ...]
    offered: str
    help: str
    bound: str = ""
    of: str = ""

    @property
    def is_reward(self) -> bool:
        """Whether it can be meant as a reward: it takes the completions, by name or among **kwargs."""
        if self.name.startswith("_"):
            return False
        if "completions" in (*self.given, *self.positional):
            return True
        return self.takes_all and not self.positional

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def described(
    name: str, node: Any, args: ast.arguments, is_async: bool, written: str, bound: str = "", of: str = ""
) -> Function:
    """Of what `args` says that a call may give, and of what the body of `node` reads of its **kwargs."""
    named = [*args.args, *args.kwonlyargs]
    tail = len(args.args) - len(args.defaults)
    given = [*[None] * tail, *args.defaults][-len(args.args) :] if args.args else []
    pairs = [*zip(args.args, given, strict=True), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    without = [a.arg for a, default in pairs if default is None]
    defaults = {a.arg: _literal(default) for a, default in pairs if default is not None}
    read, asked = _kwargs_read(node, args.kwarg.arg if args.kwarg else None)
    names = {a.arg for a in named}
    columns = [c for c in dict.fromkeys([*without, *read]) if c not in GIVEN and c not in defaults]
    optional = [c for c in dict.fromkeys([*defaults, *asked]) if c not in GIVEN and c not in columns]
    document = ast.get_docstring(node) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None
    return Function(
        name=name,
        line=node.lineno,
        is_async=is_async,
        columns=tuple(columns),
        optional=tuple(optional),
        defaults={c: value for c, value in defaults.items() if c not in GIVEN},
        given=tuple(c for c in GIVEN if c in names),
        takes_all=args.kwarg is not None,
        positional=tuple(a.arg for a in args.posonlyargs),
        offered=written,
        help=(document or "").strip(),
        bound=bound,
        of=of,
    )


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _kwargs_read(node: ast.AST, kwargs: str | None) -> tuple[list[str], list[str]]:
    """Names read as kwargs["name"], and those asked for with kwargs.get("name") or tested with `in`."""
    read: list[str] = []
    asked: list[str] = []
    for each in ast.walk(node) if kwargs else ():
        match each:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(column))) if name == kwargs:
                read.append(column)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="get" | "pop"),
                args=[ast.Constant(value=str(column)), *_],
            ) if name == kwargs:
                asked.append(column)
            case ast.Compare(
                left=ast.Constant(value=str(column)), ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]
            ) if name == kwargs:
                asked.append(column)
    return [name for name in read if name not in asked], asked


def offered(name: str, args: ast.arguments, is_async: bool) -> str:
    """The first line of the function as TRL can call it: by name, with **kwargs."""
    mended = ast.arguments(
        posonlyargs=[],
        args=[*args.posonlyargs, *args.args],
        vararg=args.vararg,
        kwonlyargs=args.kwonlyargs,
        kw_defaults=args.kw_defaults,
        kwarg=args.kwarg or ast.arg("kwargs"),
        defaults=args.defaults,
    )
    return f"{'async ' if is_async else ''}def {name}({ast.unparse(mended)}):"
