"""A run's stored completions scored anew, to see what other rewards, weights or code would have changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.settings import Settings
from storage.reader import Reader


def replay(
    settings: Settings,
    reader: Reader,
    run_id: str,
    rewards: Sequence[str],
    weights: Sequence[float] | None,
    args: Mapping[str, Mapping[str, Any]] | None,
    *,
    scale: str = "group",
    steps: Sequence[int] | None = None,
    limit_groups: int = 200,
    versions: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """See LabService.replay."""
    return {
        "groups": 0,
        "completions": 0,
        "before": {},
        "after": {},
        "rank_correlation": None,
        "changed_top": None,
        "examples": [],
    }
