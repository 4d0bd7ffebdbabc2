"""Evaluations while training: on a schedule, within a budget of time; the best of them is kept and examined at the end.

An evaluation changes nothing of the training: it stands between two optimizer steps, reads the weights, and gives every
stream of random numbers back as it found it.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from backend.workers import checkpoints, schedule
from backend.workers.best import Best, conclusion
from storage.reader import Reader
from storage.records import EvaluationItem, When

if TYPE_CHECKING:
    from backend.workers.grpo import GRPOStage


@contextlib.contextmanager
def untouched_random_numbers() -> Iterator[None]:
    """Whatever draws inside (a reward, say), Python's, NumPy's and torch's streams go on outside as if nothing had."""
    python, numpy, cpu = random.getstate(), np.random.get_state(), torch.get_rng_state()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else None
    mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(cpu)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
        if mps is not None:
            torch.mps.set_rng_state(mps)


class During:
    """What the stage does at the end of each step, and once after the last."""

    def __init__(self, stage: GRPOStage) -> None:
        self.stage, self.job = stage, stage.job
        config = self.job.config
        self.choosing, self.fresh = schedule.split(stage.held_out, config.evaluate_rows)
        self.every = config.evaluate_steps if self.choosing else None
        self.best = Best(self.job.run_dir)
        self.budget = schedule.Budget(config.evaluate_share)
        self._done: set[int] = set()
        self._told = False
        self._total = 0
        self._left_out = 0

    def begin(self, step: int, total: int) -> None:
        """Before training goes on after `step` (0: from the start) to `total`."""
        self._total = total
        for words in self.best.recover(step, len(self.choosing)):
            self.job.writer.event("best_dropped", words, "warn", {"step": step})
        if self.job.config.evaluate_steps and not self.choosing:
            self.job.writer.event("evaluation_skipped", "there are no held-out rows to evaluate on", "warn")
        if not self.every:
            return
        reader, run_id = Reader(self.job.db), self.job.run.id
        stored = reader.evaluations(run_id)
        for evaluation in stored:
            if evaluation.when == "during" and evaluation.step <= step:
                self._done.add(evaluation.step)
                self.budget.took(evaluation.seconds)
            elif evaluation.when == "before" and not self._done:
                self.budget.expected_s = evaluation.seconds * len(self.choosing) / len(self.stage.held_out)
        if step:
            _, curves = reader.history(run_id, 2000, names=("step_time",))
            times = curves.get(("train", "step_time"), ((), ()))[1]
            self.budget.training_s = step * float(np.mean(times)) if len(times) else 0.0
        self._foretell(step)

    def trained(self, seconds: float) -> None:
        """An optimizer step took so long."""
        self.budget.training_s += seconds

    def after_step(self, step: int) -> float:
        """Evaluate if it is time to. Returns the seconds that went by. StopHere on a stop: a resume does it then."""
        if not schedule.is_due(step, self.every) or step in self._done:
            return 0.0
        if not self.budget.allows_next:
            self._leave_out(step)
            return 0.0
        begin = time.perf_counter()
        self.job.enter("evaluate_during")
        with untouched_random_numbers():
            self._evaluate(step)
        self.job.enter("update")
        took = time.perf_counter() - begin
        self.budget.took(took)
        self._foretell(step)
        if self.job.clock is not None:
            self.job.clock.aside(took)
        return took

    def _evaluate(self, step: int) -> None:
        stage, job = self.stage, self.job
        summary, items = stage.answer(
            self.choosing,
            "during",
            step,
            on_batch=lambda done: job.step(step),  # a sign of life; the step is done
            settings={"left_fresh": len(self.fresh)},
        )
        job.writer.evaluation(summary, items)
        self._done.add(step)
        if job.config.keep_best:
            self.best.offer(summary, len(self.choosing), job.run.id, stage.write_weights)

    def _leave_out(self, step: int) -> None:
        self._left_out += 1
        if not self._told:
            self._told = True
            data = {"step": step, **self.budget.numbers()}
            self.job.writer.event("evaluation_over_budget", self.budget.words(step), "warn", data)

    def _foretell(self, step: int) -> None:
        """What is still to come after training, for the time left: evaluations on the way, the one after, the two on
        fresh rows."""
        clock, config = self.job.clock, self.job.config
        if clock is None:
            return
        each = self.budget.expected_s
        later = self.job.evaluation_s if config.evaluate_after else 0.0
        if config.keep_best:
            later += 2 * each * len(self.fresh) / len(self.choosing)
        clock.after_s = later + each * schedule.left(step, self._total, self.every)

    # -- at the end ----------------------------------------------------------------------------------------------

    def conclude(self, last_step: int, last: Path) -> None:
        """Rule T1: the best and the last weights on rows that chose neither. `last`: where the last ones are saved,
        which are in memory again at the end. StopHere on a stop; what is scored by then is not scored again."""
        self._examine(last_step, last)
        self.best.settle()

    def _examine(self, last_step: int, last: Path) -> None:
        if self._left_out:
            words = f"{self._left_out} evaluations while training were left out: over evaluate_share"
            self.job.writer.event("evaluations_left_out", words, "info", {"left_out": self._left_out})
        if not self.every or not self.job.config.keep_best:
            return
        kept = self.best.kept()
        if kept is None:
            if self._done:
                words = "no evaluation while training had an accuracy to choose the best weights by"
                self.job.writer.event("best_unknown", words, "warn")
            return
        answers = None
        if kept["step"] != last_step and self.fresh:
            answers = self._on_fresh_rows(int(kept["step"]), last_step, last)
        self.job.writer.result("best", conclusion(kept, last_step, answers))

    def _on_fresh_rows(
        self, best_step: int, last_step: int, last: Path
    ) -> tuple[list[EvaluationItem], list[EvaluationItem]]:
        self.job.begin("evaluate_fresh", 2 * len(self.fresh), after_s=self.job.evaluation_s)
        after = self._scored("last", last_step, 0)
        before = self._stored("best", best_step)
        if before is None:
            problem = checkpoints.problem(self.best.folder)
            if problem is not None:
                raise RuntimeError(f"{self.best.folder} cannot be loaded: {problem}")
            self.stage.trainer.load_weights(self.best.folder)
            try:
                before = self._scored("best", best_step, len(self.fresh))
            finally:
                self.stage.trainer.load_weights(last)
        return before, after

    def _scored(self, when: When, step: int, done: int) -> list[EvaluationItem]:
        found = self._stored(when, step)
        if found is not None:
            return found
        summary, items = self.stage.answer(
            self.fresh,
            when,
            step,
            on_batch=lambda some: self.job.step(done + some),
            settings={"fresh": True},
        )
        self.job.writer.evaluation(summary, items)
        return items

    def _stored(self, when: When, step: int) -> list[EvaluationItem] | None:
        reader = Reader(self.job.db)
        found = [e for e in reader.evaluations(self.job.run.id) if (e.when, e.step) == (when, step)]
        return reader.evaluation_items(found[-1].id) if found else None
