"""What must not score the maximum: texts that hold no right answer, or hide it among others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from backend.lab.audit.bench import Judged
from backend.lab.audit.formats import BY_ID, THOUGHT
from backend.lab.audit.golds import distractors, first_premise, normal, prompt_text, wrong_answer
from backend.lab.audit.report import Check, Example
from backend.lab.audit.subject import Subject
from backend.text import Text

TRIED = 10
LONG_TRIED = 2
LONG = 50_000
FAILS = 0.5  # of the rows: a way to the maximum
WARNS = 0.15
WITHOUT_GOLD = ("empty", "tags_only", "echo", "premise", "long")
PARTLY = 0.5  # of the span, on average: it pays although it is no answer

EXPRESSION = re.compile(r"[(\d][\d.\s()]*(?:[-+*/×÷^%]+[\d.\s()]*\d[\d.)]*)+")
Made = str | None


@dataclass(frozen=True, slots=True)
class Probe:
    """`make(subject, row)`: the text, None where the row gives none. `worst`: how bad it is if it scores the "
    "maximum."""

    id: str
    title: Text
    make: Callable[[Subject, int], Made]
    worst: str = "fail"
    rows: int = TRIED
    code: bool = True
    """Whether it also means something for programs and queries."""


def _form(subject: Subject, *answers: str) -> str:
    return subject.form.text(*answers) if subject.form else "\n".join(answers)


def _other(subject: Subject, row: int) -> str:
    return wrong_answer(subject.answers, row, subject.golds()[row])


def _several(subject: Subject, row: int) -> list[str]:
    """Five different answers with the right one in the middle."""
    others = distractors(subject.answers, row, 4, subject.golds()[row])
    return [*others[:2], subject.answers[row] or "", *others[2:]]


def _tagged(subject: Subject) -> bool:
    return subject.form is not None and subject.form.tagged


def _in_thought(subject: Subject, row: int) -> Made:
    if not _tagged(subject) or subject.form is None:
        return None
    return f"<think>\n{subject.form.core([subject.answers[row] or ''])}\n</think>\nI will stop here."


def _unfinished(subject: Subject, row: int) -> Made:
    if not _tagged(subject) or subject.form is None:
        return None
    return f"<think>\n{THOUGHT}\n{subject.form.core([subject.answers[row] or ''])}\nBut wait,"


def _outside(subject: Subject, row: int) -> Made:
    if not _tagged(subject):
        return None
    return f"It could be {subject.answers[row]}.\n{_form(subject, _other(subject, row))}"


def _prompt(subject: Subject, row: int) -> str:
    return prompt_text(subject.rows[row].get("prompt", ""))


def _expression(subject: Subject, row: int) -> Made:
    found = [each.strip() for each in EXPRESSION.findall(_prompt(subject, row))]
    if not found or normal(found[-1]) == normal(subject.answers[row] or ""):
        return None
    return _form(subject, found[-1])


