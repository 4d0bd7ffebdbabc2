"""What a custom reward's process takes as scores is what TRL's own lines would make of them (GRPOTrainer, 1.16)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from backend.custom.inside.values import BrokenContract, scores_of

TAKEN: list[Any] = [
    [1, 0.5, None, math.nan],
    [True, False, True, False],
    (0.1, 0.2, 0.3, 0.4),
    np.array([1.0, 2.0, np.nan, 4.0]),
    np.arange(4, dtype=np.int32),
    [np.float64(0.25), np.int64(2), np.bool_(True), np.float16(0.5)],
    torch.tensor([1.0, 2.0, float("nan"), 4.0]),
    torch.arange(4, dtype=torch.bfloat16),
    torch.tensor([True, False, True, False]),
    [torch.tensor(1.0), torch.tensor(2), torch.tensor(True), None],
    torch.ones(4, 1),
]
REFUSED: list[Any] = [
    ["a", 1, 2, 3],
    [[1, 2], [1, 2], [1, 2], [1, 2]],
    [1j, 1, 1, 1],
    [1, 2, 3],
    torch.ones(4, 2),
    np.ones((4, 1)),
    1.0,
    torch.tensor(1.0),
]


def by_trl(output: Any) -> torch.Tensor:
    """The lines of `_calculate_rewards`."""
    values = [reward if reward is not None else torch.nan for reward in output]
    if len(values) != 4:
        raise ValueError("count")
    rewards = torch.zeros(4, 1)
    rewards[:, 0] = torch.tensor(values, dtype=torch.float32)
    return rewards[:, 0]


@pytest.mark.parametrize("output", TAKEN, ids=lambda o: type(o).__name__)
def test_the_same_numbers(output: Any) -> None:
    ours = [math.nan if score is None else score for score in scores_of(output, 4)]
    assert torch.equal(torch.tensor(ours, dtype=torch.float32).nan_to_num(-9.0), by_trl(output).nan_to_num(-9.0))


@pytest.mark.parametrize("output", REFUSED, ids=str)
def test_what_trl_refuses_is_refused(output: Any) -> None:
    with pytest.raises(BrokenContract):
        scores_of(output, 4)
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        by_trl(output)
