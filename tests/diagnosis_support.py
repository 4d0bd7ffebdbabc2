"""Records of runs that never were: groups with chosen scores, curves, evaluations."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend.config import RunConfig, load_preset
from backend.diagnosis.base import Finding
from backend.diagnosis.engine import Engine, replay
from backend.diagnosis.facts import facts_of
from backend.diagnosis.records import Records
from backend.diagnosis.rules import find_rules
from backend.text import Text
from storage.records import Completion, Evaluation, EvaluationItem, Event, Generation, Group

SIZE = 8
# One completion: the scores of the rewards, and what differs from an ordinary answer.
Made = tuple[tuple[float | None, ...], Mapping[str, Any]]


def config(**values: Any) -> dict[str, Any]:
    """The quickstart's settings with changes, as a run stores them."""
    return RunConfig(**{**load_preset("quickstart").values, **values}).to_dict()


def records(parameters: int | None = 996_000, **values: Any) -> Records:
    """An empty run with the quickstart's settings and changes."""
    facts = facts_of(config(**values), (), values.get("max_steps"))
    return Records(replace(facts, parameters=parameters))


def completion(given: Sequence[float | None], weights: Sequence[float], text: str, **other: Any) -> Completion:
    known = [score * weight for score, weight in zip(given, weights, strict=True) if score is not None]
    values = {"tokens": 20, "truncated": False, **other}
    return Completion(text=text, rewards=tuple(given), total=sum(known) if known else None, advantage=0.0, **values)


def group(
    run: Records,
    scores: Sequence[Sequence[float | None]],
    texts: Sequence[str] | None = None,
    truth: str | None = "50",
    prompt: str = "32+18",
    **other: Any,
) -> Group:
    """`scores`: those of each completion along the run's rewards."""
    said = texts or [f"step by step {i} <answer>{i}</answer>" for i in range(len(scores))]
    made = tuple(
        completion(given, run.facts.weights, text, **{k: v[i] if isinstance(v, list) else v for k, v in other.items()})
        for i, (given, text) in enumerate(zip(scores, said, strict=True))
    )
    return Group(prompt, prompt, "text", truth, made)


def add(run: Records, step: int, groups: Sequence[Group], **metrics: float) -> None:
    """One step of training: its groups, the means of its rewards as TRL logs them, and other metrics."""
    for i, one in enumerate(groups):
        groups = [*groups[:i], replace(one, prompt_id=f"{one.prompt_id}-{step}-{i}"), *groups[i + 1 :]]
    run.add_generation(Generation(step, "train", run.facts.reward_names, tuple(groups)))
    values = dict(metrics)
    every = [c for one in groups for c in one.completions]
    for k, name in enumerate(run.facts.reward_names):
        known = [score for c in every if (score := c.rewards[k]) is not None]
        if known:
            values.setdefault(f"rewards/{name}/mean", sum(known) / len(known))
    totals = [c.total for c in every if c.total is not None]
    if totals:
        values.setdefault("reward", sum(totals) / len(totals))
    values.setdefault("step_time", 1.0)
    values.setdefault("grad_norm", 0.1)
    run.add_metrics(step, values)


def right(run: Records, *aux: float) -> Group:
    return group(run, [(1.0, *aux)] * SIZE)


def wrong(run: Records, *aux: float) -> Group:
    return group(run, [(0.0, *aux)] * SIZE)


def mixed(run: Records, solved: int, *aux: float) -> Group:
    """`solved` of the eight answers are right."""
    return group(run, [(1.0 if i < solved else 0.0, *aux) for i in range(SIZE)])


def fill(run: Records, steps: int, make: Callable[[int, random.Random], Sequence[Group]], seed: int = 0) -> Records:
    """`make(step, rng)` gives the groups of each step."""
    rng = random.Random(seed)
    begin = max((g.step for g in run.groups), default=0)
    for step in range(begin + 1, begin + steps + 1):
        add(run, step, make(step, rng))
    return run


def evaluation(run: Records, when: str, step: int, right_rows: int, rows: int = 200) -> None:
    """The first `right_rows` of the rows are right."""
    items = tuple(
        EvaluationItem(f"p{i}", "text", str(i), "a", i < right_rows, True, 5, True, float(i < right_rows))
        for i in range(rows)
    )
    run.add_evaluation(
        Evaluation(when, step, rows, right_rows / rows, 1.0, 5.0, 1.0, right_rows / rows, "arithmetic", 1.0),  # pyright: ignore[reportArgumentType]
        items,
    )


def event(run: Records, kind: str, message: str) -> None:
    run.events.append(Event(len(run.events) + 1, 0.0, kind, "error", message))


def only(run: Records, *ids: str, ended: bool = True) -> Engine:
    """An engine that has asked these rules (all of them where none is named) over the whole run."""
    return replay(run, [rule for rule in find_rules() if not ids or rule.id in ids], ended)


def found(engine: Engine, ident: str) -> Finding | None:
    return next((finding for finding in engine.findings() if finding.rule.id == ident), None)


def fired(run: Records, ident: str) -> Finding:
    """The finding of a rule that must stand at the end."""
    finding = found(only(run, ident), ident)
    assert finding is not None, f"{ident} has not fired"
    assert finding.state == "fired", f"{ident} has {finding.state}"
    return finding


def words(finding: Finding) -> Text:
    assert finding.reading.text is not None
    return finding.reading.text


def state(run: Records, ident: str) -> str:
    return only(run, ident).standings[ident].state


def changed(finding: Finding) -> dict[str, Any]:
    return {change.field: change.new for change in finding.reading.change}
