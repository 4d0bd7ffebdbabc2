"""The type of each field, as the form and the reader of typed values need it."""

from __future__ import annotations

import types
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from backend.config.schema import FIELDS


@dataclass(frozen=True, slots=True)
class Kind:
    """`members` in the order they are tried: bool, int, float, choice, list[str], list[float], dict, dict[int], str."""

    members: tuple[str, ...]
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def name(self) -> str:
        """One word for the form: bool, int, float, choice, text, list, numbers, dict."""
        first = "choice" if self.members == ("choice",) else self.members[0]
        return {"str": "text", "list[str]": "list", "list[float]": "numbers", "dict[int]": "dict"}.get(first, first)

    @property
    def whole(self) -> bool:
        return "int" in self.members and "float" not in self.members


_ORDER = ("bool", "int", "float", "choice", "list[float]", "list[str]", "dict", "dict[int]", "str")


def _members(annotation: Any) -> tuple[list[str], list[str], bool]:
    origin = get_origin(annotation)
    if annotation is type(None):
        return [], [], True
    if origin is Literal:
        return ["choice"], [str(a) for a in get_args(annotation)], False
    if origin in (Union, types.UnionType):
        names: list[str] = []
        choices: list[str] = []
        optional = False
        for part in get_args(annotation):
            n, c, o = _members(part)
            names += n
            choices += c
            optional = optional or o
        return names, choices, optional
    if origin is list:
        return [f"list[{get_args(annotation)[0].__name__}]"], [], False
    if origin is dict:
        return ["dict[int]" if get_args(annotation)[1] is int else "dict"], [], False
    return [annotation.__name__], [], False


@cache
def kind_of(name: str) -> Kind:
    """The kind of the field of this name."""
    members, choices, optional = _members(FIELDS[name].annotation)
    return Kind(tuple(sorted(members, key=_ORDER.index)), tuple(choices), optional)
