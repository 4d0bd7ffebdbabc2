"""The engine: when a rule is asked, what it takes to fire and to clear, and that a replay is what a live run saw."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from backend.diagnosis.base import CLEAR, HOLD, Reading, Rule, unknown
from backend.diagnosis.engine import Engine, replay, replay_steps, run, states
from backend.diagnosis.records import Records, Window
from backend.diagnosis.rules import find_rules
from backend.text import Text
from storage.records import Generation, Group
from tests.diagnosis_support import add, evaluation, fill, mixed, records, right, wrong

FIRE = Reading("fire", Text("seen", "보임"))


def rule(check: Callable[[Window], Reading | None], ident: str = "X1", **other: object) -> Rule:
    values = {"name": "made", "title": Text("made", "시험"), "severity": "warn", "means": "stalled", **other}
    return Rule(id=ident, check=check, **values)  # type: ignore[arg-type]


def said(answers: Iterable[Reading | None]) -> Callable[[Window], Reading | None]:
    """A rule that answers these in turn, whatever it is shown."""
    left = iter(answers)
    return lambda window: next(left)


def steps_of(count: int, groups: int = 8) -> Records:
    made = records()
    return fill(made, count, lambda step, rng: [mixed(made, 4, 1.0)] * groups)


def test_a_window_rule_is_asked_at_every_half_window_once_there_is_a_whole_one() -> None:
    asked: list[int] = []

    def check(window: Window) -> Reading:
        asked.append(window.step)
        return HOLD

    replay(steps_of(31), [rule(check)])
    assert asked == [10, 15, 20, 25, 30]


def test_with_one_group_a_step_a_half_window_is_32_steps() -> None:
    asked: list[int] = []

    def check(window: Window) -> Reading:
        asked.append(window.step)
        return HOLD

    replay(steps_of(130, groups=1), [rule(check)])
    assert asked == [64, 96, 128]


def test_before_the_first_window_it_says_how_many_steps_it_needs() -> None:
    made = steps_of(4)
    engine = Engine(made, [rule(said([]))])
    run(engine, replay_steps(made))
    assert states(engine)[0] == {
        "id": "X1", "name": "made", "title": {"en": "made", "ko": "시험"}, "state": "unknown", "needs": 6,
        "calibrated": False, "failed": None,
    }  # fmt: skip


def test_one_answer_is_not_believed_two_in_a_row_are_and_since_is_the_first() -> None:
    engine = replay(steps_of(30), [rule(said([FIRE, CLEAR, FIRE, FIRE, HOLD]))])
    finding = engine.findings()[0]
    assert (finding.state, finding.since_step, finding.last_step) == ("fired", 20, 25)
    assert [(t.step, t.to) for t in engine.transitions] == [(25, "fired")]


def test_it_clears_after_two_answers_and_a_hold_between_starts_anew() -> None:
    engine = replay(steps_of(45), [rule(said([FIRE, FIRE, CLEAR, HOLD, CLEAR, CLEAR, HOLD, HOLD]))])
    finding = engine.findings()[0]
    assert (finding.state, finding.cleared_step, finding.last_step) == ("cleared", 35, 15)


def test_a_cleared_rule_can_fire_again() -> None:
    engine = replay(steps_of(45), [rule(said([FIRE, FIRE, CLEAR, CLEAR, FIRE, FIRE, HOLD, HOLD]))])
    finding = engine.findings()[0]
    assert (finding.state, finding.since_step, finding.cleared_step) == ("fired", 30, None)
    assert [t.to for t in engine.transitions] == ["fired", "cleared", "fired"]


def test_a_graver_reading_is_a_transition_of_its_own() -> None:
    grave = Reading("fire", Text("seen", "보임"), severity="critical")
    engine = replay(steps_of(25), [rule(said([FIRE, FIRE, grave, grave]))])
    assert [(t.step, t.severity) for t in engine.transitions] == [(15, "warn"), (20, "critical")]
    assert engine.findings()[0].severity == "critical"


def test_a_severity_that_wavers_about_its_bound_is_no_row_of_transitions() -> None:
    grave = Reading("fire", Text("seen", "보임"), severity="critical")
    held = Reading("fire", Text("seen", "보임"), keeps="critical")

    def changes(*answers: Reading) -> list[tuple[int, str]]:
        engine = replay(steps_of(5 + 5 * len(answers)), [rule(said(answers))])
        return [(t.step, t.severity) for t in engine.transitions]

    assert changes(grave, grave, FIRE, grave, FIRE, grave) == [(15, "critical")]
    assert changes(grave, grave, held, held, held, held) == [(15, "critical")]
    assert changes(grave, grave, FIRE, FIRE, FIRE) == [(15, "critical"), (25, "warn")]
    assert changes(FIRE, FIRE, held, held) == [(15, "warn")], "it never was so grave"
    assert changes(grave, grave, CLEAR, CLEAR, FIRE, FIRE) == [(15, "critical"), (25, "critical"), (35, "warn")]


def test_what_a_rule_needs_grows_less_between_two_looks() -> None:
    made = steps_of(18)
    engine = Engine(made, [rule(lambda window: unknown(9))])
    run(engine, replay_steps(made)[:15])
    left = [engine.needs("X1")]
    for step in (16, 17, 18):
        engine.step(step)
        left.append(engine.needs("X1"))
    assert left == [9, 8, 7, 6]
    assert engine.needs("X9") is None


def test_contract_errors_fire_at_once() -> None:
    asked = rule(lambda window: FIRE if window.step == 3 else CLEAR, when="step", confirm=1)
    assert replay(steps_of(3), [asked]).findings()[0].since_step == 3


def test_a_trend_rule_waits_for_the_warm_up_and_twenty_steps_more() -> None:
    asked: list[int] = []

    def check(window: Window) -> Reading:
        asked.append(window.step)
        return HOLD

    replay(steps_of(40), [rule(check, trend=True)])
    assert asked[0] == 25  # the quickstart's warm-up is 5


def test_unknown_keeps_what_it_needs_and_none_is_no_question() -> None:
    engine = replay(steps_of(10), [rule(lambda w: unknown(7)), rule(lambda w: None, "X2")])
    by = {state["id"]: state for state in states(engine)}
    assert (by["X1"]["state"], by["X1"]["needs"]) == ("unknown", 7)
    assert (by["X2"]["state"], by["X2"]["needs"]) == ("not_applicable", None)


def test_a_root_cause_explains_its_symptoms_while_it_stands() -> None:
    root = rule(said([FIRE, FIRE, FIRE, CLEAR, CLEAR, HOLD]), "X1", symptoms=("X2",))
    symptom = rule(lambda window: FIRE, "X2")
    engine = Engine(steps_of(35), [root, symptom])
    run(engine, range(1, 21))
    assert [(f.rule.id, f.because_of) for f in engine.findings()] == [("X1", None), ("X2", "X1")]
    for step in range(21, 36):
        engine.step(step)
    assert [(f.rule.id, f.state, f.because_of) for f in engine.findings()] == [
        ("X2", "fired", None),
        ("X1", "cleared", None),
    ]


def test_of_several_explanations_the_one_that_nothing_explains_is_told() -> None:
    rules = [
        rule(lambda w: FIRE, "X1", symptoms=("X3",)),
        rule(lambda w: FIRE, "X2", symptoms=("X1", "X3")),
        rule(lambda w: FIRE, "X3"),
    ]
    found = {f.rule.id: f.because_of for f in replay(steps_of(15), rules).findings()}
    assert found == {"X1": "X2", "X2": None, "X3": "X2"}


@pytest.mark.parametrize(
    ("root", "symptom", "hidden"),
    [
        ({"severity": "warn"}, {"severity": "critical"}, False),
        ({"severity": "critical"}, {"severity": "warn"}, True),
        ({"severity": "warn", "means": "note"}, {"severity": "warn"}, False),
        ({"severity": "critical", "means": "cost"}, {"severity": "warn", "means": "doubtful"}, False),
        ({"severity": "warn", "means": "note"}, {"severity": "info", "means": "note"}, True),
    ],
)
def test_nothing_is_hidden_by_what_is_less_grave_or_no_headline(root: dict, symptom: dict, hidden: bool) -> None:
    rules = [rule(lambda w: FIRE, "X1", symptoms=("X2",), **root), rule(lambda w: FIRE, "X2", **symptom)]
    found = {f.rule.id: f.because_of for f in replay(steps_of(15), rules).findings()}
    assert found == {"X1": None, "X2": "X1" if hidden else None}


def test_the_severity_of_what_was_read_counts_and_not_the_rules_own() -> None:
    note = Reading("fire", Text("seen", "보임"), severity="info")
    rules = [rule(lambda w: note, "X1", symptoms=("X2", "X3")), rule(lambda w: FIRE, "X2"), rule(lambda w: note, "X3")]
    found = {f.rule.id: f.because_of for f in replay(steps_of(15), rules).findings()}
    assert found == {"X1": None, "X2": None, "X3": "X1"}


def test_one_evaluation_does_not_confirm_itself() -> None:
    """Neither by the end of the run nor by another look at the same weights; a second evaluation does."""

    def engine(*answers: Reading) -> Engine:
        made = steps_of(12)
        evaluation(made, "during", 6, 60)
        evaluation(made, "during", 12, 60)
        evaluation(made, "after", 12, 60)
        return Engine(made, [rule(said(answers), when="evaluation")])

    once = engine(HOLD, FIRE, FIRE, FIRE)
    once.evaluated(6)
    once.evaluated(12)
    once.evaluated(12)
    once.last_step = 12
    once.end()
    assert once.findings() == []
    twice = engine(FIRE, FIRE, HOLD)
    twice.evaluated(6)
    twice.evaluated(12)
    assert [f.since_step for f in twice.findings()] == [6]
    assert run(engine(HOLD, FIRE, FIRE), range(1, 13), ended=True).findings() == []


def test_a_rule_that_fails_takes_nothing_with_it() -> None:
    def broken(window: Window) -> Reading:
        raise KeyError("no such curve")

    engine = replay(steps_of(15), [rule(broken), rule(lambda w: FIRE, "X2")])
    by = {state["id"]: state for state in states(engine)}
    assert by["X1"]["state"] == "unknown"
    assert by["X1"]["failed"] == "KeyError: 'no such curve'"
    assert by["X2"]["state"] == "fired"
    assert by["X2"]["failed"] is None


def test_moments_start_evaluation_end_and_several_at_once() -> None:
    asked: dict[str, list[int]] = {"start": [], "evaluation": [], "end": [], "both": []}

    def note(name: str) -> Callable[[Window], Reading]:
        def check(window: Window) -> Reading:
            asked[name].append(window.step)
            return HOLD

        return check

    made = steps_of(12)
    evaluation(made, "before", 0, 50)
    evaluation(made, "during", 6, 60)
    rules = [rule(note(n), n, when=n) for n in ("start", "evaluation", "end")]
    replay(made, [*rules, rule(note("both"), "both", when=("window", "end"))])
    assert asked == {"start": [0], "evaluation": [0, 6, 12], "end": [12], "both": [10, 12]}


def a_run_that_turns() -> Records:
    """Hard at first, then learned, then broken down."""
    made = records()

    def step(at: int, rng):
        if at <= 25:
            return [wrong(made, 1.0) if rng.random() < 0.9 else mixed(made, 2, 1.0) for _ in range(8)]
        if at <= 50:
            return [mixed(made, rng.randint(2, 6), 1.0) for _ in range(8)]
        return [right(made, 1.0) if rng.random() < 0.7 else mixed(made, 7, 1.0) for _ in range(8)]

    return fill(made, 80, step)


def seen(engine: Engine) -> list[tuple]:
    return [(f.rule.id, f.state, f.severity, f.since_step, f.last_step, f.cleared_step, f.because_of, f.reading)
            for f in engine.findings()]  # fmt: skip


def test_a_replay_is_what_was_seen_live() -> None:
    whole = a_run_that_turns()
    rules = find_rules()
    live = Engine(records(), rules)
    live.start()
    at = 0
    for step in range(1, 81):
        while at < len(whole.groups) and whole.groups[at].step == step:
            at += 1
        rows = [g for g in whole.groups if g.step == step]
        metrics = {n: c.values[c.steps.index(step)] for n, c in whole.curves.items() if step in c.steps}
        live.records.add_generation(
            Generation(step, "train", live.records.facts.reward_names, tuple(
                Group(g.prompt_id, g.prompt, "text", g.ground_truth, g.completions) for g in rows))
        )  # fmt: skip
        live.records.add_metrics(step, metrics)
        live.step(step)
    again = replay(whole, rules, ended=False)
    assert live.transitions == again.transitions
    assert seen(live) == seen(again)
    assert any(t.to == "cleared" for t in live.transitions), "the run must be one in which something happens"


def test_a_resume_forgets_what_came_after_its_step() -> None:
    made = a_run_that_turns()
    engine = replay(made, find_rules(), ended=False)
    engine.cut(30)
    short = a_run_that_turns()
    short.cut(30)
    assert engine.last_step == 30
    assert seen(engine) == seen(replay(short, find_rules(), ended=False))
    for step in range(31, 41):
        add(made, step, [mixed(made, 4, 1.0)] * 8)
        engine.step(step)
    assert engine.last_step == 40
    assert len(made.groups) == 320


def test_rules_are_found_by_themselves_and_ids_are_their_own() -> None:
    ids = [r.id for r in find_rules()]
    assert len(ids) == len(set(ids))
    assert {"C1", "C2", "C3", "C4", "C5", "R1", "R2", "R3", "R4", "R5", "Z1", "Z2", "Z3", "Z4", "Z5", "Z6",
            "A1", "A2"} <= set(ids)  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_no_rule_fails_on_a_run_of_hardly_any_steps(count: int) -> None:
    engine = replay(steps_of(count), find_rules())
    assert [s for s in states(engine) if s["failed"]] == []
    assert [f.rule.id for f in engine.findings()] == []
