"""Rewards that do not look at the answer: what they pay for instead, and whether longer pays."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from backend.lab.audit.bench import mean
from backend.lab.audit.formats import THOUGHT
from backend.lab.audit.golds import wrong_answer
from backend.lab.audit.report import Check, Example, score_text
from backend.lab.audit.subject import Subject
from backend.text import Text

TRIED = 4
LENGTHS = (0, 400, 2000, 8000)  # characters put before the answer
RISE = 0.25  # of the span, from the shortest to the longest

TAGS = Text(en="A wrong answer in the right form", ko="형식만 맞는 오답")
EMPTY = Text(en="An empty completion", ko="빈 답변")
LENGTH = Text(en="Score against length", ko="길이와 점수")


def tag_checks(subject: Subject, judged_elsewhere: bool) -> Iterator[Check]:
    """A reward that pays for a form: fine beside one that judges the answer, a trap without one."""
    if subject.kind != "shape" or subject.form is None:
        return
    rows = [row for row in subject.usable() if subject.answers[row] is not None]
    rows = rows[: subject.bench.few(TRIED)]
    if not rows:
        return
    texts = [(row, subject.form.text(wrong_answer(subject.answers, row))) for row in rows]
    judged = subject.bench.judge([*texts, (rows[0], "")])
    hits = [
        (row, text, each) for (row, text), each in zip(texts, judged, strict=False) if subject.full(row, each.score)
    ]
    if subject.full(rows[0], judged[-1].score):
        words = Text(en="An empty completion gets the maximum.", ko="빈 답변이 만점을 받습니다.")
        why = Text(en="nothing in it", ko="내용 없음")
        yield Check("empty", subject.name, "warn", EMPTY, words, [Example(rows[0], "", judged[-1].score, "< max", why)])
    if not subject.custom or not any(row.get("ground_truth") is not None for row in subject.rows):
        return
    why = Text(en="a wrong answer in the right form", ko="형식만 맞는 오답")
    examples = [Example(row, text, each.score, "< max", why) for row, text, each in hits]
    if hits and judged_elsewhere:
        words = Text(
            en="It rewards the form only; another reward here judges the answer. Keep its weight below that one's.",
            ko="형식만 보는 보상입니다. 답은 다른 보상이 판정합니다. 가중치를 그보다 낮게 두세요.",
        )
        yield Check("other_gold", subject.name, "pass", TAGS, words)
    elif hits:
        words = Text(
            en=f"It gives the maximum to a wrong answer ({len(hits)} of {len(rows)} rows): any text in the right form "
            "will do, and no other reward here looks at the answer.",
            ko=f"틀린 답에 만점을 줍니다({len(rows)}행 중 {len(hits)}행). 형식만 맞으면 되고, 답을 보는 다른 보상이 "
            "없습니다.",
        )
        yield Check("other_gold", subject.name, "fail", TAGS, words, examples)


def length_checks(subject: Subject) -> Iterator[Check]:
    """The same answer behind more and more words: the score must not rise with them."""
    if subject.name in ("code", "sql", "regex", "json"):
        return
    rows = list(range(min(subject.bench.few(TRIED), len(subject.rows))))
    asked = [(row, _padded(subject, row, length)) for length in LENGTHS for row in rows]
    judged = subject.bench.judge(asked)
    means = [mean(judged[at * len(rows) : (at + 1) * len(rows)]) for at in range(len(LENGTHS))]
    if any(each is None for each in means):
        return
    scores = [each for each in means if each is not None]
    if len(subject.bench.scores) == 1:
        return  # said as a whole
    rise = scores[-1] - scores[0]
    span = max(subject.span(), max(scores) - min(scores))
    shown = ", ".join(f"{score_text(score)} ({length:,})" for score, length in zip(scores, LENGTHS, strict=True))
    if not (_never_falls(scores) and rise > 0 and rise >= RISE * span):
        falls = scores[-1] < scores[0] and _never_falls(scores[::-1])
        words = Text(
            en=f"{'Longer texts score less' if falls else 'It does not rise with the length'}: {shown} characters.",
            ko=f"{'글이 길수록 점수가 낮아집니다' if falls else '길이와 함께 오르지 않습니다'}: {shown}자.",
        )
        yield Check("length", subject.name, "pass", LENGTH, words)
        return
    pairs = [(asked[at * len(rows)], judged[at * len(rows)]) for at in (len(LENGTHS) - 1, 0)]
    examples = [
        Example(row, text, each.score, "", Text(en=f"{len(text):,} characters", ko=f"{len(text):,}자"))
        for (row, text), each in pairs
    ]
    words = Text(
        en=f"The longer text scores higher: {shown} characters put before the same answer. A model will write more and "
        "more. If short answers were meant, the sign is wrong.",
        ko=f"글이 길수록 점수가 높아집니다: 같은 답 앞에 붙인 글자 수별 점수 {shown}. 모델은 점점 길게 쓰게 됩니다. "
        "짧은 답을 "
        "원했다면 부호가 반대입니다.",
    )
    yield Check("length", subject.name, "pass" if subject.name == "length" else "warn", LENGTH, words, examples)


def _never_falls(scores: Sequence[float]) -> bool:
    return all(b >= a - 1e-9 for a, b in itertools.pairwise(scores))


def _padded(subject: Subject, row: int, length: int) -> str:
    answer = subject.answers[row] or "42"
    more = (f"{THOUGHT} " * (length // len(THOUGHT) + 1))[:length]
    form = subject.form
    if form is None or subject.kind == "side":
        return f"{more}{THOUGHT}\n<answer>{answer}</answer>"
    return (
        form.text(answer).replace(THOUGHT, f"{more}{THOUGHT}", 1)
        if THOUGHT in form.before
        else more + form.text(answer)
    )
