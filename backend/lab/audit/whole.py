"""What only shows when all rewards of a configuration are looked at together, with their weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend.lab.audit.bench import Judged, Row
from backend.lab.audit.formats import Format
from backend.lab.audit.golds import GOLD_NAMES, filled, gold_column, is_blank, kind_of, wrong_answer
from backend.lab.audit.making import blank
from backend.lab.audit.report import Check, Example, score_text
from backend.lab.audit.subject import Subject, share
from backend.text import Text

SUITS = 0.9  # of what a reward can give to right answers at all
TRIED = 8
UNREADABLE = 0.05
AGAINST = 0.02  # of what the task gives: less is no opposition

GOLDS = Text(en="Ground truths", ko="정답 열")
TASK = Text(en="Who judges the answer", ko="답을 판정하는 보상")
ONE_FORMAT = Text(en="One format for all rewards", ko="모든 보상에 맞는 형식")
WEIGHTS = Text(en="Weight of the task against the form", ko="과제와 형식의 비중")
RIGHT_WINS = Text(en="Totals of right and wrong answers", ko="정답과 오답의 총점")
SIGNS = Text(en="Directions of the rewards", ko="보상의 방향")


def gold_rows(rows: Sequence[Row], subjects: Sequence[Subject]) -> Iterator[Check]:
    """Ground truths that are missing, or that a reward says it cannot read."""
    for subject in subjects:
        if subject.custom and subject.gold_column is None:
            yield from _nothing_in(subject, rows)
        if subject.kind != "task":
            continue
        column = subject.gold_column or (
            subject.columns[0] if subject.columns and "**" not in subject.columns else None
        )
        if column is None:
            continue
        golds = [row.get(column) for row in rows]
        unreadable = getattr(getattr(subject.bench.reward, "spec", None), "unreadable", None)
        bad: list[tuple[int, str]] = []
        for row, gold in enumerate(golds):
            why = "blank" if is_blank(gold) else unreadable(gold) if unreadable else None
            if why:
                bad.append((row, str(why)))
        kind = kind_of(golds)
        if not bad:
            words = Text(
                en=f"{len(rows)} of {len(rows)} rows ({kind}).", ko=f"{len(rows)}행 모두 읽을 수 있습니다({kind})."
            )
            yield Check("golds", subject.name, "pass", GOLDS, words)
            continue
        examples = [Example(row, str(golds[row]), None, "", Text(en=why, ko=why)) for row, why in bad]
        share_bad = len(bad) / len(rows)
        verdict = "fail" if share_bad == 1 else "warn" if share_bad > UNREADABLE else "pass"
        would = blank(subject, column) if all(is_blank(gold) for gold in golds) else Text(en="", ko="")
        words = Text(
            en=f"{len(bad)} of {len(rows)} rows have no usable {column} ({bad[0][1]}): they get no score.{would.en}",
            ko=f"{len(rows)}행 중 {len(bad)}행의 {column} 값을 쓸 수 없습니다({bad[0][1]}). 점수가 매겨지지 않습니다."
            f"{would.ko}",
        )
        yield Check("golds", subject.name, verdict, GOLDS, words, examples, stops=verdict == "fail")


def _nothing_in(subject: Subject, rows: Sequence[Row]) -> Iterator[Check]:
    """A column of ground truths that a custom reward names, and that is blank in every row."""
    there = filled(rows)
    empty = [name for name in subject.columns if name in GOLD_NAMES and name not in there and name in rows[0]]
    if not empty or not any(name in there for name in GOLD_NAMES):
        return
    would = blank(subject, empty[0])
    words = Text(
        en=f"It takes {empty[0]}, and that is blank in all {len(rows)} rows.{would.en}",
        ko=f"{empty[0]} 열을 쓰는데 {len(rows)}행 모두 비어 있습니다.{would.ko}",
    )
    yield Check("blank", subject.name, "warn", GOLDS, words)


def task_check(subjects: Sequence[Subject], rows: Sequence[Row]) -> Iterator[Check]:
    """Rows with ground truths, and no reward that looks at them."""
    if any(subject.kind == "task" for subject in subjects) or gold_column((), rows, True) is None:
        return
    names = ", ".join(subject.name for subject in subjects)
    words = Text(
        en=f"The rows have ground truths, but none of {names} looks at them: the total can rise while every answer is "
        "wrong. Add accuracy, math or another reward of the answer.",
        ko=f"데이터에 정답이 있지만 {names} 중 어느 것도 정답을 보지 않습니다. 모두 틀려도 총점이 오를 수 있습니다. "
        "accuracy나 "
        "math처럼 답을 보는 보상을 추가하세요.",
    )
    yield Check("task", None, "warn", TASK, words)


def format_check(subjects: Sequence[Subject], form: Format | None) -> Iterator[Check]:
    """Whether the demanded format gives each reward what it can give at all."""
    asked = [subject for subject in subjects if subject.kind != "side" and subject.by_format]
    if form is None or len(asked) < 2:
        return
    out = []
    for subject in asked:
        best = max(subject.formats, key=lambda each: share(subject, each))
        most = share(subject, best)
        if most > 0 and share(subject, form) < SUITS * most:
            out.append((subject, best))
    if not out:
        words = Text(en=f"{form.label.en} suits all of them.", ko=f"{form.label.ko} 형식이 모두에 맞습니다.")
        yield Check("format", None, "pass", ONE_FORMAT, words)
        return
    named = "; ".join(f"{subject.name}: {best.label.en}" for subject, best in out)
    named_ko = "; ".join(f"{subject.name}: {best.label.ko}" for subject, best in out)
    firm = all(not subject.custom and subject.name not in ("regex", "json") for subject, _ in out)
    hedge = "" if firm else " Of the formats known here, that is; another one may suit all."
    hedge_ko = "" if firm else " 여기서 시험한 형식 가운데서입니다. 다른 형식이 맞을 수도 있습니다."
    words = Text(
        en=f"{form.label.en} is the nearest, and these want something else: {named}. No answer gets the maximum "
        f"from all.{hedge}",
        ko=f"{form.label.ko} 형식이 가장 가깝지만 다음 보상은 다른 것을 원합니다: {named_ko}. 모든 보상에서 만점을 "
        "받는 답이 "
        f"없습니다.{hedge_ko}",
    )
    yield Check("format", None, "fail" if firm else "warn", ONE_FORMAT, words)


def total_checks(subjects: Sequence[Subject], weights: Sequence[float], form: Format | None) -> Iterator[Check]:
    """Totals of a right answer against a wrong one in the same form, and against a right one without the form."""
    if form is None or not subjects:
        return
    first = next((subject for subject in subjects if subject.kind == "task" and subject.usable()), None)
    if first is None:
        return
    rows = first.usable()[: min(subject.bench.few(TRIED) for subject in subjects)]
    golds = first.golds()
    right = [(row, form.text(first.answers[row] or "")) for row in rows]
    wrong = [(row, form.text(wrong_answer(first.answers, row, golds[row]))) for row in rows]
    empty = [(row, "") for row in rows]
    tables = {
        subject.name: subject.bench.judge([*right, *wrong, *empty])
        for subject in subjects
        if not subject.halted or subject.bench.calls
    }
    if any(each.skipped for table in tables.values() for each in table):
        return
    count = len(rows)
    gains = {
        subject.name: weight * (_mean(tables[subject.name][:count]) - _mean(tables[subject.name][count : 2 * count]))
        for subject, weight in zip(subjects, weights, strict=True)
    }
    forms = {
        subject.name: weight
        * (_mean(tables[subject.name][count : 2 * count]) - _mean(tables[subject.name][2 * count :]))
        for subject, weight in zip(subjects, weights, strict=True)
    }
    yield from _wins(subjects, weights, tables, count, right, wrong)
    yield from _weights(subjects, gains, forms)
    against = [name for name, gain in gains.items() if gain < -AGAINST * max(gains.values())]
    if against and sum(gains.values()) > 0:
        words = Text(
            en=f"{', '.join(against)} gives a wrong answer more than a right one, against the others.",
            ko=f"{', '.join(against)}은(는) 다른 보상과 반대로 오답에 더 높은 점수를 줍니다.",
        )
        yield Check("signs", None, "warn", SIGNS, words)


def _wins(
    subjects: Sequence[Subject],
    weights: Sequence[float],
    tables: dict[str, list[Judged]],
    count: int,
    right: Sequence[tuple[int, str]],
    wrong: Sequence[tuple[int, str]],
) -> Iterator[Check]:
    def totals(start: int) -> list[float]:
        return [
            sum(w * (tables[s.name][start + at].score or 0.0) for s, w in zip(subjects, weights, strict=True))
            for at in range(count)
        ]

    best, other, nothing = totals(0), totals(count), totals(2 * count)
    low, high = sum(min(o, n) for o, n in zip(other, nothing, strict=True)) / count, sum(best) / count
    lost = [at for at in range(count) if max(other[at], nothing[at]) >= best[at] - 1e-9]
    if lost:
        words = Text(
            en=f"In {len(lost)} of {count} rows a wrong or empty answer has at least the total of the right one: look "
            "at the weights and their signs.",
            ko=f"{count}행 중 {len(lost)}행에서 오답이나 빈 답변의 총점이 정답 이상입니다. 가중치와 부호를 확인하세요.",
        )
        why = Text(en="a wrong answer with the higher total", ko="총점이 더 높은 오답")
        examples = [Example(wrong[at][0], wrong[at][1], other[at], f"< {score_text(best[at])}", why) for at in lost]
        yield Check("total", None, "fail" if len(lost) * 2 >= count else "warn", RIGHT_WINS, words, examples)
        return
    words = Text(
        en=f"From {score_text(low)} for nothing right to {score_text(high)} for a right answer in its form.",
        ko=f"맞은 것이 없으면 {score_text(low)}, 형식까지 맞은 정답은 {score_text(high)}입니다.",
    )
    yield Check("total", None, "pass", RIGHT_WINS, words, [Example(*right[0], best[0], "", words)])


def _weights(subjects: Sequence[Subject], gains: dict[str, float], forms: dict[str, float]) -> Iterator[Check]:
    task = sum(gains[subject.name] for subject in subjects if subject.kind == "task")
    form = sum(max(forms[subject.name], 0.0) for subject in subjects if subject.kind != "task")
    names = ", ".join(subject.name for subject in subjects if subject.kind != "task" and forms[subject.name] > 0)
    if form <= 0 or task <= 0:
        return
    told = f"a right answer instead of a wrong one adds {score_text(task)}, the form alone {score_text(form)} ({names})"
    told_ko = f"정답이면 {score_text(task)}, 형식만 맞아도 {score_text(form)}({names})"
    if form > task * (1 + 1e-6):
        words = Text(
            en=f"The form outweighs the task: {told}. Groups will differ by form first, and the model learns that. "
            "Lower its weight.",
            ko=f"형식이 과제보다 큽니다: {told_ko}. 모델은 형식부터 배웁니다. 형식 보상의 가중치를 낮추세요.",
        )
        yield Check("weights", None, "warn", WEIGHTS, words)
    else:
        words = Text(en=f"{told[0].upper()}{told[1:]}.", ko=f"{told_ko}.")
        yield Check("weights", None, "pass", WEIGHTS, words)


def _mean(judged: Sequence[Judged]) -> float:
    return sum(each.score or 0.0 for each in judged) / max(len(judged), 1)
