"""One sentence a run: its state follows from the records, and it never contradicts a finding that stands."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.diagnosis.base import Reading, Rule
from backend.diagnosis.engine import Engine, replay, run
from backend.diagnosis.headline import headline
from backend.diagnosis.records import Facts, Records
from backend.diagnosis.rules import find_rules
from backend.diagnosis.sentence import STATES
from backend.text import Text
from storage.records import Evaluation
from tests.unit.diagnosis_runs import constant, made, ramp, watched

BOUNDS = ((0.0, 1.0),)


def rule(means: str, severity: str = "warn", fires: bool = True, id: str = "X1", when: str = "step") -> Rule:
    reading = Reading("fire" if fires else "hold", Text("seen", "보임"))
    title = Text(f"{means} thing", f"{means} 것")
    return Rule(id, id.lower(), title, severity, means, lambda window: reading, when, confirm=1)  # type: ignore[arg-type]


def records(rewards: list[float], evaluations: tuple[tuple[str, int, float, int], ...] = ()) -> Records:
    made = Records(Facts({}, ("accuracy",), (1.0,), BOUNDS, task=0, decides=True))
    for step, reward in enumerate(rewards, start=1):
        made.add_metrics(step, {"reward": reward})
    for when, step, accuracy, n in evaluations:
        made.add_evaluation(Evaluation(when, step, n, accuracy, 1.0, 5.0, 1.0, None, "d", 1.0))  # type: ignore[arg-type]
    return made


def said(rewards: list[float], *rules: Rule, ended: bool = False, evaluations=()) -> dict:
    return headline(replay(records(rewards, evaluations), rules, ended), ended)


def noisy(start: float, end: float, steps: int, noise: float = 0.03, seed: int = 0) -> list[float]:
    rng = random.Random(seed)
    return [start + (end - start) * i / (steps - 1) + rng.gauss(0, noise) for i in range(steps)]


def test_before_any_step_it_says_so() -> None:
    found = said([])
    assert found["state"] == "cannot_tell"
    assert "no GRPO step yet" in found["text"]["en"]
    assert found["gain"] is None


@pytest.mark.parametrize("steps", [1, 7, 19])
def test_before_twenty_steps_it_says_how_many_it_needs(steps: int) -> None:
    found = said(noisy(0.1, 0.9, steps) if steps > 1 else [0.1])
    assert (found["state"], found["needs"]) == ("cannot_tell", 20 - steps)
    assert f"{20 - steps} more" in found["text"]["en"]


def test_a_reward_that_rises_is_learning_and_shows_its_interval() -> None:
    found = said(noisy(0.3, 0.8, 60))
    assert found["state"] == "learning"
    assert "±" in found["text"]["en"]
    assert found["text"]["en"].startswith("Learning: reward 0.3")
    assert said(noisy(0.3, 0.8, 60), ended=True)["text"]["en"].startswith("Learned: ")


def test_slowly_is_a_matter_of_pace_and_not_of_size() -> None:
    assert said(noisy(0.30, 0.42, 400, 0.01))["state"] == "learning_slowly"
    assert said(noisy(0.30, 0.42, 60, 0.01))["state"] == "learning"
    assert said(noisy(0.92, 0.98, 400, 0.01))["state"] == "learning", "not much is left to gain"


def test_noise_without_a_trend_tells_how_many_steps_would_do() -> None:
    found = said(noisy(0.4, 0.4, 40, 0.2, seed=3))
    assert found["state"] == "cannot_tell"
    assert found["needs"] is not None
    assert found["needs"] > 10
    assert said(noisy(0.4, 0.4, 40, 0.2, seed=3), ended=True)["needs"] is None


def test_what_is_broken_comes_before_everything() -> None:
    found = said(
        noisy(0.3, 0.8, 60), rule("broken", "stop"), evaluations=(("before", 0, 0.2, 200), ("after", 60, 0.9, 200))
    )
    assert (found["state"], found["because"]) == ("broken", "X1")
    assert "broken thing" in found["text"]["en"]


def test_held_out_rows_decide_over_the_reward() -> None:
    rising, falling = noisy(0.3, 0.8, 60), noisy(0.8, 0.3, 60)
    up, down = (("before", 0, 0.3, 200), ("after", 60, 0.6, 200)), (("before", 0, 0.6, 200), ("after", 60, 0.3, 200))
    assert said(falling, evaluations=up)["state"] == "learning"
    found = said(rising, rule("doubtful", "critical", id="H1"), evaluations=down)
    assert (found["state"], found["because"]) == ("not_learning", "H1")
    assert "60% → 30%" in found["text"]["en"]


def test_the_last_look_during_training_counts_while_there_is_none_after() -> None:
    looks = (("before", 0, 0.3, 200), ("during", 25, 0.4, 100), ("during", 50, 0.7, 100))
    assert said(noisy(0.5, 0.5, 60, 0.1), evaluations=looks)["held_out"]["after"] == 0.7


def test_what_breaks_only_a_part_of_the_rows_is_a_but() -> None:
    """A fifth of the rows without a ground truth: the rest teaches (docs/diagnosis.md, R2)."""
    found = said(noisy(0.3, 0.8, 60), rule("broken", "warn", id="R2"))
    assert found["state"] == "learning"
    assert found["text"]["en"].endswith("But: broken thing.")
    assert said(noisy(0.3, 0.8, 60), rule("broken", "stop", id="R2"))["state"] == "broken"


def test_a_grave_doubt_makes_a_rising_reward_no_learning_and_a_warning_only_a_but() -> None:
    grave = said(noisy(0.3, 0.8, 60), rule("doubtful", "critical", id="A2"))
    assert (grave["state"], grave["because"]) == ("not_learning", "A2")
    mild = said(noisy(0.3, 0.8, 60), rule("doubtful", "warn", id="L1"))
    assert mild["state"] == "learning"
    assert "But: doubtful thing." in mild["text"]["en"]


def test_a_flat_run_names_the_finding_that_explains_it() -> None:
    found = said(noisy(0.2, 0.2, 60), rule("stalled", id="Z1"))
    assert (found["state"], found["because"]) == ("not_learning", "Z1")
    assert said(noisy(0.2, 0.2, 15), rule("stalled", id="Z1"))["state"] == "cannot_tell"
    assert said(noisy(0.2, 0.2, 15), rule("stalled", "critical", id="R3"))["state"] == "not_learning"


@pytest.mark.parametrize("means", ["cost", "note"])
def test_costs_and_notes_are_no_headline(means: str) -> None:
    found = said(noisy(0.3, 0.8, 60), rule(means, "warn"))
    assert found["state"] == "learning"
    assert "thing" not in found["text"]["en"]


def two(total: list[float], task: list[float], *rules: Rule) -> dict:
    made = Records(Facts({}, ("accuracy", "format"), (1.0, 0.5), ((0.0, 1.0), (0.0, 1.0)), task=0, decides=True))
    for step, (reward, right) in enumerate(zip(total, task, strict=True), start=1):
        made.add_metrics(step, {"reward": reward, "rewards/accuracy/mean": right})
    return headline(replay(made, rules, False))


def test_a_reward_that_rises_beside_the_task_is_no_learning() -> None:
    rising, flat = noisy(0.3, 0.6, 60), noisy(0.2, 0.2, 60)
    found = two(rising, flat, rule("doubtful", "warn", id="A1"))
    assert (found["state"], found["because"]) == ("not_learning", "A1")
    assert "but accuracy 0.19 → 0.20" in found["text"]["en"]
    alone = two(rising, flat)
    assert alone["state"] == "cannot_tell"
    assert alone["needs"]
    assert two(rising, noisy(0.1, 0.5, 60), rule("doubtful", "warn", id="A1"))["state"] == "learning"
    assert two(rising, noisy(0.97, 0.97, 60, 0.01))["state"] == "learning", "the task is solved; the rest may rise"


def test_a_grave_stall_outranks_a_total_that_crept_up() -> None:
    stalled = rule("stalled", "critical", id="R3")
    found = two(noisy(0.15, 0.25, 60, 0.01), [0.0] * 60, stalled)
    assert (found["state"], found["because"]) == ("not_learning", "R3")
    assert said(noisy(0.15, 0.25, 60, 0.01), stalled)["state"] == "not_learning"


def test_a_task_that_rises_under_a_flat_total_is_learning() -> None:
    assert two(noisy(0.5, 0.5, 60), noisy(0.2, 0.6, 60))["state"] == "learning"
    assert two(noisy(0.6, 0.2, 60), noisy(0.2, 0.6, 60))["state"] == "not_learning"


def test_what_rises_is_named_and_the_flat_total_is_no_but() -> None:
    flat = rule("stalled", "warn", id="D1")
    found = two(noisy(0.5, 0.5, 60), noisy(0.2, 0.6, 60), flat, rule("doubtful", "warn", id="L1"))
    text = found["text"]["en"]
    assert text.startswith("Learning: accuracy 0.2")
    assert "; the total 0.49" in text
    assert "But: doubtful thing." in text
    assert "stalled thing" not in text
    both = two(noisy(0.3, 0.8, 60), noisy(0.2, 0.6, 60))["text"]["en"]
    assert both.startswith("Learning: reward 0.3")


def test_a_flat_reward_is_said_though_a_note_would_explain_it() -> None:
    flat = rule("stalled", "warn", id="D1")
    note = replace(rule("note", "info", id="C2"), symptoms=("D1",))
    found = said(noisy(0.3, 0.3, 100), flat, note)
    assert (found["state"], found["because"]) == ("not_learning", "D1")


def test_the_latest_look_counts_where_a_run_went_on_after_its_last_evaluation() -> None:
    looks = (("before", 0, 0.3, 200), ("after", 100, 0.5, 200), ("during", 150, 0.2, 200), ("during", 200, 0.1, 200))
    found = said(noisy(0.5, 0.5, 200, 0.1), evaluations=looks)
    assert found["held_out"]["after"] == 0.1
    assert found["state"] == "not_learning"
    same = (("before", 0, 0.3, 200), ("after", 200, 0.5, 200), ("during", 200, 0.4, 50))
    assert said(noisy(0.5, 0.5, 200, 0.1), evaluations=same)["held_out"]["after"] == 0.5


def test_a_mild_hindrance_is_no_proof_that_a_noisy_reward_does_not_rise() -> None:
    dead = rule("stalled", id="Z1")
    noisy_rise = noisy(0.3, 0.4, 40, 0.2, seed=3)
    found = said(noisy_rise, dead)
    assert (found["state"], found["because"]) == ("cannot_tell", None)
    assert found["needs"]
    assert "But: stalled thing." in found["text"]["en"]
    assert "다만: stalled 것." in found["text"]["ko"]
    assert said(noisy_rise, replace(dead, severity="critical"))["state"] == "not_learning"
    assert said(noisy_rise, replace(dead, trend=True))["state"] == "not_learning", "it has looked at the rise itself"


def test_prompts_of_which_nearly_none_can_teach_are_why_it_does_not_learn() -> None:
    bimodal = made(60, constant(0.5), rho=0.97)
    found = headline(watched(bimodal, "Z5", ended=False))
    assert (found["state"], found["because"]) == ("not_learning", "Z5")


@pytest.mark.parametrize("groups", [1, 8])
def test_the_steps_that_it_needs_shrink_as_they_come(groups: int) -> None:
    engine = Engine(made(200, constant(0.4), groups=groups), find_rules())
    engine.start()
    needs = []
    for step in range(1, 201):
        engine.step(step)
        found = headline(engine)
        if found["state"] == "cannot_tell" and step >= 20:
            needs.append(found["needs"])
    assert min(n for n in needs if n is not None) > 0
    if groups == 1:
        assert min(n for n in needs if n is not None) > 100, "with one group a step nothing tells before hundreds"
    else:
        third = len(needs) // 3
        assert fmean(needs[-third:]) < fmean(needs[third : 2 * third]) < 200


def test_rewards_that_are_none_are_no_steps_towards_an_answer() -> None:
    nothing = float("nan")
    assert said([nothing] * 50 + noisy(0.3, 0.4, 5))["needs"] == 15
    never = said([nothing] * 50, rule("doubtful", "warn"))
    assert (never["state"], never["needs"]) == ("cannot_tell", None)
    assert never["text"]["en"] == "Cannot tell yet after 50 steps. But: doubtful thing."


def test_one_huge_reward_does_not_make_a_flat_run_of_a_noisy_one() -> None:
    """Of rewards without known bounds the range is what most of them span, as the rules take it."""
    rng = random.Random(5)
    heavy = made(
        60, constant(0.4), score=lambda _, right, tokens: (right + 1.0,), rewards=["mine"], reward_weights=[1.0]
    )
    heavy.extremes.high = 1e4
    heavy.curves["reward"].values[:] = [1.4 + rng.gauss(0, 0.15) for _ in range(60)]
    found = headline(watched(heavy, "H1", ended=False))
    assert found["state"] == "cannot_tell"
    assert found["needs"] is not None
    assert found["needs"] > 20


def test_a_word_on_the_pace_does_not_come_and_go() -> None:
    rng = random.Random(1)
    values = [0.2 + 0.6 * min(1, i / 300) + rng.gauss(0, 0.1) for i in range(1500)]
    said_of = [said(values[:end])["state"] for end in range(200, 1500, 20)]
    assert sum(a != b for a, b in pairwise(said_of)) <= 4
    assert said_of[-1] == "learning_slowly"


def test_a_task_that_rises_is_learned_though_most_groups_are_dead() -> None:
    found = headline(watched(made(150, ramp(0.01, 0.3)), ended=False))
    assert found["state"] in ("learning", "learning_slowly")
    grave = rule("stalled", "critical", id="Z1")
    found = said(noisy(0.05, 0.3, 60), grave)
    assert found["state"] == "learning"
    assert "But: stalled thing." in found["text"]["en"]


def test_more_steps_than_anybody_trains_are_no_advice() -> None:
    hopeless = made(30, constant(0.5), groups=1, rho=0.9, total=30)
    found = headline(watched(hopeless, "D1", ended=False))
    assert (found["state"], found["needs"]) == ("cannot_tell", None)
    assert "more steps" not in found["text"]["en"]


def test_it_sees_no_evaluation_beyond_its_step() -> None:
    engine = Engine(made(60, constant(0.3), held=ramp(0.3, 0.9), every=30), find_rules())
    run(engine, range(1, 21))
    assert headline(engine)["held_out"] is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-2, 2) | st.just(float("nan")), max_size=60),
    st.sampled_from(["broken", "stalled", "doubtful", "cost", "note"]),
    st.sampled_from(["stop", "critical", "warn", "info"]),
    st.booleans(),
    st.booleans(),
)
def test_it_agrees_with_the_findings_whatever_they_are(rewards, means, severity, fires, ended) -> None:
    engine = replay(records(rewards), [rule(means, severity, fires)], ended)
    found = headline(engine, ended)
    ids = {f.rule.id for f in engine.findings()}
    assert found["state"] in STATES
    assert found["because"] is None or found["because"] in ids
    assert found["text"]["en"].endswith(".")
    assert "nan" not in found["text"]["en"]
    grave = severity in ("stop", "critical")
    assert (found["state"] == "broken") == bool(fires and rewards and means == "broken" and grave)
    if found["state"] in ("learning", "learning_slowly"):
        assert not (fires and rewards and means == "doubtful" and grave)
