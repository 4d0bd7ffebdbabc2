"""When the worker really saves: one answer for the notes and the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.config.schema import RunConfig


def aligned_save_steps(config: RunConfig) -> int | float:
    """`save_steps` as the worker passes it on, rounded up to whole generation cycles (and evaluations)."""
    # Imported late: the adapter itself builds on backend.config.
    from backend.workers import trl_adapter

    return trl_adapter.aligned_save_steps(config)
