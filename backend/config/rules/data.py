"""Rules about rows that are kept apart."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.report import Problem, change
from backend.config.rules.base import Facts, rule
from backend.config.schema import RunConfig
from backend.text import Text


@rule("eval_size", "eval_strategy")
def rows_to_evaluate(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """`eval_strategy` without `eval_dataset` fails when the trainer is built."""
    if config.eval_strategy != "no" and (config.eval_size == 0 or facts.eval_rows == 0):
        text = Text("evaluation during training needs held-out rows: eval_size is 0",
                    "학습 중 평가에는 평가용 행이 필요한데 eval_size가 0입니다")  # fmt: skip
        yield Problem("eval_strategy", config.eval_strategy, text, ["no", change("eval_size", 200)], "no_eval_rows")
