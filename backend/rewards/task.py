"""Which of a run's rewards says whether an answer is right: the task reward. All others are auxiliary."""

from __future__ import annotations

import re
from collections.abc import Sequence

from storage.kinds import DECIDE_CORRECT as DECIDE_CORRECT
from storage.kinds import deciding

# Rewards that look at the form of an answer only: never the task.
FORM_ONLY = frozenset({"format", "json", "regex", "length", "repetition", "language"})


def task_index(names: Sequence[str]) -> int | None:
    """The place of the task reward among a run's rewards; None where all of them look at the form only.

    A built-in reward that decides correctness comes first, then the first that is no known form reward (a person's
    own reward, a reward model).
    """
    for wanted in DECIDE_CORRECT:
        if wanted in names:
            return list(names).index(wanted)
    return next((i for i, name in enumerate(names) if re.sub(r"_\d+$", "", name) not in FORM_ONLY), None)


def full_score(names: Sequence[str]) -> int | None:
    """The place of the reward whose score of 1 means that the answer is right; None where none says so for sure."""
    return deciding(names)
