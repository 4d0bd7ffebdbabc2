"""Names that TRL logs, read from its source: a custom reward can write none of them; and what float32 carries."""

from __future__ import annotations

import inspect
import re

import pytest
import torch
from trl.trainer import grpo_trainer, sft_trainer
from trl.trainer.utils import nanstd

from backend.custom.inside.values import LARGEST
from backend.custom.logged import is_own

LOGGED = re.compile(r"_metrics\[(?:mode|\"\w+\")\]\[f?\"([^\"]+)\"\]")


@pytest.mark.parametrize("module", [grpo_trainer, sft_trainer], ids=lambda module: module.__name__)
def test_every_name_that_trl_logs_is_its_own(module: object) -> None:
    names = set(LOGGED.findall(inspect.getsource(module)))  # type: ignore[arg-type]
    assert "entropy" in names
    assert not [name for name in names if not is_own(name)]


def test_the_largest_scores_are_carried_with_a_weight_of_1000_and_a_large_batch() -> None:
    scores = torch.tensor([LARGEST, -LARGEST] * 50_000, dtype=torch.float32) * 1000
    assert torch.isfinite(nanstd(scores))
    assert torch.isfinite(scores.square().sum() * 10)
    assert torch.isinf(nanstd(torch.tensor([3e19, -3e19], dtype=torch.float32)))
