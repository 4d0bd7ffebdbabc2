"""Why an answer that was compared is not right, in plain words."""

from __future__ import annotations

from backend.rewards._answer import Several, read
from backend.rewards._compare import too_large
from backend.rewards._one import One, unknown_word


def why_not(gold: str, answer: str) -> str:
    wanted, given = read(gold, gold=True), read(answer)
    if given is None:
        return "the answer is empty" if not answer.strip() else "too long to be an answer"
    if isinstance(wanted, One) and isinstance(given, Several):
        return f"{len(given.items)} answers where one is asked for"
    if isinstance(wanted, Several) and isinstance(given, One):
        return f"one answer where {len(wanted.items)} are asked for"
    if isinstance(wanted, Several) and isinstance(given, Several) and len(wanted.items) != len(given.items):
        return f"{len(given.items)} answers where {len(wanted.items)} are asked for"
    if isinstance(wanted, One) and isinstance(given, One):
        if wanted.name and given.name and wanted.name != given.name:
            return f"an answer for {given.name}, not for {wanted.name}"
        if wanted.unit and given.unit and wanted.unit != given.unit:
            return "another unit than the ground truth's"
        if wanted.number and given.number and not given.number.worked_out and wanted.number.worked_out:
            return "a calculation that was not carried out"
        if given.number is None and (word := unknown_word(given.latex)):
            return f"cannot be read as mathematics: {word!r}"
        if too_large(given.latex):
            return "too large to compare"
    return "not equal to the ground truth"
