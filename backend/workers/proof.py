"""The stage `evaluate`: two models answer the same rows, one after the other, and the figures are checked.

Everything that could make a difference but the weights is the same for both: rows, their order, prompts as token ids,
decoding, the random numbers of samples, scorers, data type. Items are stored after every batch of rows, in the order of
the rows, so that what is stored is always a beginning and an attempt that resumes goes on behind it.
"""

from __future__ import annotations

import gc
import json
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from backend.errors import StudioError
from backend.evaluation.proof_words import adapter_words, base_differs
from backend.evaluation.request import HELD_OUT, Request, parse
from backend.text import Text
from backend.workers import evaluate_decoding as decoding
from backend.workers import proof_checks, proof_rows, proof_shift, sides
from backend.workers import rows as run_rows
from backend.workers.evaluate import identical_answers, judged_of, score, summarise
from backend.workers.fingerprint import compare, fingerprint
from backend.workers.job import Job
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
        self.folder = job.run_dir / "evaluation"
        self.folder.mkdir(parents=True, exist_ok=True)
        taken = proof_rows.take(job, request)
        job.enter("load")
        self.base, self.trained = sides.of_request(job, request, prepare)
        self.both = [side for side in (self.base, self.trained) if side is not None]
        self.tokenizers = self._tokenizers()
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
        self.told = self._told()

    def run(self) -> None:
        for side in self.both:
            self._side(side)
        if self.trained is not None:
            self._conclude(self.trained)

    # --- what both sides read ---

    def _tokenizers(self) -> dict[str, Any]:
        """One for both sides where their vocabularies are the same: the base's. Where not, each its own, and told."""
        base = sides.tokenizer_of(self.job, self.base.model)
        found = {"base": base}
        if self.trained is None:
            return found
        own = sides.own_tokenizer(self.job, self.trained)
        same = own.get_vocab() == base.get_vocab()
        found["trained"] = base if same else own
        if not same:
            self._tell_template(
                "tokenizer_differs",
                "the two sides have different tokenizers: each reads the same messages in its own way, so their "
                "prompts are not the same token by token",
            )
        elif own.chat_template != base.chat_template:
            self._tell_template(
                "template_differs",
                "the trained model was saved with another chat template than the base's; both sides are asked with the "
                "base's, as in training",
            )
        return found

    def _tell_template(self, kind: str, words: str) -> None:
        if not any(event.kind == kind for event in self.reader.events(self.job.run.id)):
            self.job.writer.event(kind, words, "warn")

    def _prompts(self, side: sides.Side) -> list[list[int]]:
        kwargs = dict(self.job.config.chat_template_kwargs or {})
        return [run_rows.prompt_ids(row["prompt"], self.tokenizers[side.when], kwargs) for row in self.rows]

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
        facts = self._facts(side)
        if stored is not None and stored.complete and facts is not None:
            return
        job.begin(f"evaluate_{side.when}", len(self.rows), len(items))
        job.enter("load")
        model = sides.load(job, side)
        with sides.precision(job):
            prompts = self._prompts(side)
            _require_readable(side, model, prompts)
            facts = facts or self._examine(side, model, prompts)
            job.enter(f"evaluate_{side.when}")
            if stored is None or not stored.complete:
                self._answer(side, model, prompts, items, facts, stored.seconds if stored else 0.0)
        del model
        _free()

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

    # --- the checks ---

    def _examine(self, side: sides.Side, model: Any, prompts: Sequence[list[int]]) -> dict[str, Any]:
        """What the conclusion needs of this side once its model is gone, kept in the run's folder."""
        job = self.job
        job.enter("fingerprint")
        found = fingerprint(model)
        if side.when == "base":
            self._require_base(side, found)
            eos_ids = sides.end_tokens(model, self.tokenizers["base"])
            limit = job.config.max_completion_length
            padding = proof_checks.padding(
                model, self.tokenizers["base"], prompts, max_new_tokens=limit, eos_ids=eos_ids, stop=job.stop.check
            )
            job.writer.result("padding", padding)
            if padding["verdict"] == "differs":
                job.writer.event("padding", padding["words"]["en"], "error")
        places = proof_checks.spread(prompts, proof_checks.PROMPTS)
        logits = proof_checks.last_logits(model, [prompts[i] for i in places])
        shift = proof_shift.logprobs(job, model, self.told)
        save_file({"logits": logits}, self.folder / f"{side.when}.safetensors")
        facts = {"fingerprint": found, "weights": side.weights, "logprobs": shift, "prompts": len(places)}
        part = self._facts_file(side).with_suffix(".part")
        part.write_text(json.dumps(facts), encoding="utf-8")
        part.replace(self._facts_file(side))
        return facts

    def _facts_file(self, side: sides.Side) -> Path:
        return self.folder / f"{side.when}.json"

    def _facts(self, side: sides.Side) -> dict[str, Any] | None:
        """Those of an earlier attempt, of the very same weights."""
        try:
            found = json.loads(self._facts_file(side).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        fits = len(found["logprobs"]) == len(self.told) and found["weights"] == side.weights
        return found if fits and (self.folder / f"{side.when}.safetensors").is_file() else None

    def _require_base(self, side: sides.Side, found: dict[str, str]) -> None:
        expected = side.expected
        if expected is None or compare(found, expected["fingerprint"]) != "differs":
            return
        words = base_differs(side.name)
        adapter = {
            "hash": self.trained.weights if self.trained else None,
            "kind": self.trained.kind if self.trained else "model",
            "max_logit_difference": None,
            "prompts": 0,
            "base_hash": found["exact"],
            "base_expected": expected["fingerprint"]["exact"],
            "identical_outputs": None,
            "verdict": "unknown",
            "words": words.to_json(),
        }
        self.job.writer.result("adapter", adapter)
        raise StudioError(words)

    def _conclude(self, trained: sides.Side) -> None:
        job = self.job
        job.enter("compare")
        facts = {side.when: self._facts(side) or {} for side in self.both}
        logits = {side.when: load_file(self.folder / f"{side.when}.safetensors")["logits"] for side in self.both}
        answers = [[item.completion for item in self._stored(side)[1]] for side in self.both]
        same = answers[0] == answers[1]
        difference = largest_difference(logits["base"], logits["trained"])
        one_reader = self.tokenizers["base"] is self.tokenizers["trained"]
        difference = difference if one_reader else None
        verdict = "unknown" if difference is None else "active"
        if difference == 0:
            verdict = "inactive" if same else "unknown"
        expected = self.base.expected
        known = compare(facts["base"]["fingerprint"], expected["fingerprint"]) == "same" if expected else False
        own_base = bool(self.request.run) and not self.request.base
        count = facts["base"]["prompts"]
        words = adapter_words(verdict, difference, count, trained.kind, known if own_base else None)
        job.writer.result(
            "adapter",
            {
                "hash": trained.weights or facts["trained"]["fingerprint"]["exact"],
                "kind": trained.kind,
                "max_logit_difference": difference,
                "prompts": count,
                "base_hash": facts["base"]["fingerprint"]["exact"],
                "base_expected": expected["fingerprint"]["exact"] if expected else None,
                "identical_outputs": same,
                "verdict": verdict,
                "words": words.to_json(),
            },
        )
        base, after = (facts[when]["logprobs"] for when in ("base", "trained"))
        shift = proof_shift.summary(self.told, base, after, self.tokenizers["base"]) if self.told else None
        if shift is not None:
            job.writer.result("shift", shift)
        if verdict == "inactive":
            raise StudioError(words)


def largest_difference(base: torch.Tensor, trained: torch.Tensor) -> float | None:
    """The largest absolute difference of two sides' logits; None where they are not over the same tokens, or none is
    a number."""
    if base.shape != trained.shape:
        return None
    value = (base - trained).abs().max().item()
    return value if math.isfinite(value) else None


def _require_readable(side: sides.Side, model: Any, prompts: Sequence[list[int]]) -> None:
    """A tokenizer with more tokens than its model knows would end the run in an index error without a word."""
    size = model.get_input_embeddings().weight.shape[0]
    largest = max((max(prompt) for prompt in prompts if prompt), default=0)
    if largest >= size:
        raise StudioError(
            Text(
                en=f"the tokenizer saved with {side.name} does not fit its weights: a prompt has token {largest}, the "
                f"model knows {size}",
                ko=f"{side.name}에 저장된 토크나이저가 가중치와 맞지 않습니다. 프롬프트에 토큰 {largest}이(가) 있는데 "
                f"모델의 토큰은 {size}개입니다",
            )
        )


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
