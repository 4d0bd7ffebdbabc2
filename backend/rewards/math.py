"""math: the final answer says what the ground truth says, by exact numbers and, where it takes algebra, math-verify."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence

from backend.rewards._answer import LONGEST, read
from backend.rewards._compare import compare, same_text
from backend.rewards._explain import why_not
from backend.rewards._one import unknown_word
from backend.rewards._plain import plain
from backend.rewards._words import unit
from backend.rewards.extract import final_answer, no_answer
from backend.rewards.verdict import Verdict

LABEL = {"en": "Mathematics", "ko": "수학"}
HELP = {
    "en": "1 when the final answer equals the ground truth as mathematics, else 0. The answer is the last \\boxed or "
    "<answer> after the reasoning, then ####, then a phrase such as 'the answer is'. Separators, fractions, decimals, "
    "percents, units, number words, several parts in any order and expressions are understood; a sum left "
    "uncalculated is not a number. Rows whose ground truth cannot be read are left out.",
    "ko": "최종 답이 정답과 수학적으로 같으면 1, 아니면 0입니다. 추론 뒤의 마지막 \\boxed나 <answer>, 그다음 ####, "
    "그다음 '정답은' 같은 표현에서 답을 찾습니다. 자릿수 쉼표, 분수, 소수, 백분율, 단위, 3만 5천 같은 수 표현, 순서 "
    "없는 여러 답, 수식을 이해합니다. 계산하지 않고 남긴 식은 수로 보지 않습니다. 정답을 읽을 수 없는 행은 "
    "계산에서 뺍니다.",
}
BOUNDS = (0.0, 1.0)
PORTABLE = False

NO_ANSWER = re.compile(r"n/a|[-?#*_.…\s]+", re.I)
LONGEST_GOLD = 20_000  # a whole solution, with its answer marked
ALGEBRA = "backend.rewards._symbolic:agree"


def judge_many(
    completions: Sequence[str],
    *,
    ground_truth: Sequence[object],
    prefilled: bool = False,
    limit_s: float = 5.0,
) -> list[Verdict | Exception]:
    """`ground_truth`: a number or text a row, or a list of them, any of which is right; None where it cannot be read.

    `prefilled`: the chat template has opened the thought. `limit_s`: seconds for the algebra of one completion, which
    runs in a child that is killed then: 0. All else costs microseconds and is bounded.
    """
    verdicts: list[Verdict | Exception | None] = []
    open_ones: dict[int, tuple[tuple[str, ...], str]] = {}
    for row, completion in enumerate(completions):
        try:
            verdict = _by_numbers(completion, ground_truth[row], prefilled)
        except Exception as error:  # of this row, not of the batch
            verdict = error
        if not isinstance(verdict, tuple) or isinstance(verdict, Verdict):
            verdicts.append(verdict)
        else:
            verdicts.append(None)
            open_ones[row] = verdict
    for row, verdict in _by_algebra(open_ones, limit_s).items():
        verdicts[row] = verdict
    return [verdict for verdict in verdicts if verdict is not None]


def unreadable(ground_truth: object) -> str | None:
    """Why no answer can be compared with this ground truth; None where one can."""
    return None if _golds(ground_truth)[0] else _golds(ground_truth)[1]


def _by_numbers(completion: str, ground_truth: object, prefilled: bool) -> Verdict | tuple[tuple[str, ...], str]:
    """The verdict, or the golds and the answer that only algebra can compare."""
    golds, reason = _golds(ground_truth)
    if not golds:
        return Verdict(None, reason=reason)
    found = final_answer(completion, prefilled)
    if found is None:
        return Verdict(0.0, reason=no_answer(completion, prefilled))
    if len(found.text) > LONGEST:
        return Verdict(0.0, found.text[:LONGEST], "too long to be an answer")
    told = [_equal(gold, found.text) for gold in golds]
    if True in told:
        return Verdict(1.0, found.text, "equal to the ground truth")
    if None in told:
        return tuple(gold for gold, equal in zip(golds, told, strict=True) if equal is None), found.text
    return Verdict(0.0, found.text, why_not(golds[0], found.text))


def _by_algebra(open_ones: dict[int, tuple[tuple[str, ...], str]], limit_s: float) -> dict[int, Verdict | Exception]:
    """The verdicts of these rows; the same question is asked once."""
    if not open_ones:
        return {}
    from backend import killable

    asked = list(dict.fromkeys(open_ones.values()))
    calls = [{"golds": list(golds), "answer": answer} for golds, answer in asked]
    results = dict(zip(asked, killable.shared().map(ALGEBRA, calls, limit_s), strict=True))
    verdicts: dict[int, Verdict | Exception] = {}
    for row, question in open_ones.items():
        result, answer = results[question], question[1]
        match result.outcome:
            case "ok":
                verdicts[row] = Verdict(float(result.value["equal"]), answer, result.value["why"])
            case "timeout":
                verdicts[row] = Verdict(0.0, answer, f"stopped after {limit_s:g} s: comparing it takes too long")
            case "died":
                verdicts[row] = Verdict(0.0, answer, f"comparing it ended the process: {result.error}")
            case _:
                verdicts[row] = RuntimeError(f"{result.error}\n{result.traceback}")
    return verdicts


@functools.lru_cache(8192)
def _equal(gold: str, answer: str) -> bool | None:
    """Without algebra; None where it takes algebra."""
    given = read(answer)
    wanted = _read_gold(gold)
    if given is None or wanted is None:
        return False
    return same_text(plain(gold), plain(answer)) or compare(wanted, given)


@functools.lru_cache(4096)
def _read_gold(gold: str):
    return read(gold, gold=True)


def _golds(ground_truth: object) -> tuple[tuple[str, ...], str]:
    """The readable texts, and why there is none."""
    if isinstance(ground_truth, (list, tuple)):
        parts = [
            _golds(gold) if not isinstance(gold, (list, tuple)) else ((), "the ground truth is a list in a list")
            for gold in ground_truth
        ]
        texts = tuple(text for found, _ in parts for text in found)
        return texts, "" if texts else parts[0][1] if parts else "there is no ground truth"
    if ground_truth is None:
        return (), "there is no ground truth"
    if isinstance(ground_truth, bool) or not isinstance(ground_truth, (str, int, float)):
        return (), f"the ground truth is a {type(ground_truth).__name__}, not a number or text"
    if isinstance(ground_truth, float) and not math.isfinite(ground_truth):
        return (), "the ground truth is not a finite number"
    if isinstance(ground_truth, int) and ground_truth.bit_length() > 13_000:
        return (), "the ground truth is too long to be an answer"
    text = ground_truth if isinstance(ground_truth, str) else repr(ground_truth)
    return _gold_text(text) if len(text) <= LONGEST_GOLD else ((), "the ground truth is too long to be an answer")


@functools.lru_cache(8192)
def _gold_text(text: str) -> tuple[tuple[str, ...], str]:
    found = final_answer(text)  # GSM8K's golds are whole solutions with a #### at the end, those of MATH have a box
    answer = found.text if found and found.kind != "phrase" else text.strip()
    if not answer:
        return (), "the ground truth is empty"
    nothing = NO_ANSWER.fullmatch(answer) or (len(answer) > 1 and unit(answer) is not None)  # a unit without a number
    word = answer if nothing else unknown_word(answer)
    if word:
        return (), f"the ground truth has a word that is no function, unit or number: {word!r}"
    if _read_gold(answer) is None:
        return (), "the ground truth is too long to be an answer"
    return (answer,), ""
