"""What a group can teach and whether an answer is right, told from rewards alone: shared by the recorder, which knows
the task's bounds, and by rows of older databases and files, where they are those that the run reached."""

from __future__ import annotations

from collections.abc import Sequence

from storage.records import Completion, GroupKind

# Totals are sums of a few float32 rewards: closer than this they are the same reward.
TOLERANCE = 1e-6
# Rewards that say whether an answer is right, in the order in which one is looked for. Their full score is 1.
DECIDE_CORRECT = ("accuracy", "exact", "math", "choice", "code", "sql", "reasoning_gym")
FULL = 1.0
# A kind in the database is its place here.
KINDS: tuple[GroupKind, ...] = ("live", "all_right", "all_wrong", "tied")


def near(a: float, b: float) -> bool:
    """Whether two totals are the same reward; a NaN is near nothing, an infinity near itself only."""
    return a == b or abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b)) < float("inf")


def kind_of(totals: Sequence[float | None], low: float, high: float, right: bool | None = None) -> GroupKind:
    """The kind of a group whose task gives totals between `low` and `high`; None: a completion that nothing scored.

    all_right: dead at the highest; all_wrong: dead at the lowest; tied: dead in between, or without any scored
    completion. A NaN among them: live, whatever stands before it. While lowest and highest are the same (or unknown:
    inf and -inf), `right` decides: every answer is right (True), every one wrong (False), or neither (None: tied).
    """
    scored = [t for t in totals if t is not None]
    if any(t != t for t in scored) or (scored and not near(min(scored), max(scored))):
        return "live"
    if not scored:
        return "tied"
    if low > high or near(low, high):
        return "tied" if right is None else "all_right" if right else "all_wrong"
    if near(scored[0], high):
        return "all_right"
    return "all_wrong" if near(scored[0], low) else "tied"


def agreed(size: int, known: int, solved: int) -> bool | None:
    """Of a group's `size` answers, of which `known` could be judged: all right, all wrong, or neither (None)."""
    return None if not size or known < size or 0 < solved < size else solved == size


def agree(completions: Sequence[Completion]) -> bool | None:
    """`agreed` of a group's completions."""
    judged = [c.correct for c in completions if c.correct is not None]
    return agreed(len(completions), len(judged), sum(judged))


def deciding(names: Sequence[str]) -> int | None:
    """The place of the reward whose score of 1 means that the answer is right; None where none says so for sure."""
    return next((list(names).index(wanted) for wanted in DECIDE_CORRECT if wanted in names), None)


def is_correct(rewards: Sequence[float | None], at: int | None) -> bool | None:
    """Whether an answer is right by the reward at place `at`; None where there is none, or it gave no score."""
    score = None if at is None or at >= len(rewards) else rewards[at]
    return None if score is None or score != score else near(score, FULL) or score > FULL
