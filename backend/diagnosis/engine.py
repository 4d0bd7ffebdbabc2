"""The rules asked in order over a run's records: who has fired, who has cleared, who cannot tell yet.

Window rules are asked at every half window (max(5 steps, 32 groups)) once there is a whole one, and need two answers
in a row. Simulated at a threshold of .5 on the share of dead groups: no alarm at a true share of .4 in 400 runs; .7 is
caught (docs/diagnosis.md has the figures of real runs). The engine gives the same for a run that goes on and for one
that is read back: it sees nothing beyond the step it is asked for.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backend.diagnosis.base import SEVERITIES, SPEAKS, Finding, Reading, Rule, Severity, State, When, unknown
from backend.diagnosis.reconcile import reconciled
from backend.diagnosis.records import WINDOW_GROUPS, WINDOW_STEPS, Records, Window

log = logging.getLogger(__name__)
HALF_STEPS, HALF_GROUPS = WINDOW_STEPS // 2, WINDOW_GROUPS // 2


@dataclass(slots=True)
class Standing:
    """What the engine remembers of one rule."""

    rule: Rule
    state: State = "unknown"
    fires: int = 0
    clears: int = 0
    first_fire: int = 0
    since: int = 0
    last: int = 0
    cleared: int | None = None
    reading: Reading | None = None  # the latest that fired
    severity: Severity = "info"  # of the finding; it may lag behind the latest reading's
    milder: int = 0  # answers in a row that were less grave than the finding
    need: int | None = None  # steps that it wanted after `asked`, where its latest answer was that it cannot tell
    asked: int = 0
    applies: bool = True
    failed: str | None = None
    looked: tuple[int, int, int] | None = None  # the step of the evaluation looked at last; fires and clears before


@dataclass(frozen=True, slots=True)
class Transition:
    """Rule `id` went to `to` after `step`."""

    step: int
    id: str
    to: State
    severity: Severity


@dataclass(slots=True)
class Engine:
    """Asks the rules. `start()`, then `step(n)` after every optimizer step, `evaluated(n)`, `end()`; each says whether
    anything changed."""

    records: Records
    rules: Sequence[Rule]
    standings: dict[str, Standing] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)
    checks: int = 0
    last_step: int = 0
    _last_window: int = 0
    _last_groups: int = 0

    def __post_init__(self) -> None:
        self.standings = {rule.id: Standing(rule) for rule in self.rules}

    def start(self) -> bool:
        return self._ask(("start",), self.records.window(0))

    def step(self, step: int) -> bool:
        """After step `step` and all that it logged is in the records."""
        self.last_step = max(self.last_step, step)
        window = self.records.window(step)
        changed = self._ask(("step",), window)
        if self._due(window):
            self._last_window, self._last_groups = step, self.records.groups_until(step)
            changed = self._ask(("window",), window) or changed
        elif not window.full:
            self._wait(window)
        return changed

    def evaluated(self, step: int) -> bool:
        return self._ask(("evaluation",), self.records.window(step))

    def end(self) -> bool:
        """The run has ended: rules that look at the whole of it."""
        self.records.ended = True
        return self._ask(("evaluation", "end"), self.records.window(self.last_step))

    def cut(self, after: int) -> None:
        """A resume goes on from step `after`: everything is asked again up to there."""
        self.records.cut(after)
        steps = replay_steps(self.records)
        self.__init__(self.records, self.rules)
        run(self, steps)

    def forget_middle(self, first: int, last: int) -> None:
        """Records.forget_middle, with the count of groups since the last look corrected."""
        self._last_groups -= self.records.forget_middle(first, last)

    def _due(self, window: Window) -> bool:
        if not window.full:
            return False
        if not self._last_window:
            return True
        groups = self.records.groups_until(window.step)
        enough = groups - self._last_groups >= HALF_GROUPS or groups == self._last_groups == 0
        return window.step - self._last_window >= HALF_STEPS and enough

    def _wait(self, window: Window) -> None:
        for standing in self.standings.values():
            if "window" in standing.rule.moments and standing.state == "unknown":
                standing.need = max(window.need, window.after_warmup if standing.rule.trend else 0)
                standing.asked = window.step

    def _ask(self, moments: tuple[When, ...], window: Window) -> bool:
        changed = False
        for standing in self.standings.values():
            if any(moment in moments for moment in standing.rule.moments):
                if standing.rule.moments == ("evaluation",):
                    _one_look(standing, window)
                changed = self._take(standing, self._reading(standing, window), window.step) or changed
        return changed

    def _reading(self, standing: Standing, window: Window) -> Reading | None:
        rule = standing.rule
        if rule.trend and window.after_warmup > 0:
            return unknown(max(window.after_warmup, window.need))
        self.checks += 1
        try:
            return rule.check(window)
        except Exception as error:  # a rule that fails must not take the run or the other rules with it
            if standing.failed is None:
                log.exception("the rule %s failed at step %s", rule.id, window.step)
            standing.failed = f"{type(error).__name__}: {error}"
            return unknown()

    def _take(self, standing: Standing, reading: Reading | None, step: int) -> bool:
        rule = standing.rule
        standing.applies = reading is not None or standing.state in ("fired", "cleared")
        if reading is None:
            return False
        level = reading.level
        standing.need, standing.asked = (reading.need if level == "unknown" else None), step
        if level != "fire":
            standing.fires = 0
        if level != "clear":
            standing.clears = 0
        if level == "fire":
            if not standing.fires:
                standing.first_fire = step
            standing.fires += 1
            if standing.fires >= rule.confirm:
                return self._fire(standing, reading, step)
        elif level == "unknown":
            return False
        elif standing.state == "unknown":
            return self._move(standing, "ok", step)
        elif level == "clear" and standing.state == "fired":
            standing.clears += 1
            if standing.clears >= rule.confirm:
                standing.cleared = step
                return self._move(standing, "cleared", step)
        return False

    def _fire(self, standing: Standing, reading: Reading, step: int) -> bool:
        standing.reading, standing.last = reading, step
        read = reading.severity or standing.rule.severity
        if standing.state == "fired":
            if _now(standing, read, reading.keeps) != standing.severity:
                standing.severity, standing.milder = read, 0
                self.transitions.append(Transition(step, standing.rule.id, "fired", read))
            return True  # its numbers moved
        standing.since, standing.cleared = standing.first_fire, None
        standing.severity, standing.milder = read, 0
        return self._move(standing, "fired", step)

    def _move(self, standing: Standing, to: State, step: int) -> bool:
        standing.state = to
        if to != "ok":
            self.transitions.append(Transition(step, standing.rule.id, to, standing.severity))
        return True

    def needs(self, rule_id: str) -> int | None:
        """Steps from here on until a rule can tell; None where it can, or nobody knows."""
        standing = self.standings.get(rule_id)
        if standing is None or standing.need is None or not standing.applies:
            return None
        return max(1, standing.need - max(0, self.last_step - standing.asked))

    def findings(self) -> list[Finding]:
        """What fired, standing ones first, the gravest and earliest first; with what explains each. No two offer
        different values of one setting."""
        found = [s for s in self.standings.values() if s.state in ("fired", "cleared") and s.reading is not None]
        standing: dict[str, tuple[Rule, Severity]] = {
            s.rule.id: (s.rule, s.severity) for s in found if s.state == "fired"
        }
        made = [
            Finding(
                s.rule,
                s.state,
                s.severity,
                s.since,
                s.last,
                s.cleared,
                s.reading or Reading("hold"),
                _explains(s.rule.id, standing) if s.state == "fired" else None,
            )
            for s in found
        ]
        ordered = sorted(
            _with_roots(made),
            key=lambda f: (f.state != "fired", f.because_of is not None, SEVERITIES.index(f.severity), f.since_step),
        )
        return reconciled(ordered)


def _one_look(standing: Standing, window: Window) -> None:
    """Before a rule of evaluations is asked: where it has been asked about the evaluations of this step before (during
    and after at one step, the end of the run), this answer takes the place of that one. One look does not confirm
    itself."""
    seen = window.evaluations
    step = max((evaluation.step for evaluation, _ in seen), default=-1)
    if standing.looked is not None and standing.looked[0] == step:
        _, standing.fires, standing.clears = standing.looked
    else:
        standing.looked = (step, standing.fires, standing.clears)


def _explains(rule_id: str, standing: Mapping[str, tuple[Rule, Severity]]) -> str | None:
    """The standing rule that explains this one; of several the one that nothing else explains. Only what is at least
    as grave may, and of what the headline speaks of only what it speaks of itself: a finding that another explains is
    not counted, told, or asked by the headline."""
    found = _explaining(rule_id, standing)
    roots = [other for other in found if not _explaining(other, standing)]
    return next(iter(roots or found), None)


def _explaining(rule_id: str, standing: Mapping[str, tuple[Rule, Severity]]) -> list[str]:
    rule, own = standing[rule_id]
    grave = SEVERITIES.index(own)
    return [
        other.id
        for other, severity in standing.values()
        if rule_id in other.symptoms
        and SEVERITIES.index(severity) <= grave
        and (other.means in SPEAKS or rule.means not in SPEAKS)
    ]


def _with_roots(findings: list[Finding]) -> list[Finding]:
    """The same, but where findings explain each other in a circle the one that came first explains the rest: what
    stands must never be hidden whole."""
    by = {f.rule.id: f for f in findings}
    for start in list(by):
        circle: list[str] = []
        at: str | None = start
        while at is not None and at not in circle:
            circle.append(at)
            at = by[at].because_of
        if at is not None:
            circle = circle[circle.index(at) :]
            first = min(circle, key=lambda i: (by[i].since_step, SEVERITIES.index(by[i].severity)))
            by[first] = replace(by[first], because_of=None)
    return list(by.values())


def _now(standing: Standing, read: Severity, keeps: Severity | None) -> Severity:
    """The severity after an answer that reads `read`: graver at once; milder after as many answers in a row as the rule
    wants for anything, none of which bears out (`keeps`) what it has been."""
    was, now = SEVERITIES.index(standing.severity), SEVERITIES.index(read)
    held = keeps is not None and SEVERITIES.index(keeps) <= was
    standing.milder = standing.milder + 1 if now > was and not held else 0
    return read if now < was or standing.milder >= standing.rule.confirm else standing.severity


def replay_steps(records: Records) -> list[int]:
    """The steps of training that have a log or a group, in order."""
    steps: set[int] = {group.step for group in records.groups}
    for curve in records.curves.values():
        steps.update(curve.steps)
    return sorted(step for step in steps if step > 0)


def run(engine: Engine, steps: Iterable[int], ended: bool = False) -> Engine:
    """Ask an engine about stored records, step by step, as it would have been asked while the run went on."""
    engine.start()
    evaluated: dict[int, int] = {}
    for evaluation, _ in engine.records.evaluations:
        evaluated[evaluation.step] = evaluated.get(evaluation.step, 0) + 1
    if evaluated.pop(0, 0):
        engine.evaluated(0)
    for step in steps:
        engine.step(step)
        if evaluated.pop(step, 0):
            engine.evaluated(step)
    if ended:
        engine.end()
    return engine


def replay(records: Records, rules: Sequence[Rule], ended: bool = True) -> Engine:
    return run(Engine(records, rules), replay_steps(records), ended)


def states(engine: Engine) -> list[dict[str, Any]]:
    """Every rule with its state; `needs`: steps until it can tell, None where it can or nobody knows."""
    return [
        {
            "id": s.rule.id,
            "name": s.rule.name,
            "title": s.rule.title.to_json(),
            "state": s.state if s.applies else "not_applicable",
            "needs": engine.needs(s.rule.id) if s.state == "unknown" else None,
            "calibrated": s.rule.calibrated,
            "failed": s.failed,
        }
        for s in engine.standings.values()
    ]
