"""The contract of a reward and the registry that finds them.

A reward is one file in this folder with
- `judge(completion: str, *, ...) -> Verdict`: one completion, one verdict. Keyword-only parameters without a
  default are dataset columns; those with a default are arguments a user may set, checked against their annotation;
  or `judge_many(completions, *, column: Sequence, ...) -> list[Verdict | Exception]`, one call a batch;
- `LABEL` and `HELP`: dictionaries with "en" and "ko";
- `BOUNDS`: the least and the greatest score it can give, or None; `bounds(args)` where they depend on its arguments.

It may also have
- `OPTIONAL_COLUMNS`: parameters (default None) that are filled where the rows have such a column;
- `COLUMN_OR_ARGUMENT`: arguments that a column of the same name replaces, row by row where it is not None;
- `ISOLATED`: True, or the arguments that make it so: each completion in a process that is killed after `limit_s`
  seconds (an argument that `judge` must then have);
- `check(args)`: raises Refused for arguments that are of the right kind and yet wrong; it sees the defaults too;
- `unreadable(gold) -> str | None`: why a ground truth cannot be judged;
- `PORTABLE = False`: it needs more than the standard library, `backend.rewards.verdict` and `backend.rewards.extract`,
  so that its source cannot be carried into an exported script;
- `LOADED_BY_WORKER = True`: only the worker can call it.
Other files of this folder that are no rewards are named in NOT_REWARDS or begin with an underscore.

`get(name, args)` makes of it what TRL calls: `f(prompts, completions, **columns) -> list[float | None]`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from backend.errors import NotFound, Refused
from backend.rewards.call import Failure, Reward, score_rows
from backend.rewards.signature import Argument, RewardSpec, describe
from backend.text import Text

__all__ = ["Argument", "Failure", "Reward", "RewardSpec", "check_args", "get", "names", "score_rows", "spec"]

NOT_REWARDS = {
    "base",
    "call",
    "effective",
    "extract",
    "inline",
    "isolated",
    "reasons",
    "said",
    "signature",
    "task",
    "verdict",
}


def names() -> list[str]:
    """All rewards, by file name, in alphabetical order."""
    package = importlib.import_module("backend.rewards")
    found = (module.name for module in pkgutil.iter_modules(package.__path__))
    return sorted(name for name in found if name not in NOT_REWARDS and not name.startswith("_"))


@functools.cache
def spec(name: str) -> RewardSpec:
    """The description of one reward. NotFound, with the names there are, for any other name."""
    if name not in names():
        known = ", ".join(names())
        raise NotFound(
            Text(
                en=f"rewards: there is no reward {name!r}; the rewards are {known}",
                ko=f"rewards: {name!r}라는 보상 함수가 없습니다. 쓸 수 있는 보상 함수: {known}",
            )
        )
    return describe(name, importlib.import_module(f"backend.rewards.{name}"))


def check_args(name: str, args: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments as they will be used. Refused, naming the argument and what would do, when one is wrong."""
    known = {argument.name: argument for argument in spec(name).arguments}
    given = dict(args or {})
    for key, value in given.items():
        argument = known.get(key)
        if argument is None:
            there = ", ".join(known) or "-"
            raise Refused(
                Text(
                    en=f"reward_args: {name} has no argument {key!r}; its arguments: {there}",
                    ko=f"reward_args: {name}에는 {key!r} 인자가 없습니다. 쓸 수 있는 인자: {there}",
                )
            )
        if value is None and argument.default is None:
            continue
        if not _fits(argument, value):
            kinds = " / ".join(argument.kinds)
            wanted = ", ".join([*map(repr, argument.choices), *([kinds] if kinds else [])])
            raise Refused(
                Text(
                    en=f"reward_args: {name}.{key} is {value!r}; expected {wanted}",
                    ko=f"reward_args: {name}.{key} 값이 {value!r}입니다. 가능한 값: {wanted}",
                )
            )
    _check_limit(name, given)
    check = spec(name).check
    if check is not None:
        check({argument.name: argument.default for argument in spec(name).arguments} | given)
    return given


def _fits(argument: Argument, value: Any) -> bool:
    if argument.choices and not isinstance(value, (list, dict)) and value in argument.choices:
        return True
    kind = type(value).__name__
    return kind in argument.kinds or ("float" in argument.kinds and kind == "int")


def _check_limit(name: str, given: Mapping[str, Any]) -> None:
    limit = given.get("limit_s")
    if limit is not None and not 0 < limit <= 600:
        raise Refused(
            Text(
                en=f"reward_args: {name}.limit_s is {limit!r}; expected seconds above 0 and at most 600",
                ko=f"reward_args: {name}.limit_s 값이 {limit!r}입니다. 0보다 크고 600 이하인 초 단위 값이어야 합니다",
            )
        )


def get(name: str, args: Mapping[str, Any] | None = None) -> Reward:
    """The reward `name` with `args` bound. NotFound for an unknown name, Refused for a wrong argument."""
    return Reward(spec(name), check_args(name, args))
