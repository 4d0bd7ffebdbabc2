"""A reward under audit: what it is, what it compares with, and which format it reads an answer in."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from backend.lab.audit import samples
from backend.lab.audit.bench import Bench, Judged, Row
from backend.lab.audit.formats import BY_ID, FOR_CODE, FOR_FORM, FOR_SQL, FOR_TEXT, Format
from backend.lab.audit.golds import answer_of, distractors, gold_column

# task: looks at the answer. shape: at the form of the text. side: at neither (its length, its language).
Kind = Literal["task", "shape", "side"]
BUILT_IN: dict[str, Kind] = {
    "format": "shape", "regex": "shape", "json": "shape", "length": "side", "repetition": "side", "language": "side",
}  # fmt: skip
STRICT = ("accuracy", "exact")  # letter for letter, and documented so
ALMOST = 1e-9
NEARLY = 0.05  # of the span
BY_LENGTH = 0.95  # a score that follows the length this closely is one of the length
LOOKED_AT = 6  # rows on which the format is found


@dataclass
class Subject:
    """`answers[i]`: what a right completion for row i says, None where nobody knows. `form`: the format in which the
    reward gives right answers the most; `right`: its verdicts on all rows in that format."""

    bench: Bench
    kind: Kind
    custom: bool
    args: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    source: str | None = None
    used: str | None = None
    """What of the source the function uses."""
    function: str | None = None
    level: str | None = None
    is_file: bool = False
    gold_column: str | None = None
    answers_from: str | None = None
    """The column that the answers were taken from, also where the reward names none."""
    answers: list[str | None] = field(default_factory=list)
    formats: list[Format] = field(default_factory=list)
    """Those that are tried on it."""
    by_format: dict[str, list[Judged]] = field(default_factory=dict)
    form: Format | None = None
    right: list[Judged] = field(default_factory=list)
    top: float | None = None
    low: float | None = None
    halted: bool = False
    """Nothing more can be asked: it breaks the contract, or answers by chance."""

    @property
    def name(self) -> str:
        return self.bench.name

    @property
    def rows(self) -> Sequence[Row]:
        return self.bench.rows

    def golds(self) -> list[Any]:
        return [row.get(self.answers_from) if self.answers_from else None for row in self.rows]

    def usable(self) -> list[int]:
        """Rows whose right answer got the maximum: the only ones on which a wrong answer says something."""
        return [row for row, each in enumerate(self.right) if self.full(row, each.score)]

    def full(self, row: int, score: float | None) -> bool:
        """Whether `score` is the maximum. Without bounds: what the right answer to this row gets, less 5% of the span,
        where that is more than half of what the reward gives at all."""
        if score is None or self.top is None or self.low is None:
            return False
        bounds = self.bench.reward.bounds
        if bounds is not None:
            return score >= bounds[1] - ALMOST
        half = self.low + 0.5 * (self.top - self.low)
        right = self.right[row].score if row < len(self.right) else None
        if right is None or right <= half:
            return score > half
        return score >= right - NEARLY * (self.top - self.low)

    def span(self) -> float:
        bounds = self.bench.reward.bounds
        if bounds is not None:
            return bounds[1] - bounds[0]
        return (self.top or 0.0) - (self.low or 0.0)

    def least(self) -> float:
        bounds = self.bench.reward.bounds
        return bounds[0] if bounds is not None else (self.low or 0.0)


def candidates(name: str, more: Sequence[Format] = ()) -> list[Format]:
    """The formats worth trying on a reward; `more`: those that the sources of custom rewards ask for."""
    first = {"code": FOR_CODE, "sql": FOR_SQL, "json": FOR_FORM, "regex": FOR_FORM}.get(name, ())
    if name in ("code", "sql"):
        return [BY_ID[each] for each in first]
    return [*(BY_ID[each] for each in dict.fromkeys((*first, *FOR_TEXT))), *more]


def find_answers(subject: Subject, with_task: bool = False) -> None:
    """Fill `gold_column` and `answers`: from the ground truths, or made up to fit what the reward asks for.

    `with_task`: another reward judges the answer, so a reward of the form is tried on answers to the task first.
    """
    subject.gold_column = gold_column(subject.columns, subject.rows, False)
    subject.answers_from = subject.gold_column or gold_column((), subject.rows, True)
    golds = [row.get(subject.answers_from) if subject.answers_from else None for row in subject.rows]
    made = None
    if not (with_task and subject.kind == "shape"):
        made = samples.answers(subject.name, subject.args, subject.rows, golds)
    subject.answers = made if made is not None else [answer_of(gold) for gold in golds]
    if subject.kind != "task" and not any(subject.answers):
        subject.answers = ["42"] * len(subject.rows)


def try_formats(subject: Subject) -> None:
    """Judge right answers to a few rows in every format, in one go; fills `by_format`, `top` and `low`."""
    chosen = subject.formats
    known = [row for row, answer in enumerate(subject.answers) if answer is not None]
    rows = known[: subject.bench.few(LOOKED_AT)]
    asked = [(row, form.text(subject.answers[row] or "")) for form in chosen for row in rows]
    # What nothing is worth: an empty completion, and another row's answer.
    base = [(row, "") for row in rows]
    golds = subject.golds()
    other = [(row, form.text(alike(subject, row, golds[row]))) for form in chosen for row in rows]
    found = subject.bench.judge([*asked, *base, *other])
    for at, form in enumerate(chosen):
        subject.by_format[form.id] = found[at * len(rows) : (at + 1) * len(rows)]
    scores = [each.score for each in found if each.score is not None]
    if scores:
        subject.top, subject.low = max(scores), min(scores)
    others = found[len(asked) + len(base) :]
    if subject.custom and subject.kind == "task":
        subject.kind = _kind(subject, [text for _, text in asked], found[: len(asked)], others)


def alike(subject: Subject, row: int, gold: Any) -> str:
    """A wrong answer as long as the right one: a reward of the length cannot tell them apart."""
    own = subject.answers[row] or ""
    same = [each for each in distractors(subject.answers, row, 6, gold) if len(each) == len(own)]
    made = [own[1:] + own[:1], own[::-1], "7" * len(own), "x" * len(own)]
    return next(each for each in [*same, *made] if each != own or not own)


def _kind(subject: Subject, texts: Sequence[str], right: Sequence[Judged], wrong: Sequence[Judged]) -> Kind:
    """What a custom reward is, by what it does: it tells right from wrong, or one form from another, or neither."""
    if subject.gold_column is not None:
        return "task"  # it reads the ground truth, so it is meant to
    if any((a.score or 0.0) > (b.score or 0.0) + ALMOST for a, b in zip(right, wrong, strict=True)):
        return "task"
    scores = [each.score or 0.0 for each in right]
    if max(scores, default=0.0) <= min(scores, default=0.0):
        return "side"
    return "side" if abs(_together([len(text) for text in texts], scores)) > BY_LENGTH else "shape"


def _together(lengths: Sequence[int], scores: Sequence[float]) -> float:
    """The correlation of length and score, -1..1."""
    try:
        return statistics.correlation(lengths, scores)
    except statistics.StatisticsError:  # one of them never differs
        return 0.0


def _mean(judged: Sequence[Judged]) -> float:
    return statistics.fmean([each.score or 0.0 for each in judged]) if judged else 0.0


def best_format(subject: Subject) -> Format | None:
    """The first of the formats in which right answers score the most; None where there is no right answer."""
    chosen = subject.formats
    judged = [form for form in chosen if any(each.score is not None for each in subject.by_format.get(form.id, ()))]
    if not judged:
        return chosen[0] if any(subject.by_format.values()) else None
    most = max(_mean(subject.by_format[form.id]) for form in judged)
    return next(form for form in judged if _mean(subject.by_format[form.id]) >= most - ALMOST)


def demanded(subjects: Sequence[Subject], chosen: Sequence[Format]) -> Format | None:
    """The format that a set of rewards asks for together: where their shares of the maximum add up to the most."""

    def worth(form: Format) -> float:
        return sum(share(subject, form) for subject in subjects)

    known = [form for form in chosen if all(form.id in subject.by_format for subject in subjects)]
    if not known or not subjects:
        return None
    most = max(worth(form) for form in known)
    return next(form for form in known if worth(form) >= most - ALMOST)


def share(subject: Subject, form: Format) -> float:
    """What part of its span a reward gives to right answers in this format, 0..1."""
    span = subject.span()
    judged = subject.by_format.get(form.id) or []
    return 0.0 if span <= 0 else max(0.0, min(1.0, (_mean(judged) - subject.least()) / span))


def settle(subject: Subject, form: Format | None) -> None:
    """Judge the right answers of all rows in `form`; fills `form` and `right`."""
    subject.form = form
    if form is None:
        return
    known = [row for row, answer in enumerate(subject.answers) if answer is not None]
    rows = known[: subject.bench.few(len(known))]
    judged = subject.bench.judge([(row, form.text(subject.answers[row] or "")) for row in rows])
    subject.right = [Judged(None, skipped=True)] * len(subject.rows)
    for row, each in zip(rows, judged, strict=True):
        subject.right[row] = each
    scores = [each.score for each in judged if each.score is not None]
    if scores:
        subject.top = max([*scores, subject.top if subject.top is not None else scores[0]])
        subject.low = min([*scores, subject.low if subject.low is not None else scores[0]])
