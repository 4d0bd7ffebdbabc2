"""Changes of one setting by several findings: one decides, opposite ones are not both offered."""

from __future__ import annotations

from typing import Any

import pytest

from backend.diagnosis.base import Change, Finding, Reading, Rule, Severity, State
from backend.diagnosis.reconcile import reconciled
from backend.text import Text


def finding(
    id: str,
    *change: tuple[str, Any, Any],
    because: str | None = None,
    severity: Severity = "warn",
    state: State = "fired",
) -> Finding:
    made = tuple(Change(*each) for each in change)
    reading = Reading("fire", Text("seen", "보임"), change=made)
    rule = Rule(id, id.lower(), Text(id, id), severity, "stalled", lambda window: reading)
    return Finding(rule, state, severity, 1, 1, None, reading, because)


def offered(*findings: Finding) -> dict[str, dict[str, Any]]:
    return {f.rule.id: {c.field: c.new for c in f.reading.change} for f in reconciled(findings)}


def test_the_size_of_what_explains_the_other_counts() -> None:
    found = offered(
        finding("C3", ("learning_rate", 1e-2, 1e-3)), finding("D1", ("learning_rate", 1e-2, 5e-3), because="C3")
    )
    assert found == {"C3": {"learning_rate": 1e-3}, "D1": {"learning_rate": 1e-3}}


def test_the_root_decides_wherever_it_stands() -> None:
    found = offered(
        finding("D1", ("learning_rate", 1e-2, 5e-3), because="C3"), finding("C3", ("learning_rate", 1e-2, 1e-3))
    )
    assert found["D1"] == {"learning_rate": 1e-3}


def test_opposite_changes_are_not_both_offered() -> None:
    found = offered(finding("A", ("learning_rate", 1e-4, 1e-5)), finding("B", ("learning_rate", 1e-4, 1e-3)))
    assert found == {"A": {"learning_rate": 1e-5}, "B": {}}
    cleared = finding("B", ("learning_rate", 1e-4, 1e-3), state="cleared")
    assert offered(cleared, finding("A", ("learning_rate", 1e-4, 1e-5))) == {"A": {"learning_rate": 1e-5}, "B": {}}


def test_a_change_of_several_settings_is_taken_whole_or_not_at_all() -> None:
    more = finding("Z1", ("num_generations", 8, 16), ("gradient_accumulation_steps", 1, 2))
    few = finding("C2", ("gradient_accumulation_steps", 1, 4))
    assert offered(few, more) == {"C2": {"gradient_accumulation_steps": 4}, "Z1": {}}
    same = finding("C2", ("gradient_accumulation_steps", 1, 2))
    assert offered(same, more)["Z1"] == {"num_generations": 16, "gradient_accumulation_steps": 2}


def test_words_that_differ_are_not_both_offered() -> None:
    a, b = finding("A", ("loss_type", "grpo", "dapo")), finding("B", ("loss_type", "grpo", "dr_grpo"))
    assert offered(a, b) == {"A": {"loss_type": "dapo"}, "B": {}}


@pytest.mark.parametrize("old", [None, True, "x"])
def test_what_was_not_set_has_no_direction(old: Any) -> None:
    assert offered(finding("A", ("beta", old, 0.1)), finding("B", ("beta", old, 0.2)))["B"] == {}


def test_weights_are_compared_one_by_one() -> None:
    old = [1.0, 1.0, 1.0]
    all_lower = finding("A1", ("reward_weights", old, [1.0, 0.25, 0.25]))
    one = finding("L1", ("reward_weights", old, [1.0, 1.0, 0.0]))
    assert offered(all_lower, one)["L1"] == {"reward_weights": [1.0, 0.25, 0.25]}
    assert offered(one, all_lower)["A1"] == {"reward_weights": [1.0, 0.25, 0.25]}, "the form is none of L1's business"
    raised = finding("X", ("reward_weights", old, [1.0, 1.0, 2.0]))
    assert offered(one, raised)["X"] == {}


def test_findings_that_explain_each_other_do_not_hang_it() -> None:
    a = finding("A", ("beta", 0.0, 0.1), because="B")
    b = finding("B", ("beta", 0.0, 0.2), because="A")
    assert {tuple(each.items()) for each in offered(a, b).values()} == {(("beta", 0.1),)}
    assert [f.rule.id for f in reconciled([a, b])] == ["A", "B"]
