"""The fake worker's evaluation after the fact: two sides whose answers are known, stored row by row as the real one
does. With n rows the base is right on every second one, the trained model on all but every tenth. With the seed
INACTIVE_SEED the trained weights turn out to be without effect, and it fails in words. With HELD_SEED its first attempt
stays at row HELD_AT until it is stopped: whoever stops it need not be quick."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from storage.reader import Reader
from storage.records import Evaluation, EvaluationItem, EvaluationSample

if TYPE_CHECKING:
    from tests.fakes.fake_worker import FakeWorker

PART = 2
INACTIVE_SEED = 13
HELD_SEED, HELD_AT = 21, 10
HASH, BASE = "9f" * 32, "ab" * 32
HOSTILE = "<img src=x onerror=\"document.title='owned'\"> \x1b[31m \u202e {{ value }}"
INACTIVE = "the trained weights change nothing: the adapter is inactive"


def right(side: str, row: int) -> bool:
    return row % 2 == 0 if side == "base" else row % 10 != 0


def item(side: str, row: int, k: int) -> EvaluationItem:
    """One row: problem `row`, its answer and k samples, of which all but one in three are right where it is."""
    correct = right(side, row)
    answer = str(row + 1 if correct else row + 2)
    samples = tuple(_sample(row, correct and number % 3 != 2) for number in range(k))
    return EvaluationItem(
        prompt=f"What is {row} + 1?",
        prompt_format="text",
        ground_truth=str(row + 1),
        completion=f"{HOSTILE if row % 7 == 1 else side}\n<answer>{answer}</answer>",
        correct=correct,
        formatted=True,
        tokens=10 + row % 5,
        eos=True,
        reward=1.2 if correct else 0.2,
        strict=correct,
        extracted=answer,
        reason="equal to the ground truth" if correct else "not the ground truth",
        rewards={"accuracy": float(correct), "format": 1.0},
        columns={"digits": 1 if row < 10 else 2},
        samples=samples,
    )


def _sample(row: int, correct: bool) -> EvaluationSample:
    answer = str(row + 1 if correct else row + 2)
    return EvaluationSample(f"<answer>{answer}</answer>", 5, True, correct, 1.2 if correct else 0.2, answer)


def evaluate(worker: FakeWorker) -> bool:
    """Both sides, then what is known of the weights; True where it was stopped. A resume goes on with the next row."""
    asked = dict(worker.run.config.get("evaluation") or {})
    n, k = min(int(asked.get("n") or 20), 40), int(asked.get("k") or 0)
    done = {
        one.when: len(Reader(worker.db).evaluation_items(one.id))
        for one in Reader(worker.db).evaluations(worker.run.id, begun=True)
    }
    for side in ("base", "trained"):
        if _side(worker, side, n, k, asked, done.get(side, 0)):
            return True
    inactive = asked.get("seed") == INACTIVE_SEED
    _results(worker, inactive)
    if inactive:
        raise ValueError(INACTIVE)
    return False


def _side(worker: FakeWorker, side: Any, n: int, k: int, asked: dict[str, Any], done: int) -> bool:
    weights = BASE if side == "base" else HASH
    settings = {"greedy": True, "k": k, "seed": asked.get("seed", 0), "temperature": asked.get("temperature", 1.0)}
    settings |= {"rows": n, "left_out": 0, "weights": weights, "checkpoint": asked.get("checkpoint", "final")}
    items = [item(side, row, k) for row in range(n)]
    share = sum(bool(one.correct) for one in items) / n
    dataset = str(worker.run.config.get("dataset"))
    whole = Evaluation(side, 0, n, share, 1.0, 12.0, 1.0, 0.2 + share, dataset, 0.1, settings=settings)
    for first in range(done - done % PART, n, PART):
        worker.writer.progress(f"evaluate_{side}", first, n, eta_s=(n - first) * worker.step_s)
        time.sleep(worker.step_s)
        while asked.get("seed") == HELD_SEED and first == HELD_AT and worker.first and not worker.term:
            time.sleep(worker.step_s)
        worker.writer.evaluation_part(whole, first, items[first : first + PART])
        if worker.term:
            return True
    worker.writer.progress(f"evaluate_{side}", n, n)
    worker.writer.evaluation(whole)
    return False


def _results(worker: FakeWorker, inactive: bool) -> None:
    words = {"en": "The trained weights answered.", "ko": "학습된 가중치가 답했습니다."}
    if inactive:
        words = {"en": "The trained weights change nothing.", "ko": "학습된 가중치가 아무것도 바꾸지 않습니다."}
    worker.writer.result(
        "adapter",
        {
            "hash": HASH, "kind": "adapter", "max_logit_difference": 0.0 if inactive else 3.5, "prompts": 8,
            "base_hash": BASE, "base_expected": BASE, "identical_outputs": inactive,
            "verdict": "inactive" if inactive else "active", "words": words,
        },
    )  # fmt: skip
    worker.writer.result(
        "padding",
        {
            "rows": 8, "same": 8, "max_logit_difference": 1e-5, "verdict": "ok",
            "words": {"en": "Batching changes no answer.", "ko": "배치가 답을 바꾸지 않습니다."},
        },
    )  # fmt: skip
    tokens = [{"text": text, "base": -1.0, "trained": -1.0 + delta} for text, delta in _TOKENS]
    example = {"prompt": "What is 2 + 1?", "completion": "".join(text for text, _ in _TOKENS), "tokens": tokens}
    worker.writer.result(
        "shift",
        {
            "positive": {"tokens": 400, "completions": 40, "mean": 0.2, "low": 0.1, "high": 0.3},
            "negative": {"tokens": 300, "completions": 30, "mean": -0.3, "low": -0.4, "high": -0.2},
            "steps": [1, 40],
            "words": {"en": "The mechanism works.", "ko": "학습 원리가 작동합니다."},
            "examples": [example | {"advantage": 1.0}, example | {"advantage": -1.0}],
        },
    )


_TOKENS = (("<answer>", 0.5), ("3", 1.8), ("\n", -0.4), ("<b>bold</b>", -2.5), ("\x1b", 0.0), ("</answer>", 0.05))
