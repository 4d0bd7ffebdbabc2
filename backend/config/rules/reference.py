"""The reference model exists only with KL and full fine-tuning (GRPOTrainer.__init__)."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.report import Problem, change
from backend.config.rules.base import Facts, rule
from backend.config.schema import RunConfig
from backend.text import Text


@rule("sync_ref_model", "beta")
def sync_needs_kl(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.sync_ref_model and config.beta == 0:
        text = Text(
            "needs a reference model, and with beta 0 there is none", "기준 모델이 필요한데 beta가 0이면 없습니다"
        )
        yield Problem("sync_ref_model", True, text, [False, change("beta", 0.04), change("beta", 0.001)], "sync_kl")


@rule("sync_ref_model", "peft")
def sync_needs_full(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.sync_ref_model and config.peft != "none":
        text = Text(
            f"does not go with peft {config.peft}: the reference is the model without its adapter",
            f"peft {config.peft}와 함께 쓸 수 없습니다: 기준 모델이 어댑터를 뺀 모델이기 때문입니다",
        )
        yield Problem("sync_ref_model", True, text, [False, change("peft", "none")], "sync_peft")
