"""Other ways to write a right answer: those that the reward refuses, and those on which it raises."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from backend.lab.audit.bench import Judged
from backend.lab.audit.formats import Format
from backend.lab.audit.golds import Equivalent, equivalents
from backend.lab.audit.report import Check, Example
from backend.lab.audit.subject import STRICT, Subject
from backend.text import Text

TRIED = 12

EQUAL = Text(en="Other ways to write the right answer", ko="같은 답의 다른 표기")


def equivalent_checks(subject: Subject) -> Iterator[Check]:
    """Other spellings of answers that got the maximum. `likely` ones that are refused warn; the rest is a note."""
    form = subject.form
    if subject.kind != "task" or form is None or subject.name in ("code", "sql"):
        return
    rows = subject.usable()[: subject.bench.few(TRIED)]
    spelled = {row: [e for e in equivalents(subject.answers[row] or "") if _fits(form, e.text)] for row in rows}
    asked: list[tuple[int, str, Equivalent]] = [
        (row, form.text(other.text), other) for row in rows for other in spelled[row]
    ]
    if not asked:
        return
    judged = subject.bench.judge([(row, text) for row, text, _ in asked])
    refused: dict[str, list[tuple[int, str, Equivalent, Judged]]] = {}
    raised: dict[str, Equivalent] = {}
    for (row, text, other), each in zip(asked, judged, strict=True):
        if each.failed:
            raised.setdefault(other.id, other)
        elif not each.skipped and not subject.full(row, each.score):
            refused.setdefault(other.id, []).append((row, text, other, each))
    kinds = len({other.id for _, _, other in asked})
    if raised and not refused:
        words = Text(
            en=f"Of {kinds} kinds of spelling tried, it raises on {_named(raised.values()).en}; the others get the "
            "maximum.",
            ko=f"시험한 표기 {kinds}가지 중 다음에서 오류가 납니다: {_named(raised.values()).ko}. 나머지는 만점입니다.",
        )
        likely = any(other.likely for other in raised.values())
        yield Check("equivalents", subject.name, "warn" if likely else "pass", EQUAL, words)
        return
    if not refused:
        words = Text(
            en=f"All {kinds} kinds of spelling tried get the maximum.", ko=f"시험한 표기 {kinds}가지 모두 만점입니다."
        )
        yield Check("equivalents", subject.name, "pass", EQUAL, words)
        return
    some = [each[0] for each in refused.values()]
    named, named_ko = _named([other for _, _, other, _ in some]).en, _named([other for _, _, other, _ in some]).ko
    if raised:
        named += f"; it raises on {_named(raised.values()).en}"
        named_ko += f"; 오류가 나는 표기: {_named(raised.values()).ko}"
    why = Text(en="the same answer", ko="같은 답")
    examples = [Example(row, text, each.score, "max", why) for row, text, _, each in some]
    if subject.name in STRICT:
        words = Text(
            en=f"By design, letter for letter: not taken as the right answer are {named}. The reward math takes them.",
            ko=f"글자 그대로 비교하도록 만든 보상입니다. 정답으로 보지 않는 표기: {named_ko}. 수학(math) 보상은 "
            "받아들입니다.",
        )
        yield Check("equivalents", subject.name, "pass", EQUAL, words, examples)
        return
    warns = any(other.likely for _, _, other, _ in some)
    words = Text(
        en=f"Not taken as the right answer: {named}."
        + (" A model will write some of these, and be punished for a right answer." if warns else ""),
        ko=f"정답으로 보지 않는 표기: {named_ko}." + (" 모델이 이렇게 쓰면 맞히고도 점수를 잃습니다." if warns else ""),
    )
    yield Check("equivalents", subject.name, "warn" if warns else "pass", EQUAL, words, examples)


def _named(others: Iterable[Equivalent]) -> Text:
    return Text(
        en=", ".join(f"{other.label.en} ({other.text.strip()})" for other in others),
        ko=", ".join(f"{other.label.ko}({other.text.strip()})" for other in others),
    )


def _fits(form: Format, text: str) -> bool:
    """Where a JSON value is asked for, only such a spelling says the same."""
    if not form.literal:
        return True
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
