"""The contract of a reward and the registry that finds them.

A reward is one file in this folder with
- `judge(completion: str, *, ...) -> Verdict`: one completion, one verdict. Keyword-only parameters without a
  default are dataset columns; those with a default are arguments a user may set, checked against their annotation;
- `LABEL` and `HELP`: dictionaries with "en" and "ko";
- `BOUNDS`: the least and the greatest score it can give, or None where they depend on its arguments.
It imports nothing but the standard library and `backend.rewards.verdict`, so that its source can be carried into
an exported script.

`get(name, args)` makes of it what TRL calls: `f(prompts, completions, **columns) -> list[float | None]`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
import math
import pkgutil
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from backend.errors import NotFound, Refused, StudioError
from backend.rewards.verdict import Verdict, completion_text
from backend.text import Text

log = logging.getLogger(__name__)

NOT_REWARDS = {"base", "inline", "verdict"}
KEPT_FAILURES = 64


@dataclass(frozen=True, slots=True)
class Argument:
    """One setting of a reward. `choices` is empty where any value of `kind` will do."""

    name: str
    kind: str
    default: Any
    choices: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class RewardSpec:
    """What the form and the checks need to know of a reward, without calling it."""

    name: str
    label: Text
    help: Text
    columns: tuple[str, ...]
    arguments: tuple[Argument, ...]
    bounds: tuple[float, float] | None
    judge: Callable[..., Verdict]


@dataclass(frozen=True, slots=True)
class Failure:
    """A completion that a reward could not score: its place in the batch, its text, and the traceback."""

    reward: str
    row: int
    completion: str
    error: str
    traceback: str


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
    module = importlib.import_module(f"backend.rewards.{name}")
    columns, arguments = _signature(module)
    label, about = Text(**module.LABEL), Text(**module.HELP)
    return RewardSpec(name, label, about, columns, arguments, module.BOUNDS, module.judge)


def _signature(module: ModuleType) -> tuple[tuple[str, ...], tuple[Argument, ...]]:
    hints = get_type_hints(module.judge)
    columns: list[str] = []
    arguments: list[Argument] = []
    for parameter in inspect.signature(module.judge).parameters.values():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        if parameter.default is inspect.Parameter.empty:
            columns.append(parameter.name)
        else:
            kinds, choices = _kinds(hints[parameter.name])
            kind = kinds[0] if kinds else "choice"
            arguments.append(Argument(parameter.name, kind, parameter.default, choices))
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
        if argument.choices:
            right = value in argument.choices
            wanted = ", ".join(map(repr, argument.choices))
        else:
            right = type(value).__name__ == argument.kind or (argument.kind == "float" and type(value) is int)
            wanted = argument.kind
        if not right:
            raise Refused(
                Text(
                    en=f"reward_args: {name}.{key} is {value!r}; expected {wanted}",
                    ko=f"reward_args: {name}.{key} 값이 {value!r}입니다. 가능한 값: {wanted}",
                )
            )
    return given


class Reward:
    """A reward with its arguments bound, callable as TRL calls it.

    A completion that makes `judge` raise gets None; the reason is logged, counted (`rewards/<name>/failed` through
    TRL's `log_metric`) and kept for `take_failures`. Only `Exception` is caught: a stop signal passes through.
    """

    def __init__(self, reward: RewardSpec, args: Mapping[str, Any]) -> None:
        self.spec = reward
        self.args = dict(args)
        self.__name__ = reward.name
        self.bounds = reward.bounds
        self.failed = 0
        self._failures: deque[Failure] = deque(maxlen=KEPT_FAILURES)

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """One score a completion, in order; None where the reward does not apply or could not tell."""
        verdicts = self.verdicts(completions, **columns)
        failed = sum(failure for _, failure in verdicts)
        skipped = sum(verdict.score is None for verdict, _ in verdicts) - failed
        log_metric = columns.get("log_metric")
        if log_metric is not None:
            for what, count in (("failed", failed), ("skipped", skipped)):
                if count:
                    log_metric(f"rewards/{self.__name__}/{what}", float(count))
        return [verdict.score for verdict, _ in verdicts]

    def verdicts(self, completions: Sequence[Any], **columns: Any) -> list[tuple[Verdict, bool]]:
        """A verdict a completion, and whether it stands for a failure of the reward itself."""
        missing = [name for name in self.spec.columns if name not in columns]
        if missing:
            there = sorted(set(columns) - {"completion_ids", "trainer_state", "log_extra", "log_metric"})
            raise StudioError(
                Text(
                    en=f"the reward {self.__name__} needs the column {', '.join(missing)}; the rows have: "
                    f"{', '.join(there) or '-'}",
                    ko=f"보상 함수 {self.__name__}에는 {', '.join(missing)} 열이 필요합니다. 데이터에 있는 열: "
                    f"{', '.join(there) or '-'}",
                )
            )
        rows = range(len(completions))
        return [self._one(row, completions[row], {c: columns[c][row] for c in self.spec.columns}) for row in rows]

    def _one(self, row: int, completion: Any, values: dict[str, Any]) -> tuple[Verdict, bool]:
        try:
            verdict = self.spec.judge(completion_text(completion), **values, **self.args)
            return verdict._replace(score=_number(verdict.score)), False
        except Exception as error:
            self.failed += 1
            failure = Failure(self.__name__, row, str(completion)[:2000], repr(error), traceback.format_exc())
            self._failures.append(failure)
            log.warning("reward %s could not score row %d: %s", self.__name__, row, failure.traceback)
            return Verdict(None, reason=failure.error), True

    def take_failures(self) -> list[Failure]:
        """The failures since the last call, at most the last 64, for the recorder to store as events."""
        taken = list(self._failures)
        self._failures.clear()
        return taken


def _number(score: Any) -> float | None:
    """TRL's view of a score: NaN means None. Anything that is no finite number is an error of the reward."""
    if score is None:
        return None
    if isinstance(score, str):
        raise TypeError(f"a score must be a number or None, not {score!r}")
    value = float(score)
    if math.isinf(value):
        raise ValueError("a score must be finite, not an infinity")
    return None if math.isnan(value) else value


def get(name: str, args: Mapping[str, Any] | None = None) -> Reward:
    """The reward `name` with `args` bound. NotFound for an unknown name, Refused for a wrong argument."""
    return Reward(spec(name), check_args(name, args))
