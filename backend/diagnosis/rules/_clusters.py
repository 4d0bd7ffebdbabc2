"""Shares of completions: those of one prompt are alike, so that many of them say less than as many prompts would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def effective(counts: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """(hits, n) of (hits, n) a group, both scaled down by the design effect of the groups (Kish 1965): the variance of
    the share over groups against that of independent completions. At most one group counts as one, at least as much as
    it has completions. Where all or none hit there is no variance to see, and each group counts once."""
    pairs = np.array([(h, n) for h, n in counts if n], dtype=float).reshape(-1, 2)
    if not len(pairs):
        return 0.0, 0.0
    hits, sizes = pairs[:, 0], pairs[:, 1]
    n, groups = float(sizes.sum()), len(pairs)
    share = float(hits.sum()) / n
    most = n / groups
    if share in (0.0, 1.0) or groups < 2:
        design = most
    else:
        between = float(((hits - share * sizes) ** 2).sum()) * groups / (groups - 1) / n**2
        design = between / (share * (1 - share) / n)
    design = min(max(design, 1.0), most)
    return share * n / design, n / design
