"""The stage `evaluate`: two models answer the same rows, one after the other, and the figures are checked.

Everything that could make a difference but the weights is the same for both: rows, their order, prompts as token ids,
decoding, the random numbers of samples, scorers, data type. Items are stored after every batch of rows, in the order of
the rows, so that what is stored is always a beginning and an attempt that resumes goes on behind it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from backend.errors import StudioError
from backend.evaluation.proof_words import begun_anew
from backend.evaluation.request import HELD_OUT, Request, parse
from backend.text import Text
from backend.workers import evaluate_decoding as decoding
from backend.workers import proof_prompts, proof_rows, proof_shift, sides
from backend.workers.evaluate import identical_answers, judged_of, score, summarise
from backend.workers.fingerprint import fingerprint
from backend.workers.job import Job
from backend.workers.proof_examine import Examination
from backend.workers.rewards import Rewards
from storage.reader import Reader
from storage.records import Evaluation, EvaluationItem, EvaluationSample
from storage.runs import set_fields

STEP = 0  # an evaluation has no steps
FLUSH_S = 10.0


def run_evaluation(job: Job, prepare: sides.Prepare) -> None:
    """Evaluate both sides and check them; what is stored already is not done again. Raises StopHere on a stop.

    StudioError, in words, for a base that is not the run's, and for trained weights that change nothing.
    """
    Proof(job, parse(job.config.evaluation), prepare).run()


class Proof:
    def __init__(self, job: Job, request: Request, prepare: sides.Prepare) -> None:
        self.job, self.request = job, request
        job.writer.flush(FLUSH_S)  # what an earlier attempt left in its file is in the database before it is read
        self.reader = Reader(job.db)
        taken = proof_rows.take(job, request)
        job.enter("load")
        self.base, self.trained = sides.of_request(job, request, prepare)
        self.both = [side for side in (self.base, self.trained) if side is not None]
        self.tokenizers = proof_prompts.tokenizers(job, self.reader, self.base, self.trained)
        contexts = [sides.context_of(job, side) for side in self.both]
        self.given = len(taken)
        self.rows, self.left_out = proof_rows.fitting(job, taken, list(self.tokenizers.values()), contexts)
        if not self.rows:
            raise StudioError(
                Text(
                    en=f"data: none of the {self.given} rows can be answered; their prompts are too long, or there are "
                    "none. Use other rows, or a smaller max_completion_length.",
                    ko=f"data: {self.given}행 중 풀 수 있는 행이 없습니다(프롬프트가 너무 길거나 행이 없음). 다른 행을 "
                    "쓰거나 max_completion_length를 줄이세요.",
                )
            )
        self.name = "held-out" if request.data == HELD_OUT else job.config.dataset
        self.sampling = decoding.Sampling(request.seed, request.temperature, request.top_p)
        self.rewards = Rewards(job, self.tokenizers["base"], self.rows)
        self.scorers = self.rewards.scorers(list(self.rows[0]))
        set_fields(job.db, job.run.id, reward_names=self.rewards.names)
        self.examination = Examination(job, request, self.both, self.tokenizers, self._told())

    def run(self) -> None:
        for side in self.both:
            self._side(side)
        if self.trained is not None:
            self.examination.conclude({side.when: self._stored(side)[1] for side in self.both})

    # --- what both sides read ---

    def _told(self) -> list[proof_shift.Told]:
        """The training completions whose tokens are compared; none where the two sides do not read the same ids."""
        one_reader = len({id(t) for t in self.tokenizers.values()}) == 1
        if self.trained is None or not self.request.run or not one_reader:
            return []
        return proof_shift.chosen(self.job, self.request.run, self.trained.step, self.tokenizers["base"])

    # --- one side ---

    def _side(self, side: sides.Side) -> None:
        job = self.job
        stored, items = self._stored(side)
        facts = self.examination.known(side)
        if stored is not None and _other_weights(stored, side, side.weights):
            stored, items = self._anew(side, stored, items, side.weights)
        if stored is not None and stored.complete and facts is not None:
            return
        job.begin(f"evaluate_{side.when}", len(self.rows), len(items))
        job.enter("load")
        model = sides.load(job, side)
        with sides.precision(job):
            prompts = proof_prompts.prompts(job, self.tokenizers[side.when], self.rows)
            proof_prompts.require_readable(side, model, prompts)
            job.enter("fingerprint")
            found = fingerprint(model)
            if facts is not None and facts["fingerprint"] != found:
                facts = None  # under the same name, or in another data type
            if stored is not None and _other_weights(stored, side, found["exact"]):
                stored, items = self._anew(side, stored, items, found["exact"])
            facts = facts or self.examination.examine(side, model, found, prompts)
            job.enter(f"evaluate_{side.when}")
            if stored is None or not stored.complete:
                self._answer(side, model, prompts, items, facts, stored.seconds if stored else 0.0)
        del model
        _free()

    def _anew(
        self, side: sides.Side, stored: Evaluation, items: Sequence[EvaluationItem], weights: str | None
    ) -> tuple[None, list[EvaluationItem]]:
        """Stored answers belong to their weights: those of other ones are replaced, and it is told."""
        old = str(stored.settings.get("weights"))
        if side.weights == old:  # an adapter, and the model under it is another
            old, weights = str(stored.settings.get("under")), side.under
        data = {"when": side.when, "rows": len(items), "before": old, "now": weights}
        self.job.writer.event("evaluation_anew", begun_anew(side.when, len(items), old, str(weights)), "warn", data)
        return None, []

    def _stored(self, side: sides.Side) -> tuple[Evaluation | None, list[EvaluationItem]]:
        every = self.reader.evaluations(self.job.run.id, begun=True)
        found = next((e for e in every if (e.when, e.step, e.dataset) == (side.when, STEP, self.name)), None)
        return found, self.reader.evaluation_items(found.id) if found else []

    def _answer(
        self,
        side: sides.Side,
        model: Any,
        prompts: Sequence[list[int]],
        items: list[EvaluationItem],
        facts: dict[str, Any],
        seconds: float,
    ) -> None:
        """The rows behind those that are stored; a batch of rows and their samples at a time."""
        job, k = self.job, self.request.k
        tokenizer = self.tokenizers[side.when]
        eos_ids = sides.end_tokens(model, tokenizer)
        size = self.request.batch_size or job.config.evaluate_batch_size
        settings = self._settings(side, facts, size)
        began = time.perf_counter()
        together = max(1, size // (1 + k))
        for first in range(len(items), len(self.rows), together):
            rows = self.rows[first : first + together]
            wanted = [
                decoding.Wanted(prompts[first + i], first + i, sample)
                for i in range(len(rows))
                for sample in (None, *range(k))
            ]
            ids = decoding.generate(
                model,
                tokenizer,
                wanted,
                max_new_tokens=job.config.max_completion_length,
                batch_size=size,
                eos_ids=eos_ids,
                check_stop=job.stop.check,
                sampling=self.sampling,
            )
            scored, _ = score([row for row in rows for _ in range(1 + k)], ids, tokenizer, eos_ids, self.scorers)
            self.rewards.tell_failures()
            part = [_with_samples(scored[i : i + 1 + k]) for i in range(0, len(scored), 1 + k)]
            items.extend(part)
            so_far = self._summary(side, items, settings, seconds + time.perf_counter() - began)
            job.writer.evaluation_part(so_far, first, part)
            job.step(len(items))
        whole = self._summary(side, items, settings, seconds + time.perf_counter() - began)
        job.writer.evaluation(whole)
        self._tell(side, items)
        job.writer.flush(FLUSH_S)

    def _summary(
        self, side: sides.Side, items: Sequence[EvaluationItem], settings: dict[str, Any], seconds: float
    ) -> Evaluation:
        return summarise(
            items, judged_of(items), when=side.when, step=STEP, dataset=self.name, seconds=seconds, settings=settings
        )

    def _settings(self, side: sides.Side, facts: dict[str, Any], size: int) -> dict[str, Any]:
        request = self.request
        return {
            "model": side.name,
            "checkpoint": side.checkpoint,
            "step": side.step,
            "weights": side.weights or facts["fingerprint"]["exact"],
            "under": side.under,
            "greedy": True,
            "k": request.k,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
            "max_completion_length": self.job.config.max_completion_length,
            "batch_size": size,
            "rows": self.given,
            "left_out": self.left_out,
            "dtype": facts["fingerprint"]["dtype"],
        }

    def _tell(self, side: sides.Side, items: Sequence[EvaluationItem]) -> None:
        unknown = sum(item.correct is None for item in items)
        if unknown:
            self.job.writer.event(
                "evaluation_unjudged",
                f"{unknown} of {len(items)} answers of the {side.when} side could not be judged (their rows have no "
                "ground truth that the reward can read); they are in no accuracy",
                "warn",
                {"when": side.when, "rows": len(items), "judged": len(items) - unknown},
            )
        if identical_answers(items):
            words = f"all {len(items)} answers of the {side.when} side are the same"
            self.job.writer.event("identical_answers", words, "warn")


def _other_weights(stored: Evaluation, side: sides.Side, weights: str | None) -> bool:
    """Whether the stored answers are of other weights than the side's; `weights`: those of its files, or what was
    loaded where it has none here."""
    own = stored.settings.get("weights") != (side.weights or weights) and (side.weights or weights) is not None
    return own or stored.settings.get("under", side.under) != side.under


def _with_samples(scored: Sequence[EvaluationItem]) -> EvaluationItem:
    """One row's greedy answer with its samples: the first of `scored`, and the others."""
    samples = tuple(
        EvaluationSample(s.completion, s.tokens, s.eos, s.correct, s.reward, s.extracted) for s in scored[1:]
    )
    return replace(scored[0], samples=samples)


def _free() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
