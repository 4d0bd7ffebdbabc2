"""What the page and the command line may do in the Reward Lab. Every answer is JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.settings import Settings
from backend.text import Text
from storage.reader import Reader

Progress = Callable[[int, int, Text], None]


class LabService:
    """The bench of rewards. Nothing here trains or needs a GPU; errors are Refused or NotFound, in words."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self.settings = settings
        self.reader = reader

    def table(
        self,
        rewards: Sequence[str],
        weights: Sequence[float] | None,
        args: Mapping[str, Mapping[str, Any]] | None,
        rows: Sequence[Mapping[str, Any]],
        versions: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """Every completion of `rows` (each with "completion" and any columns) scored by every reward.

        {"rewards", "rows": [{"row", "completion", "cells": {reward: {"score", "extracted", "reason", "failed"}},
        "total"}], "histograms": {reward: {"edges", "counts", "missing"}}, "seconds": {reward: s}}.
        """
        from backend.lab.table import table

        return table(self.settings.home, rewards, weights, args, rows, versions)

    def audit(
        self,
        values: Mapping[str, Any],
        rows: Sequence[Mapping[str, Any]] | None = None,
        limit: int = 32,
        progress: Progress | None = None,
        trusted: bool = False,
    ) -> dict[str, Any]:
        """What the rewards of a configuration are worth on its own rows (`rows`: these instead), a verdict a check.

        {"ok", "verdict": "pass"|"warn"|"fail", "checks": [{"id", "kind", "reward", "verdict": "pass"|"warn"|"fail"|
        "skip", "title", "words", "examples": [{"row", "completion", "score", "expected", "why": {en, ko}}]}],
        "rows", "seconds"}. `progress(done, total, what)`: how far it is.
        """
        from backend.lab.audit import audit

        return audit(self.settings, values, rows, limit, reader=self.reader, progress=progress, trusted=trusted)

    def made(self, values: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
        """For each row its ground truth in the format that the configuration demands; None where there is none."""
        from backend.lab.audit import made

        return made(self.settings, values, rows)

    def replay(
        self,
        run_id: str,
        rewards: Sequence[str],
        weights: Sequence[float] | None = None,
        args: Mapping[str, Mapping[str, Any]] | None = None,
        scale: str | None = None,
        steps: Sequence[int] | None = None,
        limit_groups: int = 200,
        versions: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """A run's stored completions scored anew: {"groups", "completions", "before", "after", "rank_correlation",
        "changed_top", "examples"}. `scale`: "group", "batch", "none" or "normalize_then_sum"; None: the run's own.
        `steps`: (first, last) of them, both inclusive."""
        from backend.lab.replay import replay

        return replay(
            self.settings,
            self.reader,
            run_id,
            rewards,
            weights,
            args,
            scale=scale,
            steps=steps,
            limit_groups=limit_groups,
            versions=versions,
        )

    def advantages(
        self, rewards: Sequence[Any], weights: Sequence[float] | None = None, group_size: int | None = None
    ) -> dict[str, Any]:
        """Advantages by hand: backend.lab.advantages."""
        from backend.lab.advantages import advantages

        return advantages(rewards, weights, group_size)

    def conflicts(
        self, names: Sequence[str], groups: Sequence[Any], weights: Sequence[float] | None = None
    ) -> dict[str, Any]:
        """Rewards that pull against each other inside groups: backend.lab.conflict."""
        from backend.lab.conflict import conflicts

        return conflicts(names, groups, weights)

    def probe_report(self, run_id: str) -> dict[str, Any]:
        """What a probe found and what it advises: backend.lab.probe."""
        from backend.lab import probe

        return probe.report(self.reader, run_id)

    def preflight(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What speaks against starting with these values: {"stops": [check], "warns": [check], "audit": {...}}.

        A check has "id" (to be accepted by), "reward", "title", "words", "examples" as in `audit`.
        """
        from backend.lab.preflight import preflight

        return preflight(self.settings, self.reader, values)
