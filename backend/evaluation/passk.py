"""pass@k and maj@k from k sampled answers a row: did it learn something new, or only become steadier?

pass@k is whether any of k answers is right, maj@k whether the commonest one is. DeepSeekMath (Shao et al. 2024, 5.2.2)
saw maj@k rise and pass@k not: reinforcement learning had made the right answer likelier, not possible.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from storage.records import EvaluationSample

Samples = Sequence[EvaluationSample]


def pass_at(samples: Samples, k: int) -> float | None:
    """The unbiased estimate of the chance that k samples hold a right one: 1 - C(n-c, k) / C(n, k) for c right of n
    (Chen et al. 2021, Evaluating Large Language Models Trained on Code, equation 1).

    None where no sample could be judged; ValueError where there are fewer than k that could.
    """
    judged = [sample.correct for sample in samples if sample.correct is not None]
    if not judged:
        return None
    if not 1 <= k <= len(judged):
        raise ValueError(f"pass@{k} cannot be told from {len(judged)} samples")
    right = sum(judged)
    return 1.0 - math.comb(len(judged) - right, k) / math.comb(len(judged), k)


def majority_right(samples: Samples) -> float | None:
    """Whether the commonest answer is right; a tie gives the right one's part of it, as drawing lots would.

    All right answers are one, however they are written. Wrong ones are told apart by what was extracted, as it is
    written (8 and 8.0 are two, which is kind to the right one); samples without an answer are one too, and can win.
    None where no sample could be judged.
    """
    judged = [sample for sample in samples if sample.correct is not None]
    if not judged:
        return None
    votes = Counter((True, "") if s.correct else (False, (s.extracted or "").strip()) for s in judged)
    most = max(votes.values())
    first = [answer for answer, count in votes.items() if count == most]
    return sum(right for right, _ in first) / len(first)


def extracts(rows: Sequence[Samples]) -> bool:
    """Whether the scorer says of any sample what it read in it. One that never does (many a reward of one's own) leaves
    nobody able to tell which wrong answers are the same, and there is no majority then."""
    return any(sample.extracted is not None for samples in rows for sample in samples)


def judged(samples: Samples) -> int:
    """How many of a row's samples could be judged."""
    return sum(sample.correct is not None for sample in samples)


def most(rows: Sequence[Samples]) -> int:
    """The k of an evaluation: the judged samples of the row that has most of them; 0 where no row has any.

    A row with fewer has no pass@k: it is left out there, instead of making k smaller for all the others."""
    return max((judged(samples) for samples in rows), default=0)
