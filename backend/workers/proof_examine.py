"""What the conclusion of an evaluation needs of each side, kept in the run's folder; and the conclusion itself.

The two models are never in memory together: the base is gone before the trained side is loaded. So what is compared
(fingerprint, logits, log-probabilities) is written down for each, and a resume finds it there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from backend.errors import StudioError
from backend.evaluation.proof_words import adapter_words, base_differs, not_numbers
from backend.evaluation.request import Request
from backend.text import Text
from backend.workers import proof_checks, proof_shift, sides
from backend.workers.fingerprint import compare, other_settings
from backend.workers.job import Job
from storage.records import EvaluationItem


class Examination:
    """`told`: the training completions whose tokens are compared, [] for none. `tokenizers`: of each side."""

    def __init__(
        self,
        job: Job,
        request: Request,
        both: Sequence[sides.Side],
        tokenizers: Mapping[str, Any],
        told: list[proof_shift.Told],
    ) -> None:
        self.job, self.request, self.tokenizers, self.told = job, request, tokenizers, told
        self.both = both
        self.base, self.trained = both[0], both[1] if len(both) > 1 else None
        self.folder = job.run_dir / "evaluation"
        self.folder.mkdir(parents=True, exist_ok=True)

    def known(self, side: sides.Side) -> dict[str, Any] | None:
        """What an earlier attempt wrote down of the very same weights."""
        try:
            found = json.loads(self._file(side).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        fits = (
            len(found["logprobs"]) == len(self.told)
            and found["weights"] == side.weights
            and found.get("under", side.under) == side.under
            and "half" in found
        )
        return found if fits and self._logits(side).is_file() else None

    def examine(
        self, side: sides.Side, model: Any, found: dict[str, str], prompts: Sequence[list[int]]
    ) -> dict[str, Any]:
        """Write down what is compared of this side. `found`: its fingerprint.

        StudioError, in words, for a base that is not the run's, and for logits that are not numbers.
        """
        job = self.job
        if side.when == "base":
            self._require_base(side, found)
        places = proof_checks.spread(prompts, proof_checks.PROMPTS)
        logits = proof_checks.last_logits(model, [prompts[i] for i in places])
        broken = int((~torch.isfinite(logits)).any(dim=-1).sum())
        if broken:
            raise StudioError(not_numbers(side.when, side.name, broken, len(places)))
        if side.when == "base":
            self._padding(side, model, prompts)
        shift = proof_shift.logprobs(job, model, self.told)
        save_file({"logits": logits}, self._logits(side))
        facts = {
            "fingerprint": found,
            "weights": side.weights,
            "under": side.under,
            "half": proof_checks.in_half(model),
            "logprobs": shift,
            "prompts": len(places),
        }
        part = self._file(side).with_suffix(".part")
        part.write_text(json.dumps(facts), encoding="utf-8")
        part.replace(self._file(side))
        return facts

    def _file(self, side: sides.Side) -> Path:
        return self.folder / f"{side.when}.json"

    def _logits(self, side: sides.Side) -> Path:
        return self.folder / f"{side.when}.safetensors"

    def _padding(self, side: sides.Side, model: Any, prompts: Sequence[list[int]]) -> None:
        job, tokenizer = self.job, self.tokenizers[side.when]
        eos_ids, limit = sides.end_tokens(model, tokenizer), job.config.max_completion_length
        found = proof_checks.padding(
            model, tokenizer, prompts, max_new_tokens=limit, eos_ids=eos_ids, stop=job.stop.check
        )
        job.writer.result("padding", found)
        if found["verdict"] == "differs":
            job.writer.event("padding", found["words"]["en"], "error")

    def _require_base(self, side: sides.Side, found: dict[str, str]) -> None:
        expected = side.expected
        if expected is None or compare(found, expected["fingerprint"]) != "differs":
            return
        words = base_differs(side.name, settings=other_settings(found, expected["fingerprint"]))
        self._tell(None, 0, None, "unknown", words, base_hash=found["exact"])
        raise StudioError(words)

    def conclude(self, answers: Mapping[str, Sequence[EvaluationItem]]) -> None:
        """Compare the sides, whose answers are `answers`. StudioError, in words, for weights that change nothing."""
        assert self.trained is not None
        job, trained = self.job, self.trained
        job.enter("compare")
        facts = {side.when: self.known(side) or {} for side in self.both}
        logits = {side.when: load_file(self._logits(side))["logits"] for side in self.both}
        said = [_said(answers[side.when]) for side in self.both]
        same = said[0] == said[1]
        one_reader = self.tokenizers["base"] is self.tokenizers["trained"]
        difference = proof_checks.largest_difference(logits["base"], logits["trained"]) if one_reader else None
        verdict = "unknown"
        if difference is not None:
            half = facts["base"]["half"] or facts["trained"]["half"]
            beyond = proof_checks.beyond_rounding(difference, logits["base"], half)
            verdict = "active" if beyond else "inactive" if same else "unknown"
        expected, found = self.base.expected, facts["base"]["fingerprint"]
        checked = None
        if self.request.run and not self.request.base:
            checked = expected is not None and compare(found, expected["fingerprint"]) == "same"
        count = facts["base"]["prompts"]
        words = adapter_words(verdict, difference, count, trained.kind, checked)
        weights = trained.weights or facts["trained"]["fingerprint"]["exact"]
        self._tell(difference, count, same, verdict, words, base_hash=found["exact"], weights=weights)
        base, after = (facts[when]["logprobs"] for when in ("base", "trained"))
        shift = proof_shift.summary(self.told, base, after, self.tokenizers["base"]) if self.told else None
        if shift is not None:
            job.writer.result("shift", shift)
        if verdict == "inactive":
            raise StudioError(words)

    def _tell(
        self,
        difference: float | None,
        prompts: int,
        same: bool | None,
        verdict: str,
        words: Text,
        *,
        base_hash: str,
        weights: str | None = None,
    ) -> None:
        """The result "adapter"."""
        trained, expected = self.trained, self.base.expected
        self.job.writer.result(
            "adapter",
            {
                "hash": weights or (trained.weights if trained else None),
                "kind": trained.kind if trained else "model",
                "max_logit_difference": difference,
                "prompts": prompts,
                "base_hash": base_hash,
                "base_expected": expected["fingerprint"]["exact"] if expected else None,
                "identical_outputs": same,
                "verdict": verdict,
                "words": words.to_json(),
            },
        )


def _said(items: Sequence[EvaluationItem]) -> list[list[str]]:
    """Every answer of one side, greedy and sampled."""
    return [[item.completion, *(sample.text for sample in item.samples)] for item in items]
