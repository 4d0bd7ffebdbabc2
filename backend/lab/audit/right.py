"""What must be right: the ground truth in the demanded format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backend.lab.audit.derived import asks_for_a_form
from backend.lab.audit.formats import Format
from backend.lab.audit.golds import kind_of
from backend.lab.audit.report import Check, Example, score_text
from backend.lab.audit.subject import Subject, share
from backend.text import Text

TRIED = 12
READS = 0.5  # a format is read where right answers get this share of the span, when nothing gets all of it

GOLD = Text(en="Right answers", ko="정답 답변")
SHAPE = Text(en="Texts in its format", ko="형식에 맞는 글")
TYPE = Text(en="Numbers against texts", ko="숫자와 문자열 비교")


def _skip(subject: Subject, kind: str, title: Text, en: str, ko: str) -> Check:
    return Check(kind, subject.name, "skip", title, Text(en=en, ko=ko))


def gold_checks(subject: Subject) -> Iterator[Check]:
    """The answer of every row in the format that the rewards demand."""
    title = GOLD if subject.kind == "task" else SHAPE
    if subject.kind == "side":
        yield _skip(
            subject, "gold", title, "It judges neither the answer nor its form.", "정답도 형식도 보지 않는 보상입니다."
        )
        return
    known = [row for row, answer in enumerate(subject.answers) if answer is not None]
    if not known or subject.form is None:
        yield _skip(
            subject, "gold", title,
            "No right answer can be made from these rows: there is no column with one that can be written down.",
            "이 데이터로는 정답 답변을 만들 수 없습니다. 글로 적을 수 있는 정답 열이 없습니다.",
        )  # fmt: skip
        return
    asked = [row for row in known if not subject.right[row].skipped]
    missed = [row for row in asked if not subject.full(row, subject.right[row].score)]
    typed = list(_by_type(subject, missed, subject.form)) if subject.kind == "task" and missed else []
    if typed:
        yield from typed
        return
    reads = ", ".join(form.label.en for form in subject.formats if _read(subject, form))
    if not missed:
        yield Check(
            "gold",
            subject.name,
            "pass",
            title,
            Text(
                en=f"{len(asked)} of {len(asked)} rows as {subject.form.label.en}. It reads: {reads}.",
                ko=f"{len(asked)}행 모두 {subject.form.label.ko} 형식에서 만점입니다. 읽는 형식: {reads}.",
            ),
        )
        return
    examples = [
        Example(row, subject.form.text(subject.answers[row] or ""), subject.right[row].score, "max", _why(subject, row))
        for row in missed
    ]
    flat = subject.span() <= 0 or not any((subject.right[row].score or 0) > subject.least() for row in asked)
    none = all(subject.right[row].score is None for row in asked)
    what = "no score" if none else "the least score" if flat else "less than the maximum"
    what_ko = "점수 없음" if none else "최저점" if flat else "만점 미만"
    unsure = (flat or none) and asks_for_a_form(subject.used)
    severe = len(missed) > 0.5 * len(asked) and not unsure
    hint = f" in every one of {len(subject.formats)} formats" if flat and not none else ""
    hint_ko = f"({len(subject.formats)}가지 형식 모두)" if flat and not none else ""
    if unsure:
        hint = f" in all {len(subject.formats)} formats tried; it may want one that was not, or always give that"
        hint_ko = (
            f"(시험한 형식 {len(subject.formats)}가지 모두. 시험하지 않은 형식을 원하거나, 늘 그 점수일 수 있습니다)"
        )
    yield Check(
        "gold",
        subject.name,
        "fail" if severe else "warn",
        title,
        Text(
            en=f"{len(missed)} of {len(asked)} right answers get {what}{hint}: {_why(subject, missed[0]).en}",
            ko=f"정답 {len(asked)}개 중 {len(missed)}개가 {what_ko}입니다{hint_ko}: {_why(subject, missed[0]).ko}",
        ),
        examples,
        stops=severe and flat and subject.kind == "task",
    )


def _read(subject: Subject, form: Format) -> bool:
    best = max((share(subject, each) for each in subject.formats), default=0.0)
    return best > 0 and share(subject, form) >= max(READS, best - 0.05)


def _why(subject: Subject, row: int) -> Text:
    """What the reward itself says, in its own words."""
    from backend.rewards import reasons

    each = subject.right[row]
    if each.reason is None:
        said = "None" if each.score is None else score_text(each.score)
        return Text(en=f"it gives {said}", ko=f"점수가 {said}입니다")
    return reasons.text(each.reason[:300])


def _by_type(subject: Subject, missed: list[int], form: Format) -> Iterator[Check]:
    """Whether the same ground truth, as text instead of a number or the other way round, would have counted."""
    if subject.answers_from is None:
        return
    golds = [subject.rows[row].get(subject.answers_from) for row in missed]
    kind = kind_of(golds)
    turned = [_turned(gold) for gold in golds]
    chosen = [at for at, value in enumerate(turned) if value is not None][:TRIED]
    if not chosen:
        return
    asked = [(missed[at], form.text(subject.answers[missed[at]] or "")) for at in chosen]
    judged = subject.bench.judge(asked, {subject.answers_from: [turned[at] for at in chosen]})
    before = [subject.right[row].score or 0.0 for row, _ in asked]
    better = [at for at, each in enumerate(judged) if each.score is not None and each.score > before[at] + 1e-9]
    if len(better) * 2 < len(chosen):
        return
    number = kind == "number" or (kind == "mixed" and not isinstance(golds[chosen[better[0]]], str))
    is_now, is_now_ko = ("numbers", "숫자") if number else ("texts", "문자열")
    would, would_ko = ("texts", "문자열") if number else ("numbers", "숫자")
    first = subject.rows[asked[better[0]][0]].get(subject.answers_from)
    yield Check(
        "type",
        subject.name,
        "fail",
        TYPE,
        Text(
            en=f"type: the ground truths are {is_now} ({first!r}), and the reward compares them as if they were "
            f"{would}: "
            f"the right answer gets {score_text(before[better[0]])} and would get "
            f"{score_text(judged[better[0]].score)} for {_turned(first)!r}. Compare str(ground_truth), or cast the "
            "column.",
            ko=f"자료형 문제: 정답 열이 {is_now_ko}({first!r})인데 보상은 {would_ko}처럼 비교합니다. 맞는 답이 "
            f"{score_text(before[better[0]])}점이고, 정답이 {_turned(first)!r}이면 "
            f"{score_text(judged[better[0]].score)}점입니다. "
            "str(ground_truth)로 비교하거나 열의 자료형을 바꾸세요.",
        ),
        [
            Example(
                asked[at][0],
                asked[at][1],
                before[at],
                "max",
                Text(en=f"gold {golds[chosen[at]]!r}", ko=f"정답 {golds[chosen[at]]!r}"),
            )
            for at in better
        ],
        stops=True,
    )


def _turned(gold: Any) -> Any:
    """The same ground truth in the other type; None where it has none."""
    if isinstance(gold, bool) or gold is None:
        return None
    if isinstance(gold, int | float):
        return str(gold)
    if isinstance(gold, str):
        try:
            return int(gold)
        except ValueError:
            try:
                return float(gold)
            except ValueError:
                return None
    return None
