"""The strict score: the answer is the ground truth letter for letter, blanks around both taken off."""

from __future__ import annotations

from backend.rewards.extract import final_answer, reasoning


def strict(completion: str, ground_truth: object, prefilled: bool = False) -> bool | None:
    """Whether the finally extracted answer is `str(ground_truth)`, both stripped; None where there is nothing to
    compare with. Nothing is forgiven: 12.0 is not 12.

    The answer is that of rewards/extract; where nothing marks one, all that follows the reasoning. A list of ground
    truths means any of them; an object (unit tests, a stored item) has no one way to be written.
    """
    golds = ground_truth if isinstance(ground_truth, list | tuple) else [ground_truth]
    texts = {str(gold).strip() for gold in golds if isinstance(gold, str | int | float)} - {""}
    if not texts:
        return None
    found = final_answer(completion, prefilled)
    answer = found.text if found else reasoning(completion, prefilled).rest
    return answer is not None and answer.strip() in texts
