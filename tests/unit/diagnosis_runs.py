"""Made-up runs for the rules: groups of a binary task whose solve rate follows a curve, with logs and evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from backend.config import load_preset
from backend.config.schema import RunConfig
from backend.diagnosis.engine import Engine, Standing, replay
from backend.diagnosis.facts import facts_of
from backend.diagnosis.records import Records
from backend.diagnosis.rules import find_rules
from storage.records import Completion, Evaluation, EvaluationItem, Generation, Group

Along = Callable[[float], float]  # of the share of the run that is done
Score = Callable[[np.random.Generator, np.ndarray, np.ndarray], Sequence[np.ndarray]]  # rng, right, tokens -> rewards


def config(**changes: Any) -> dict[str, Any]:
    """The quickstart's settings with changes."""
    return RunConfig.model_validate({**load_preset("quickstart").values, **changes}).to_dict()


def constant(value: float) -> Along:
    return lambda t: value


NONE, EIGHT, TWENTY = constant(0.0), constant(8.0), constant(20.0)


def ramp(first: float, last: float, until: float = 1.0) -> Along:
    return lambda t: first + (last - first) * min(1.0, t / until)


def only_accuracy(rng: np.random.Generator, right: np.ndarray, tokens: np.ndarray) -> Sequence[np.ndarray]:
    return (right.astype(float),)


def made(
    steps: int,
    solve: Along,
    *,
    held: Along | None = None,
    every: int = 10,
    rows: int = 128,
    groups: int = 8,
    size: int = 8,
    rho: float = 0.3,
    tokens: Along = TWENTY,
    truncated: Along = NONE,
    different: Along = EIGHT,
    curves: Mapping[str, Along] | None = None,
    score: Score = only_accuracy,
    prompts: int = 1000,
    text: Callable[[int, bool], str] = lambda n, right: f"<answer>{n}</answer>",
    total: int | None = None,
    seed: int = 0,
    **changes: Any,
) -> Records:
    """A run of `steps` steps with everything that happened.

    `held`: accuracy on `rows` held-out rows, before training and at every `every` steps (more never wrong rows are
    right, so that a paired comparison sees only the change). `different`: how many texts an answer is drawn from.
    """
    given = {"rewards": ["accuracy"], "reward_weights": [1.0], "reward_args": {}, "evaluate_steps": every, **changes}
    settings = config(**given)
    facts = facts_of(settings, settings["rewards"], total or steps)
    records = Records(facts)
    rng = np.random.default_rng(seed)
    weights = np.asarray(facts.weights)
    if held is not None:
        _evaluate(records, rng, "before", 0, rows, held(0.0))
    for step in range(1, steps + 1):
        t = step / steps
        p = min(max(solve(t), 1e-4), 1 - 1e-4)
        rates = rng.beta(p * (1 / rho - 1), (1 - p) * (1 / rho - 1), groups)
        right = rng.random((groups, size)) < rates[:, None]
        lengths = np.maximum(1, rng.normal(tokens(t), 0.1 * tokens(t), (groups, size)).round())
        scores = [np.asarray(each, dtype=float) for each in score(rng, right, lengths)]
        totals = sum((w * each for w, each in zip(weights, scores, strict=True)), np.zeros((groups, size)))
        cut = rng.random((groups, size)) < truncated(t)
        which = rng.integers(0, max(1, round(different(t))), (groups, size))
        records.add_generation(
            Generation(
                step,
                "train",
                facts.reward_names,
                tuple(
                    Group(
                        f"p{rng.integers(prompts)}",
                        f"What is the answer to question {g}?",
                        "text",
                        "1",
                        tuple(
                            Completion(
                                text(int(which[g, i]), bool(right[g, i])),
                                int(lengths[g, i]),
                                bool(cut[g, i]),
                                tuple(float(each[g, i]) for each in scores),
                                float(totals[g, i]),
                                0.0,
                            )
                            for i in range(size)
                        ),
                    )
                    for g in range(groups)
                ),
            )
        )
        logged = {
            "reward": float(totals.mean()),
            "step_time": 1.0,
            "loss": 0.0,
            "grad_norm": 0.3,
            "learning_rate": 1e-4,
        }
        logged |= {f"rewards/{n}/mean": float(s.mean()) for n, s in zip(facts.reward_names, scores, strict=True)}
        logged |= {"entropy": 0.3, "clip_ratio/region_mean": 0.0}
        records.add_metrics(step, logged | {name: along(t) for name, along in (curves or {}).items()})
        if held is not None and step % every == 0:
            _evaluate(records, rng, "during", step, rows, held(t))
    return records


def _evaluate(records: Records, rng: np.random.Generator, when: Any, step: int, rows: int, accuracy: float) -> None:
    """Row i is right where its fixed difficulty lies below the accuracy, but for a tenth that falls by chance."""
    ease = (np.arange(rows) + 0.5) / rows
    chance = rng.random(rows)
    right = np.where(np.arange(rows) % 10 == 0, chance < accuracy, ease < accuracy)
    items = tuple(
        EvaluationItem(f"row {i}", "text", str(i), "x", bool(r), True, 5, True, float(r)) for i, r in enumerate(right)
    )
    share = float(right.mean())
    records.add_evaluation(Evaluation(when, step, rows, share, 1.0, 5.0, 1.0, share, "made up", 0.1), items)


def watched(records: Records, *ids: str, ended: bool = True) -> Engine:
    """The rules `ids` (all without any) asked step by step."""
    return replay(records, [rule for rule in find_rules() if not ids or rule.id in ids], ended)


def standing(records: Records, rule_id: str, ended: bool = True) -> Standing:
    return watched(records, rule_id, ended=ended).standings[rule_id]


def state(records: Records, rule_id: str, ended: bool = True) -> str:
    return standing(records, rule_id, ended).state


def cut_at(records: Records, step: int) -> Records:
    """The same records as they stood after a step."""
    records.cut(step)
    return records


def logistic(low: float, high: float, middle: float = 0.3, steep: float = 12.0) -> Along:
    return lambda t: low + (high - low) / (1 + math.exp(-steep * (t - middle)))
