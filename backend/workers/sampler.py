"""The order of prompts, the same whether a run is interrupted or not.

TRL's RepeatSampler draws each epoch's order from one generator that lives as long as the process. After a resume
in epoch k > 0 that generator starts again, so the resumed epoch sees epoch 0's order. Here each epoch has its own
seed, which transformers and accelerate set through `set_epoch`. Epoch 0 is TRL's own order.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from trl.trainer.utils import RepeatSampler


class EpochRepeatSampler(RepeatSampler):
    """RepeatSampler whose order is a function of (seed, epoch) alone."""

    epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = int(epoch)

    def __iter__(self) -> Generator[int, Any, None]:
        if self.shuffle and self.seed is not None:
            self.generator.manual_seed(self.seed + self.epoch)
        yield from super().__iter__()
