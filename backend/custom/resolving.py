"""From a name to the reward that is called: built in, saved, or a file that is not saved yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend import rewards as built_in
from backend.custom.description import describe
from backend.custom.library import CONFIRM, Level, Library, Version
from backend.custom.look import require_function
from backend.custom.naming import refuse_on_space
from backend.custom.reward import CustomReward
from backend.custom.settings import NAMES, check_settings
from backend.errors import NotFound, Refused
from backend.text import Text

FILE = re.compile(r"(?P<path>.+\.py)(?::(?P<function>\w+))?", re.DOTALL)


def resolve(
    home: Path | None,
    name: str,
    args: Mapping[str, Any] | None = None,
    version: int | None = None,
    trusted: bool = False,
) -> Any:
    """The reward `name` with `args` bound, callable as TRL calls it (see backend.rewards.Reward, CustomReward).

    `home`: the home folder, or a run's folder, whose own copies are then used. `version`: of a custom reward; the
    newest where it is None. `name` may be "file.py" or "file.py:function": sandboxed, unless `trusted`, by which the
    caller says that the person has agreed to run it as themselves.
    NotFound for an unknown name, Refused for wrong arguments, a public Space, or a file that is no reward.
    """
    if is_file(name):
        return bound(from_file(name, "trusted" if trusted else "sandboxed"), args)
    if home is not None and Library(home).versions(name):
        refuse_on_space()
        return bound(Library(home).get(name, version), args)
    try:
        return built_in.get(name, args)
    except NotFound:
        describe(home, name)  # says which custom rewards there are, too
        raise


def is_file(name: str) -> bool:
    """Whether a reward's name means a file: "file.py" or "file.py:function"."""
    return FILE.fullmatch(name) is not None


def from_file(words: str, level: Level, name: str | None = None) -> Version:
    """A version 0, not saved, of "file.py[:function]"; `name`, the reward's, decides among several functions."""
    refuse_on_space()
    found = FILE.fullmatch(words)
    path = Path(found["path"] if found else words).expanduser()
    try:
        source = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise Refused(Text(en=f"{path}: cannot be read ({error})", ko=f"{path}: 읽을 수 없습니다({error})")) from error
    return unsaved(source, level, found["function"] if found else None, name)


def unsaved(source: str, level: Level, function: str | None = None, name: str | None = None) -> Version:
    """A version 0 of a source that is not saved. Refused, with every problem, where it is no reward."""
    refuse_on_space()
    chosen = require_function(source, function, name)
    return Version(name or chosen, 0, source, level, chosen, "", "")


def bound(version: Version, args: Mapping[str, Any] | None = None) -> CustomReward:
    """The version with its arguments: those of NAMES are settings, others are parameters that have a default.

    Refused on a public Space, as everything is that would run the source.
    """
    refuse_on_space()
    given = dict(args or {})
    own = check_args(version, given)
    settings = {**version.settings, **check_settings({k: v for k, v in given.items() if k in NAMES}, "reward_args")}
    return CustomReward(version, own, settings)


def check_args(version: Version, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that go to the function itself. Refused, naming the argument and what there is."""
    from backend.custom.look import look

    check_settings({k: v for k, v in args.items() if k in NAMES}, f"reward_args: {version.name}")
    found = look(version.source, version.function).function
    known = found.defaults if found else ()
    unknown = [name for name in args if name not in known and name not in NAMES]
    if unknown:
        there = ", ".join((*known, *NAMES))
        raise Refused(
            Text(
                en=f"reward_args: {version.name} has no argument {unknown[0]!r}; its arguments: {there}",
                ko=f"reward_args: {version.name}에는 {unknown[0]!r} 인자가 없습니다. 쓸 수 있는 인자: {there}",
            )
        )
    return {name: value for name, value in args.items() if name not in NAMES}


__all__ = ["CONFIRM", "bound", "check_args", "from_file", "is_file", "resolve", "unsaved"]
