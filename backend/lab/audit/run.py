"""The audit as a whole: which rewards, which rows, which checks, and how long it may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from backend.errors import Refused
from backend.lab.audit import asked, contract, form, right, rows, spelled, steady, whole, wrong
from backend.lab.audit.bench import Budget
from backend.lab.audit.derived import formats_in
from backend.lab.audit.formats import FORMATS, Format
from backend.lab.audit.making import make
from backend.lab.audit.quiet import logged_once
from backend.lab.audit.report import Check, overall
from backend.lab.audit.subject import (
    Subject,
    best_format,
    candidates,
    demanded,
    find_answers,
    settle,
    share,
    try_formats,
)
from backend.lab.table import budget as allowed
from backend.settings import Settings
from backend.text import Text
from storage.reader import Reader

BUDGET_S = 60.0
Progress = Callable[[int, int, Text], None]
Row = dict[str, Any]

LEFT_OUT = Text(en="Time", ko="시간")


def audit(
    settings: Settings,
    values: Mapping[str, Any],
    given: Sequence[Mapping[str, Any]] | None = None,
    limit: int = 32,
    *,
    reader: Reader | None = None,
    progress: Progress | None = None,
    trusted: bool = False,
    budget_s: float = BUDGET_S,
) -> dict[str, Any]:
    """See LabService.audit. What rewards log meanwhile is said once. `trusted`: rewards that are files run with the
    person's own rights. Refused where the rows cannot be read."""
    began = time.perf_counter()
    whole_values = rows.with_defaults(values)
    if not whole_values.get("rewards"):
        raise Refused(Text(en="rewards: choose at least one to audit", ko="rewards: 점검할 보상을 하나 이상 고르세요"))
    found = rows.checked(given)[:limit] if given else rows.sample(settings, reader, whole_values, limit)
    budget = Budget(allowed(budget_s))
    work = Audit(settings, whole_values, found, budget, trusted, rows.step_seconds(reader, whole_values), progress)
    with logged_once():
        checks = list(work.run())
    verdict = overall(checks)
    return {
        "ok": verdict != "fail",
        "verdict": verdict,
        "checks": [check.to_json() for check in checks],
        "rows": len(found),
        "format": work.form.label.to_json() if work.form else None,
        "seconds": time.perf_counter() - began,
    }


