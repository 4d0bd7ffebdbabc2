"""How a rule between fields is written, and how all of them are run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from backend import custom
from backend.config.bounds import bound_broken
from backend.config.report import Problem, as_change
from backend.config.schema import SETTINGS, RunConfig
from backend.config.surroundings import DATA_FIELDS, row_count
from backend.estimate import DeviceFacts
from backend.models import ModelFacts

MOST = 5  # suggestions beside a problem
PROCESSES = 1  # one run is one process on one device


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about the surroundings. None is "unknown": the rules that need it say nothing.

    `homes`: where custom rewards are looked for, a run's own folder before the home.
    """

    device: DeviceFacts | None = None
    rows: int | None = None
    model: ModelFacts | None = None
    homes: tuple[Path, ...] = ()
    home: Path | None = None  # where the stored sets lie
    own_rows: int | None = None  # that a resumed run has in its folder, whatever has become of their source
    own_warmup: bool = False


RuleFunction = Callable[[RunConfig, Facts], Iterable[Problem]]


@dataclass(frozen=True, slots=True)
class Rule:
    """`fields`: all that the rule reads. If one of them could not be read itself, the rule is not asked."""

    fields: frozenset[str]
    find: RuleFunction


RULES: list[Rule] = []


def rule(*fields: str) -> Callable[[RuleFunction], RuleFunction]:
    """Register a rule that reads these fields."""
    unknown = [f for f in fields if f not in RunConfig.model_fields]
    if unknown:
        raise ValueError(f"a rule names fields that do not exist: {unknown}")

    def register(function: RuleFunction) -> RuleFunction:
        RULES.append(Rule(frozenset(fields), function))
        return function

    return register


def installed(package: str) -> bool:
    """Whether a Python package can be imported here, without importing it."""
    return importlib.util.find_spec(package) is not None


def custom_homes(facts: Facts) -> dict[str, Path]:
    """Each custom reward that is known, with the folder that it is read from; none on a public Space."""
    if custom.on_space():
        return {}
    return {name: home for home in reversed(facts.homes) for name in custom.Library(home).names()}


def device_kind(config: RunConfig, facts: Facts) -> str | None:
    """cpu, cuda or mps: what the run would really use; None when the device is unknown."""
    if config.use_cpu:
        return "cpu"
    return facts.device.kind if facts.device else None


def find_all(
    config: RunConfig, facts: Facts, unreadable: frozenset[str] = frozenset(), about: Collection[str] = ()
) -> list[Problem]:
    """Every broken rule, without looking at its suggestions; only of those that read one of `about` where given."""
    return _find([r for r in _readable(unreadable) if not about or r.fields & set(about)], config, facts)


def run_rules(config: RunConfig, facts: Facts, unreadable: frozenset[str] = frozenset()) -> list[Problem]:
    """Every broken rule; of each one's suggestions only those that mend it, and of these those that break nothing
    else, where there are any."""
    rules = _readable(unreadable)
    out: list[Problem] = []
    for one in rules:
        for problem in one.find(config, facts):
            once = [s for i, s in enumerate(problem.suggest) if s not in problem.suggest[:i]]
            left = [(s, _after(rules, config, facts, problem, s)) for s in once]
            good = [s for s, new in left if new is not None and not new] or [s for s, new in left if new is not None]
            out.append(Problem(problem.field, problem.value, problem.rule, good[:MOST], problem.code))
    return out


def _readable(unreadable: frozenset[str]) -> list[Rule]:
    return [r for r in RULES if not r.fields & unreadable]


def _find(rules: list[Rule], config: RunConfig, facts: Facts) -> list[Problem]:
    return [p for r in rules for p in r.find(config, facts)]


def _after(
    rules: list[Rule], config: RunConfig, facts: Facts, problem: Problem, suggestion: object
) -> set[tuple[str, str]] | None:
    """The problems that a suggestion brings; None when it does not make its own go. Only rules that read the changed
    field are asked."""
    name, value = as_change(problem, suggestion)
    if getattr(config, name) == value or bound_broken(SETTINGS[name], value) is not None:
        return None
    changed = config.model_copy(update={name: value})
    concerned = [r for r in rules if name in r.fields]
    before = {_key(p) for p in _find(concerned, config, facts)}
    if name in DATA_FIELDS and facts.own_rows is None:
        facts = replace(facts, rows=row_count(changed, facts.home))
    if name in ("model", "model_args"):
        facts = replace(facts, model=None)  # the sizes belong to the model as it was
    after = {_key(p) for p in _find(concerned, changed, facts)}
    return after - before if _key(problem) in before - after else None


def _key(problem: Problem) -> tuple[str, str]:
    return problem.code, problem.field
