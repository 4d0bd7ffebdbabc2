"""Suggestions for a value that could not be read, tried before they are made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from backend.config.coerce import coerce
from backend.config.report import Problem, as_change
from backend.config.rules.base import MOST, Facts, find_all
from backend.config.schema import RunConfig


@dataclass(frozen=True, slots=True)
class Tried:
    """A configuration in which the fields that nobody could read, `unreadable`, hold their defaults."""

    config: RunConfig
    facts: Facts
    unreadable: frozenset[str]

    def usable(self, problem: Problem) -> Problem:
        """The problem with those of its values that break no rule in their turn, then what these rules would offer
        instead; with all of them where none will do."""
        good: list[Any] = []
        offered: list[Any] = []
        for value in problem.suggest:
            broken = self._broken(problem.field, value)
            if not broken:
                good.append(value)
            for other in broken:
                changes = [as_change(other, each) for each in other.suggest]
                offered += [new for name, new in changes if name == problem.field]
            if len(good) == MOST - 1:
                break
        more = [value for value in offered if value not in good and value not in problem.suggest]
        if len(good) < 2:
            once = [value for at, value in enumerate(more) if value not in more[:at]]
            good += [value for value in once if not self._broken(problem.field, value)][: 2 - len(good)]
        return replace(problem, suggest=good or problem.suggest[: MOST - 1])

    def _broken(self, name: str, value: Any) -> list[Problem]:
        typed, fault = coerce(name, value)
        if fault is not None:
            return [fault]
        with_it = self.config.model_copy(update={name: typed})
        return find_all(with_it, self.facts, self.unreadable - {name}, {name})
