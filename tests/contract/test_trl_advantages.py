"""Our advantages by hand are those of TRL's trainer, on random rewards with holes in them."""

from __future__ import annotations

import inspect

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from trl.trainer import grpo_trainer
from trl.trainer.utils import nanstd

from backend.lab.advantages import advantages

SCORE = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 0.5]), st.floats(-2, 2, width=32))
REWARDS = st.tuples(st.integers(1, 3), st.integers(2, 5), st.integers(1, 3)).flatmap(
    lambda shape: st.tuples(
        st.just(shape),
        st.lists(
            st.lists(SCORE, min_size=shape[2], max_size=shape[2]),
            min_size=shape[0] * shape[1],
            max_size=shape[0] * shape[1],
        ),
        st.lists(st.sampled_from([0.2, 1.0, 2.0]), min_size=shape[2], max_size=shape[2]),
    )
)


def theirs(rows: list, weights: list[float], size: int) -> dict[str, list[float]]:
    """The lines of GRPOTrainer, in float64."""
    per = torch.tensor([[float("nan") if s is None else s for s in row] for row in rows], dtype=torch.float64)
    w = torch.tensor(weights, dtype=torch.float64)
    unscorable = torch.isnan(per).all(dim=1)
    rewards = (per * w).nansum(dim=1)
    rewards[unscorable] = torch.nan
    mean = torch.nanmean(rewards.view(-1, size), dim=1).repeat_interleave(size)
    group = nanstd(rewards.view(-1, size), dim=1).repeat_interleave(size)
    batch = nanstd(rewards)
    grouped = per.view(-1, size, per.shape[1])
    each = (grouped - torch.nanmean(grouped, dim=1, keepdim=True)) / (nanstd(grouped, dim=1, keepdim=True) + 1e-4)
    sums = (each.view(-1, per.shape[1]) * w).nansum(dim=1)
    sums[unscorable] = torch.nan
    found = {
        "group": (rewards - mean) / (group + 1e-4),
        "batch": (rewards - mean) / (batch + 1e-4),
        "none": rewards - mean,
        "normalize_then_sum": (sums - torch.nanmean(sums)) / (nanstd(sums) + 1e-4),
    }
    return {name: torch.nan_to_num(value, nan=0.0).tolist() for name, value in found.items()}


@settings(max_examples=200, deadline=None)
@given(REWARDS)
def test_advantages_are_those_of_trl(case) -> None:
    (_, size, _), rows, weights = case
    ours = advantages(rows, weights, size)["advantages"]
    for name, values in theirs(rows, weights, size).items():
        assert ours[name] == pytest.approx(values, rel=1e-5, abs=1e-6), name


def test_the_lines_we_copy_the_arithmetic_of_are_still_there() -> None:
    source = inspect.getsource(grpo_trainer.GRPOTrainer)
    for line in (
        "advantages = advantages / (std_rewards + 1e-4)",
        "reward_k = (grouped - mean_k) / (std_k + 1e-4)",
        "advantages = (rewards - torch.nanmean(rewards)) / (std_rewards + 1e-4)",
        "advantages = torch.nan_to_num(advantages, nan=0.0)",
        "rewards[unscorable_mask] = torch.nan",
    ):
        assert line in source, line
