"""accuracy: the last `<answer>` equals the ground truth, letter for letter (first reference article, section 40)."""

from __future__ import annotations

from backend.rewards.verdict import Verdict, after_reasoning, last_tag

LABEL = {"en": "Accuracy", "ko": "정답"}
HELP = {
    "en": "1 when the text of the last <answer> tag is the ground truth exactly (outer white space is ignored), "
    "else 0. Rows without a ground truth are left out.",
    "ko": "마지막 <answer> 태그의 내용이 정답과 정확히 같으면 1, 아니면 0입니다(앞뒤 공백은 무시). "
    "정답이 없는 행은 계산에서 뺍니다.",
}
BOUNDS = (0.0, 1.0)


def judge(completion: str, *, ground_truth: object) -> Verdict:
    """`ground_truth`: a string or number, compared as written; a list means any of them; None or a bool: no score."""
    golds = ground_truth if isinstance(ground_truth, list) else [ground_truth]
    wanted = [str(gold).strip() for gold in golds if gold is not None and not isinstance(gold, bool)]
    if not any(wanted):
        return Verdict(None, reason="no ground truth to compare with")
    answer_part = after_reasoning(completion)
    if answer_part is None:
        return Verdict(0.0, reason="the reasoning never ends")
    answer = last_tag(answer_part)
    if answer is None:
        return Verdict(0.0, reason="no <answer> tag")
    if answer in wanted:
        return Verdict(1.0, answer, "equal to the ground truth")
    return Verdict(0.0, answer, "not the ground truth")