def _long(subject: Subject, row: int) -> str:
    sentence = "I keep thinking about it and do not say what it is. "
    return (sentence * (LONG // len(sentence) + 1))[:LONG]


PROBES = (
    Probe("empty", Text(en="An empty completion", ko="빈 답변"), lambda s, row: ""),
    Probe("tags_only", Text(en="Tags with nothing in them", ko="내용 없이 태그만"), lambda s, row: _form(s, "")),
    Probe("other_gold", Text(en="Another row's answer", ko="다른 행의 정답"), lambda s, row: _form(s, _other(s, row))),
    Probe("echo", Text(en="The prompt repeated", ko="프롬프트 되풀이"), _prompt),
    Probe("premise", Text(en="The first premise as the answer", ko="첫 전제를 답으로 되풀이"),
          lambda s, row: _form(s, first_premise(_prompt(s, row))), code=False),
    Probe("expression", Text(en="The prompt's own expression as the answer", ko="프롬프트의 식을 그대로 답으로"),
          _expression, code=False),
    Probe("several", Text(en="Five answers, one of them right", ko="답 다섯 개 중 하나가 정답"),
          lambda s, row: _form(s, *_several(s, row)), code=False),
    Probe("listed", Text(en="Five answers in one tag", ko="한 태그에 답 다섯 개"),
          lambda s, row: _form(s, ", ".join(_several(s, row))), code=False),
    Probe("outside", Text(en="The right answer outside the tag, a wrong one in it", ko="태그 밖에 정답, 안에 오답"),
          _outside, code=False),
    Probe("thought", Text(en="The answer only inside the thought", ko="생각 안에만 있는 답"), _in_thought, code=False),
    Probe("unfinished", Text(en="A thought that never ends", ko="끝나지 않는 생각"), _unfinished, code=False),
    Probe("long", Text(en="50,000 characters without an answer", ko="답 없는 5만 자"), _long, rows=LONG_TRIED),
)  # fmt: skip


def wrong_checks(subject: Subject, thinks: bool) -> Iterator[Check]:
    """Every probe on the rows whose right answer gets the maximum. `thinks`: the rewards demand a thought.

    Where nobody knows a right answer, but the reward says what its maximum is, those that need none, on any rows.
    """
    if subject.kind != "task":
        return
    programs = subject.name in ("code", "sql")
    chosen = [probe for probe in PROBES if probe.code or not programs]
    known = any(answer is not None for answer in subject.answers)
    rows = subject.usable()[: subject.bench.few(TRIED)]
    if not known and subject.bench.reward.bounds is not None:
        subject.form = BY_ID["answer"]
        subject.low, subject.top = subject.bench.reward.bounds
        rows = list(range(min(subject.bench.few(TRIED), len(subject.rows))))
        chosen = [probe for probe in chosen if probe.id in WITHOUT_GOLD]
    if not rows or subject.form is None:
        return
    asked = [
        (probe, row, text)
        for probe in chosen
        for row in rows[: probe.rows]
        if (text := probe.make(subject, row)) is not None
    ]
    judged = subject.bench.judge([(row, text) for _, row, text in asked])
    for probe in chosen:
        mine = [(row, text, each) for (p, row, text), each in zip(asked, judged, strict=True) if p is probe]
        if mine:
            yield _said(subject, probe, mine, thinks)
    if known and not programs:
        yield from _order(subject, rows)


Found = Sequence[tuple[int, str, Judged]]


def _said(subject: Subject, probe: Probe, found: Found, thinks: bool) -> Check:
    seen = [(row, text, each) for row, text, each in found if not each.skipped and not each.failed]
    if not seen:
        raised = any(each.failed for _, _, each in found)
        words = Text(en="It raises on every one of them.", ko="모두 오류가 납니다.")
        left = Text(en="No time was left.", ko="시간이 부족했습니다.")
        return Check(probe.id, subject.name, "skip", probe.title, words if raised else left)
    hits = [(row, text, each) for row, text, each in seen if subject.full(row, each.score)]
    span = subject.span() or 1.0
    paid = sum(((each.score if each.score is not None else subject.least()) - subject.least()) / span
               for _, _, each in seen) / len(seen)  # fmt: skip
    share = len(hits) / len(seen)
    why = Text(en=probe.title.en.lower(), ko=probe.title.ko)
    examples = [Example(row, text, each.score, "< max", why) for row, text, each in hits]
    counted, counted_ko = f"{len(hits)} of {len(seen)} rows", f"{len(seen)}행 중 {len(hits)}행"
    if share >= WARNS and (probe.id in ("thought", "unfinished") and not thinks):
        words = Text(
            en=f"It reads an answer inside <think> too ({counted}). These rewards ask for no thought; for a model that "
            "thinks, what it only tried there would count.",
            ko=f"<think> 안의 답도 정답으로 봅니다({counted_ko}). 지금 보상은 생각을 요구하지 않지만, 생각하는 "
            "모델이라면 "
            "시도만 한 답도 점수를 받습니다.",
        )
        return Check(probe.id, subject.name, "pass", probe.title, words, examples)
    if share >= WARNS:
        verdict = "fail" if share >= FAILS and not probe.id.startswith("unfin") and probe.id != "thought" else "warn"
        return Check(probe.id, subject.name, verdict, probe.title, _hit_words(probe, counted, counted_ko), examples)
    if paid > PARTLY:
        most = sorted(seen, key=lambda each: -(each[2].score or 0.0))
        words = Text(
            en=f"Not the maximum, but {paid:.0%} of the way to it on average: a model learns that sooner than the "
            "task.",
            ko=f"만점은 아니지만 평균 {paid:.0%}를 받습니다. 모델은 과제보다 이것을 먼저 배웁니다.",
        )
        examples = [Example(row, text, each.score, "< max", why) for row, text, each in most]
        return Check(probe.id, subject.name, "warn", probe.title, words, examples)
    words = Text(
        en=f"{len(seen)} tried, {paid:.0%} of the maximum on average." if not hits else
        f"The maximum in {counted}: chance, or answers that are the same.",
        ko=f"{len(seen)}개 시험, 평균 {paid:.0%}." if not hits else f"{counted_ko}에서 만점: 우연이거나 같은 답입니다.",
    )  # fmt: skip
    return Check(probe.id, subject.name, "pass", probe.title, words, examples)


def _hit_words(probe: Probe, counted: str, counted_ko: str) -> Text:
    if probe.id == "other_gold":
        return Text(
            en=f"It gives the maximum to a wrong answer ({counted}): it looks at the form, not at the answer.",
            ko=f"틀린 답에 만점을 줍니다({counted_ko}). 답이 아니라 형식만 보고 있습니다.",
        )
    return Text(
        en=f"{probe.title.en} gets the maximum in {counted}: a model will find that.",
        ko=f"{probe.title.ko}: {counted_ko}에서 만점입니다. 모델은 이 빈틈을 찾아냅니다.",
    )


RIGHT_FIRST = Text(en="Which of two answers counts", ko="답이 둘일 때 무엇을 보는지")


def _order(subject: Subject, rows: Sequence[int]) -> Iterator[Check]:
    """Right then wrong, and wrong then right: one of the two may count, never both."""
    pairs = [(row, subject.answers[row] or "", _other(subject, row)) for row in rows]
    first = [(row, _form(subject, right, wrong)) for row, right, wrong in pairs]
    last = [(row, _form(subject, wrong, right)) for row, right, wrong in pairs]
    judged = subject.bench.judge([*first, *last])
    if any(each.skipped for each in judged):
        return
    by_first = [subject.full(row, each.score) for (row, _), each in zip(first, judged, strict=False)]
    by_last = [subject.full(row, each.score) for (row, _), each in zip(last, judged[len(first) :], strict=True)]
    share_first, share_last = sum(by_first) / len(rows), sum(by_last) / len(rows)
    why = Text(en="right, then wrong", ko="정답 다음에 오답")
    examples = [Example(*first[at], judged[at].score, "< max", why) for at, hit in enumerate(by_first) if hit]
    if share_first >= FAILS and share_last >= FAILS:
        words = Text(
            en="Any of several answers counts: right then wrong and wrong then right both get the maximum. A model "
            "learns to guess many times.",
            ko="여러 답 중 하나만 맞아도 만점입니다(정답 뒤 오답, 오답 뒤 정답 모두). 모델은 여러 번 찍는 법을 "
            "배웁니다.",
        )
        yield Check("right_then_wrong", subject.name, "fail", RIGHT_FIRST, words, examples)
    elif share_first >= FAILS:
        words = Text(
            en="The first answer counts; what comes after it is not read.",
            ko="첫 번째 답만 봅니다. 그 뒤의 답은 읽지 않습니다.",
        )
        yield Check("right_then_wrong", subject.name, "pass", RIGHT_FIRST, words, examples)
    else:
        says = "The last answer counts." if share_last >= FAILS else "Two answers are never the maximum."
        says_ko = "마지막 답을 봅니다." if share_last >= FAILS else "답이 둘이면 만점을 주지 않습니다."
        yield Check("right_then_wrong", subject.name, "pass", RIGHT_FIRST, Text(en=says, ko=says_ko))