def made(settings: Settings, values: Mapping[str, Any], given: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """See LabService.made."""
    found = rows.checked(given)
    if not found:
        return []
    work = Audit(settings, rows.with_defaults(values), found, Budget(10.0))
    work.prepare()
    answers = next((subject.answers for subject in work.ordered() if any(subject.answers)), None)
    if answers is None or work.form is None:
        return [None] * len(found)
    return [None if answer is None else work.form.text(answer) for answer in answers]


class Audit:
    """One pass over the rewards of a configuration. `form`: the format that they demand together."""

    def __init__(
        self,
        settings: Settings,
        values: Mapping[str, Any],
        found: Sequence[Row],
        budget: Budget,
        trusted: bool = False,
        step_s: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.settings, self.values, self.rows, self.budget = settings, values, found, budget
        self.trusted, self.step_s, self.progress = trusted, step_s, progress
        self.form: Format | None = None
        self.subjects: list[Subject] = []
        self.weights: list[float] = []
        self._done = 0

    def run(self) -> Iterator[Check]:
        said: dict[str | None, dict[str, str]] = {}
        for check in self._looked():
            said.setdefault(check.reward, {})[check.kind] = check.verdict
            yield check
        for subject in self.subjects:
            kinds = said.get(subject.name, {})
            yield from contract.missed_checks(subject, kinds)
            yield from contract.same_checks(subject, kinds, len(self.values.get("rewards") or ()) == 1)
        if self.budget.spent:
            words = Text(
                en=f"The {self.budget.seconds:g} s of the audit were used up: what is missing was not looked at. Fewer "
                "rows, or a faster reward, leave time for it.",
                ko=f"점검 시간 {self.budget.seconds:g}초를 모두 썼습니다. 빠진 검사는 하지 않았습니다. 행을 줄이거나 "
                "보상을 더 "
                "빠르게 하세요.",
            )
            yield Check("time", None, "skip", LEFT_OUT, words)

    def _looked(self) -> Iterator[Check]:
        yield from self._made_subjects()
        for subject in self.subjects:
            yield from self._basics(subject)
        self.prepare()
        for subject in self._alive():
            yield from self._rest(subject)
        yield from self._whole()

    def prepare(self) -> None:
        """Find the answers, the formats that each reward reads, and the one that they demand together."""
        if not self.subjects:
            list(self._made_subjects())
        more = formats_in([subject.used for subject in self._alive() if subject.used is not None])
        for subject in self._alive():
            subject.formats = candidates(subject.name, more)
            try_formats(subject)
            if subject.kind == "shape" and self._with_task() and not any(share(subject, f) for f in subject.formats):
                find_answers(subject)
                try_formats(subject)
        judging = [subject for subject in self._alive() if subject.kind != "side" and any(subject.answers)]
        order = judging[0].formats if len(judging) == 1 else [*FORMATS, *more]
        self.form = demanded(judging, order)
        for subject in self._alive():
            own = best_format(subject)
            suits = (
                self.form is not None and own is not None and share(subject, self.form) >= share(subject, own) - 0.05
            )
            settle(subject, self.form if suits and subject.kind != "side" else own)

    def _with_task(self) -> bool:
        return any(subject.kind == "task" and not subject.custom for subject in self.subjects)

    def ordered(self) -> list[Subject]:
        """Rewards of the answer first."""
        return sorted(self._alive(), key=lambda subject: ("task", "shape", "side").index(subject.kind))

    def _alive(self) -> list[Subject]:
        return [subject for subject in self.subjects if not subject.halted]

    def _made_subjects(self) -> Iterator[Check]:
        names = list(self.values.get("rewards") or ())
        weights = list(self.values.get("reward_weights") or [1.0] * len(names))
        for name, weight in zip(names, weights, strict=False):
            found = make(self.settings, name, self.values, self.rows, self.budget, self.trusted)
            if isinstance(found, Check):
                yield found
            else:
                self.subjects.append(found)
                self.weights.append(float(weight))
        for subject in self.subjects:
            find_answers(subject, self._with_task())

    def _basics(self, subject: Subject) -> Iterator[Check]:
        yield from self._step(subject, contract.source_checks(subject), "source", "소스")
        yield from self._step(subject, steady.pattern_checks(subject), "patterns", "패턴")
        if not subject.halted:
            yield from self._step(subject, contract.call_checks(subject), "a first call", "첫 호출")
        if not subject.halted:
            yield from self._step(subject, steady.steady_checks(subject), "the same twice", "결정성")

    def _rest(self, subject: Subject) -> Iterator[Check]:
        thinks = self.form is not None and self.form.thinks
        elsewhere = any(other.kind == "task" for other in self._alive() if other is not subject)
        yield from self._step(subject, right.gold_checks(subject), "right answers", "정답")
        yield from self._step(subject, wrong.wrong_checks(subject, thinks), "wrong answers", "오답")
        yield from self._step(subject, spelled.equivalent_checks(subject), "other spellings", "다른 표기")
        yield from self._step(
            subject, asked.asked_checks(subject, self.values), "what the prompts ask for", "프롬프트의 요구"
        )
        yield from self._step(subject, form.tag_checks(subject, elsewhere), "form", "형식")
        yield from self._step(subject, form.length_checks(subject), "length", "길이")
        yield from self._step(subject, contract.other_shape(subject), "shapes", "모양")
        speed = steady.speed_checks(subject, rows.per_step(self.values), self.step_s)
        yield from self._step(subject, speed, "speed", "속도")

    def _step(self, subject: Subject, checks: Iterable[Check], what: str, what_ko: str) -> Iterator[Check]:
        if self.progress is not None:
            words = Text(en=f"{subject.name}: {what}", ko=f"{subject.name}: {what_ko}")
            self.progress(self._done, 12 * len(self.subjects), words)
        self._done += 1
        yield from checks

    def _whole(self) -> Iterator[Check]:
        alive = self._alive()
        yield from whole.gold_rows(self.rows, alive)
        if alive and len(alive) == len(self.subjects):
            yield from whole.task_check(alive, self.rows)
            yield from whole.format_check(alive, self.form)
            yield from whole.total_checks(alive, self.weights, self.form)
