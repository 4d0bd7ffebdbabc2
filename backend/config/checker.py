"""`check`: typed values to a configuration, every problem in words, and what would happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from backend.config.coerce import coerce
from backend.config.layers import today
from backend.config.legacy import translate
from backend.config.notes import find_notes
from backend.config.plan import make_plan
from backend.config.report import Check, Note, Problem, as_change, change
from backend.config.rules import run_rules
from backend.config.rules.base import Facts
from backend.config.rules.evaluated import concerns
from backend.config.schema import FIELDS, RunConfig
from backend.config.surroundings import DATA_FIELDS, has_own_warmup, model_facts, own_rows, row_count
from backend.config.tried import Tried
from backend.estimate import DeviceFacts


def check(
    raw: Mapping[str, Any],
    home: Path | None = None,
    device: DeviceFacts | None = None,
    *,
    step_seconds: float | None = None,
    run_dir: Path | None = None,
) -> Check:
    """May this run start? All problems at once; never raises for bad input.

    `raw`: field names (old ones too) to values as YAML, JSON, a form or the command line give them.
    `home`: where fetched models and custom rewards lie; `run_dir`: the folder of a run that is resumed, which keeps
    its own, its rows too. `device`: None when unknown; the rules that depend on it then say nothing.
    `step_seconds`: measured on an earlier run like this one, for the time estimate.
    """
    values, notes, problems = translate(raw)
    good: dict[str, Any] = {}
    unreadable: set[str] = set()
    for name, value in values.items():
        typed, problem = coerce(name, value)
        if problem is None:
            good[name] = typed
        else:
            problems.append(problem)
            unreadable.add(name)
    provisional = RunConfig.model_validate(good)
    own = own_rows(run_dir)
    rows = own if own is not None or unreadable & DATA_FIELDS else row_count(provisional, home)
    model = None if unreadable & {"model", "model_args"} else model_facts(provisional, home)
    homes = tuple(path for path in (run_dir, home) if path is not None)
    facts = Facts(device, rows, model, homes, home, own, has_own_warmup(run_dir))
    if unreadable:
        tried = Tried(provisional, facts, frozenset(unreadable))
        problems = [tried.usable(p) if p.field in unreadable else p for p in problems]
    problems += run_rules(provisional, facts, frozenset(unreadable))
    problems = [
        _as_written(problem, raw)
        for problem in problems
        if problem.field in unreadable or concerns(provisional, problem)
    ]
    if unreadable:
        return Check(None, problems, notes, None)
    notes += find_notes(provisional, facts, set(good))
    return Check(provisional, problems, _unique(notes), make_plan(provisional, facts, step_seconds))


def _as_written(problem: Problem, raw: Mapping[str, Any]) -> Problem:
    """The problem under the old names that `raw` uses: today's name beside them would be refused as the second one."""
    old = {today(name): name for name, value in raw.items() if name not in FIELDS and value is not None}
    if not old.keys() & {problem.field, *(as_change(problem, each)[0] for each in problem.suggest)}:
        return problem
    field = old.get(problem.field, problem.field)
    suggest: list[Any] = []
    for each in problem.suggest:
        name, value = as_change(problem, each)
        name = old.get(name, name)
        if value is not None or name in FIELDS:  # nothing under an old name says nothing
            suggest.append(value if name == field else change(name, value))
    return replace(problem, field=field, suggest=suggest)


def _unique(notes: list[Note]) -> list[Note]:
    return list({(n.code, n.field, n.text.en): n for n in notes}.values())


__all__ = ["Check", "Note", "Problem", "check"]
