"""Runs with everything that a report shows, made in the database without any training."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from backend import runs, views
from backend.config.schema import RunConfig
from backend.evaluation.service import EvaluationService
from backend.headline import for_run
from backend.settings import Settings
from storage.reader import Reader
from storage.records import Evaluation, EvaluationItem, EvaluationSample, Run, RunState, When
from storage.runs import create_run, tell, transition
from tests.storage_support import Store, open_store

RUN, EVALUATION, CONTROL = "20261129-134500-ab2c", "20261129-144500-ab2d", "20261129-154500-ab2e"
# What breaks out of HTML, of attributes, of templates, of markdown; what hides and what reorders.
HOSTILE = (
    "<script>alert(1)</script> \"'&amp; </textarea></style></title></pre> {{7*7}} {% raw %} ${7*7} \x00\x1b[31m"
    "\u202e rtl \ud800 \u200b <!-- --> ]]> <img src=x onerror=alert(1)>\n```\n# heading\n~~~~\n| a | b |\n"
    "[x](javascript:alert(1)) \\"
)
ENVIRONMENT: dict[str, Any] = {
    "grpo_studio": "0.1.0",
    "python": "3.11.7",
    "packages": {"torch": "2.9.0", "transformers": "5.0.0", "trl": "1.0.0", "peft": "0.19.0"},
    "device": {"kind": "cpu", "name": "A CPU", "cores": 2, "threads": 2, "memory_bytes": 16_000_000_000},
    "system": "Linux x86_64",
}


class Evaluations(EvaluationService):
    """The real one. Each report is made once a database: 10,000 resamples take their time, and are always the same."""

    def __init__(self, services: Any, made: dict[str, dict[str, Any]]) -> None:
        super().__init__(services)
        self.made = made

    def report(self, run_id: str) -> dict[str, Any]:
        if run_id not in self.made:
            self.made[run_id] = super().report(run_id)
        return self.made[run_id]


@dataclass
class Bench:
    """A home with a database; stands where Services would, as far as a report goes."""

    store: Store
    settings: Settings
    made: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def reader(self) -> Reader:
        return self.store.reader

    @property
    def evaluation(self) -> Evaluations:
        return Evaluations(self, self.made)

    def get(self, run_id: str) -> Run:
        run = self.reader.run(run_id)
        if run is None:
            raise runs.not_found(run_id)
        return run

    def headline(self, run_id: str) -> dict[str, Any]:
        stored = self.reader.results(run_id).get("diagnosis", {}).get("headline")
        return stored or for_run(self.reader, run_id, ended=self.get(run_id).state.ended).to_json()

    def view(self, run_id: str) -> dict[str, Any]:
        return views.run_view(self.get(run_id), self.reader.latest(run_id), now=0.0)

    def create(self, run_id: str, name: str, **config: Any) -> None:
        create_run(self.store.db, run_id, name, RunConfig(**config).to_dict(), "quickstart", ("accuracy", "format"))

    def end(self, run_id: str, state: RunState = RunState.SUCCEEDED, reason: str | None = None) -> None:
        assert transition(self.store.db, run_id, RunState.QUEUED, RunState.STARTING)
        assert transition(self.store.db, run_id, RunState.STARTING, RunState.RUNNING)
        assert transition(self.store.db, run_id, RunState.RUNNING, state, reason=reason)

    def evaluated(self, run_id: str, sides: dict[When, list[EvaluationItem]], step: int = 0) -> None:
        writer = self.store.writer(run_id=run_id)
        for when, items in sides.items():
            writer.evaluation(summary(when, step, items), items)
        assert writer.close()

    def results(self, run_id: str, **found: dict[str, Any]) -> None:
        writer = self.store.writer(run_id=run_id)
        for name, data in found.items():
            writer.result(name, data)
        assert writer.close()

    def curves(self, run_id: str, steps: int, value: Callable[[int, str], float]) -> None:
        names = ("reward", "rewards/accuracy/mean", "rewards/format/mean", "signal/zero_std", "signal/all_right",
                 "signal/all_wrong", "signal/tied", "completions/mean_length", "completions/min_length",
                 "completions/max_length", "entropy")  # fmt: skip
        writer = self.store.writer(run_id=run_id)
        for step in range(1, steps + 1):
            writer.metrics(step, "train", {name: value(step, name) for name in names})
        assert writer.close()

    def tell(self, run_id: str, kind: str, message: str, level: Literal["info", "warn", "error"], **data: Any) -> None:
        tell(self.store.db, run_id, kind, message, level, data)


def bench(folder: Path) -> Bench:
    return Bench(open_store(folder, ()), Settings(folder))


def item(row: int, correct: bool | None, text: str = "", **more: Any) -> EvaluationItem:
    plain: dict[str, Any] = {
        "prompt": f"{row}+{row}=?", "prompt_format": "text", "ground_truth": str(2 * row), "formatted": True,
        "completion": text or f"<answer>{2 * row if correct else row}</answer>", "tokens": 5 + row % 3, "eos": True,
        "reward": 1.2 if correct else 0.2, "strict": correct, "extracted": str(2 * row if correct else row),
        "columns": {"digits": 1 if row < 10 else 2}, "correct": correct,
    }  # fmt: skip
    return EvaluationItem(**(plain | more))


def side(
    right: Callable[[int], bool | None], n: int = 60, k: int = 0, text: str = "", **more: Any
) -> list[EvaluationItem]:
    """`n` rows, of which `right` says whether they are answered rightly; `k` samples each."""
    found = [item(row, right(row), text, **more) for row in range(n)]
    if not k:
        return found
    sample = EvaluationSample("<answer>1</answer>", 5, True, True, 1.2, "1")
    wrong = replace(sample, correct=False, reward=0.2, extracted="0")
    return [
        replace(each, samples=(*([sample] * (k // 2 if each.correct else 1)), *([wrong] * k))[:k]) for each in found
    ]


def summary(when: When, step: int, items: list[EvaluationItem]) -> Evaluation:
    judged = [each.correct for each in items if each.correct is not None]
    n = len(items)
    return Evaluation(
        when, step, len(judged) or n, sum(judged) / len(judged) if judged else math.nan, 1.0,
        sum(each.tokens for each in items) / n, 1.0, 0.9, "arithmetic", 1.0,
    )  # fmt: skip


def rising(step: int, name: str) -> float:
    """Curves that look like a run that learns, with a hole in some of them."""
    if step in (30, 31, 50) and name in ("reward", "entropy"):
        return math.nan
    share = min(1.0, 0.2 + step / 80)
    if name.startswith("completions/"):
        return 12 + {"mean": 0, "min_": -6, "max_": 9}[name[12:16]] + math.sin(step)
    if name.startswith("signal/"):
        return {"zero_std": 0.2 + share / 3, "all_right": share / 3, "all_wrong": 0.15, "tied": 0.05}[name[7:]]
    return {"reward": share + 0.2, "entropy": 0.4 * (1.2 - share)}.get(name, share) + 0.05 * math.sin(3 * step)


ADAPTER: dict[str, Any] = {
    "hash": "ab" * 32, "kind": "full", "max_logit_difference": 3.25, "prompts": 8, "base_hash": "cd" * 32,
    "base_expected": "cd" * 32, "identical_outputs": False, "verdict": "active",
    "words": {"en": "The trained weights answered.", "ko": "학습된 가중치가 답했습니다."},
}  # fmt: skip
PADDING: dict[str, Any] = {"rows": 16, "same": 16, "max_logit_difference": 1e-5, "verdict": "ok",
                           "words": {"en": "The same.", "ko": "같습니다."}}  # fmt: skip
SHIFT: dict[str, Any] = {
    "positive": {"tokens": 900, "completions": 40, "mean": 0.12, "low": 0.08, "high": 0.16},
    "negative": {"tokens": 800, "completions": 40, "mean": -0.21, "low": -0.27, "high": -0.15},
    "steps": [1, 60], "words": {"en": "The mechanism works.", "ko": "의도대로 움직였습니다."}, "examples": [],
}  # fmt: skip


def whole(folder: Path, hostile: str = "") -> Bench:
    """A finished run with all there is: curves with gaps, evaluations of every moment, proof, control, other sets.

    `hostile`: text that takes the place of every name, message, prompt and answer.
    """
    made = bench(folder)
    name = hostile or "덧셈"
    made.create(
        RUN, name, dataset=hostile or "arithmetic", rewards=["accuracy", "format"], reward_weights=[1.0, 0.2],
        max_steps=60, reward_args={"format": {"content": hostile or "number"}},
        lr_scheduler_kwargs={hostile.replace("\ud800", ""): hostile} if hostile else None,
    )  # fmt: skip
    made.curves(RUN, 60, rising)
    text: dict[str, Any] = {"text": hostile} if hostile else {}
    more = text | ({"prompt": hostile, "ground_truth": hostile, "extracted": hostile,
                    "columns": {hostile: hostile}} if hostile else {})  # fmt: skip
    made.evaluated(RUN, {"before": side(lambda row: row % 3 == 0, **more)})
    for step in (20, 40):
        made.evaluated(RUN, {"during": side(lambda row, step=step: row % 60 < 20 + step // 2, **more)}, step)
    moments: dict[When, list[EvaluationItem]] = {
        "best": side(lambda row: row % 4 > 0, 30, **more), "last": side(lambda row: row % 3 > 0, 30, **more),
        "after": side(lambda row: None if row == 7 else row % 10 > 0, **more),
    }  # fmt: skip
    made.evaluated(RUN, moments, 60)
    made.results(RUN, environment=ENVIRONMENT, rows={"train_sha256": "12" * 32, "eval_sha256": "34" * 32},
                 best={"words": {"en": "The peak holds.", "ko": "최고점이 유지됩니다."}})  # fmt: skip
    made.tell(RUN, "data", "arithmetic: 2000 rows", "info", dataset=name, train=2000, eval=60, sha256=None)
    words = {"en": hostile or "The task is easy.", "ko": hostile or "쉬운 문제입니다."}
    made.tell(RUN, "accepted", hostile or "started all the same", "warn", id=hostile or "1.2", reward=None, words=words)
    made.tell(RUN, "rows_dropped", hostile or "3 of 2000 training rows", "warn", dropped=3, rows=2000, limit=512)
    if hostile:
        made.tell(RUN, "something_new", hostile, "error")
        made.tell(RUN, "reward_error", hostile, "error", reward=hostile, row=1, completion=hostile, traceback=hostile)
    made.end(RUN, reason=hostile or None)
    asked = {"run": RUN, "checkpoint": hostile or "best", "data": "held-out", "n": 60, "k": 4}
    made.create(EVALUATION, "평가", stages=["evaluate"], evaluation=asked)
    sides: dict[When, list[EvaluationItem]] = {
        "base": side(lambda row: row % 3 == 0, k=4, **more), "trained": side(lambda row: row % 10 > 0, k=4, **more)
    }  # fmt: skip
    made.evaluated(EVALUATION, sides)
    made.results(EVALUATION, adapter=ADAPTER, padding=PADDING, shift=SHIFT)
    made.end(EVALUATION)
    made.create(CONTROL, hostile or "섞은 보상", shuffle_rewards=True, control_of=RUN)
    made.evaluated(CONTROL, {"before": side(lambda row: row % 3 == 0), "after": side(lambda row: row % 3 == 1)}, 60)
    made.end(CONTROL)
    return made
