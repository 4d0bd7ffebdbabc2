"""Rules of the stage `evaluate`: what it compares is there; rules of training do not concern it."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.report import Problem
from backend.config.rules.base import Facts, rule
from backend.config.schema import SETTINGS, RunConfig
from backend.evaluation import request
from backend.text import Text

GROUPS = frozenset({"model", "rewards", "hardware"})
FIELDS = frozenset({"stages", "evaluation", "evaluate_batch_size", "max_completion_length"})
OF_TRAINING = frozenset({"enough_rows", "held_out", "no_eval_rows"})


@rule("stages", "evaluation")
def can_be_evaluated(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.stages != ["evaluate"]:
        return
    given = config.evaluation
    for fault in request.faults(given, facts.home):
        shown = repr(fault.value)
        text = Text(f"{fault.key}={shown}: {fault.text.en}", f"{fault.key}={shown}: {fault.text.ko}")
        suggest = [{**given, fault.key: value} for value in fault.suggest]
        yield Problem("evaluation", given, text, suggest, f"evaluation_{fault.key}")


def concerns(config: RunConfig, problem: Problem) -> bool:
    """Whether a problem is one of this run: an evaluation trains nothing, and held-out rows of a run are already there,
    whatever has become of their source."""
    if config.stages != ["evaluate"]:
        return True
    group = SETTINGS[problem.field].group
    if group == "data":
        held_out = config.evaluation.get("data", request.HELD_OUT) == request.HELD_OUT
        return problem.field != "eval_size" and problem.code not in OF_TRAINING and not held_out
    return (group in GROUPS and problem.code not in OF_TRAINING) or problem.field in FIELDS
