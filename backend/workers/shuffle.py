"""The control: what a run would learn if its rewards said nothing. Scores change places inside each group.

A gain that also the control shows does not come from the rewards ("Spurious Rewards", Shao et al. 2025, trained with
random ones and still gained). Shuffled inside a group, group means, spreads and the curve of the reward stay what they
are; only which completion got which score is lost.
"""

from __future__ import annotations

import hashlib

import torch


def order(groups: int, size: int, key: tuple[int, ...]) -> torch.Tensor:
    """A permutation of groups * size places, shape (groups * size,), that moves none to another group.

    Drawn from a generator of its own, seeded by `key` (seed of the run, step, micro-step): the trainer's random numbers
    are untouched, and the same step gets the same order after a resume.
    """
    digest = hashlib.sha256(repr(key).encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)
    return torch.cat([torch.randperm(size, generator=generator) + group * size for group in range(groups)])


def shuffled(rewards: torch.Tensor, size: int, key: tuple[int, ...]) -> torch.Tensor:
    """`rewards` (completions, functions) with whole rows in another order: all scores of a completion stay together."""
    places = order(len(rewards) // size, size, key)
    return rewards[places.to(rewards.device)]
