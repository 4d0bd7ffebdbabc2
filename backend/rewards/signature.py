"""What a reward file says of itself, read from its names and from the signature of its judge."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from backend.rewards.verdict import Verdict
from backend.text import Text


@dataclass(frozen=True, slots=True)
class Argument:
    """One setting of a reward. `choices` is empty where any value of one of `kinds` (type names) will do.

    `kind` is the first of `kinds`, "choice" where there are only choices. An int will do where "float" stands.
    """

    name: str
    kind: str
    default: Any
    choices: tuple[Any, ...]
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RewardSpec:
    """What the form and the checks need to know of a reward, without calling it.

    `columns`: dataset columns that it needs; `optional_columns`: those it takes where the rows have them. `isolated`:
    True, False, or the arguments that make it so when they are given. `many`: judges a whole batch in one call.
    """

    name: str
    label: Text
    help: Text
    columns: tuple[str, ...]
    arguments: tuple[Argument, ...]
    bounds: tuple[float, float] | None
    judge: Callable[..., Any]
    optional_columns: tuple[str, ...] = ()
    isolated: bool | tuple[str, ...] = False
    many: bool = False
    portable: bool = True
    loaded_by_worker: bool = False
    check: Callable[[Mapping[str, Any]], None] | None = None
    bounds_of: Callable[[Mapping[str, Any]], tuple[float, float] | None] | None = None
    unreadable: Callable[[Any], str | None] | None = None

    def is_isolated(self, args: Mapping[str, Any]) -> bool:
        """Whether it runs in the killable pool with these arguments."""
        if isinstance(self.isolated, bool):
            return self.isolated
        return any(args.get(name) is not None for name in self.isolated)

    def is_portable(self, args: Mapping[str, Any]) -> bool:
        """Whether its source can be carried into a script, where there is no pool that could end it."""
        return self.portable and not self.is_isolated(args)

    def bounds_with(self, args: Mapping[str, Any]) -> tuple[float, float] | None:
        """The least and the greatest score with these arguments; None where they are not known."""
        return self.bounds_of(args) if self.bounds_of else self.bounds


def describe(name: str, module: ModuleType) -> RewardSpec:
    """The spec of the reward that `module` defines."""
    many = hasattr(module, "judge_many")
    judge: Callable[..., Verdict] = module.judge_many if many else module.judge
    optional = tuple(getattr(module, "OPTIONAL_COLUMNS", ()))
    columns, arguments = _signature(judge, optional)
    optional += tuple(getattr(module, "COLUMN_OR_ARGUMENT", ()))
    return RewardSpec(
        name,
        Text(**module.LABEL),
        Text(**module.HELP),
        columns,
        arguments,
        module.BOUNDS,
        judge,
        optional_columns=optional,
        isolated=getattr(module, "ISOLATED", False),
        many=many,
        portable=getattr(module, "PORTABLE", True),
        loaded_by_worker=getattr(module, "LOADED_BY_WORKER", False),
        check=getattr(module, "check", None),
        bounds_of=getattr(module, "bounds", None),
        unreadable=getattr(module, "unreadable", None),
    )


def _signature(judge: Callable[..., Any], optional: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[Argument, ...]]:
    hints = get_type_hints(judge)
    columns: list[str] = []
    arguments: list[Argument] = []
    for parameter in inspect.signature(judge).parameters.values():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY or parameter.name in optional:
            continue
        if parameter.default is inspect.Parameter.empty:
            columns.append(parameter.name)
        else:
            kinds, choices = _kinds(hints[parameter.name])
            kind = kinds[0] if kinds else "choice"
            arguments.append(Argument(parameter.name, kind, parameter.default, choices, tuple(kinds)))
    return tuple(columns), tuple(arguments)


def _kinds(hint: Any) -> tuple[list[str], tuple[Any, ...]]:
    """The plain type names and the literal values that an annotation allows, None aside."""
    if get_origin(hint) is Literal:
        return [], get_args(hint)
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds: list[str] = []
    choices: tuple[Any, ...] = ()
    for member in members:
        if get_origin(member) is Literal:
            choices += get_args(member)
        elif member is not type(None):
            kinds.append((get_origin(member) or member).__name__)
    return kinds, choices
