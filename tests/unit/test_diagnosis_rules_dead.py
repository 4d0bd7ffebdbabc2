"""Dead groups: Z1 to Z6, and C2, which counts what is left of a step."""

from __future__ import annotations

import random

import pytest

from backend.diagnosis import stats
from backend.diagnosis.engine import Engine, replay_steps
from backend.diagnosis.engine import run as ask
from backend.diagnosis.records import Records
from backend.diagnosis.rules import find_rules
from tests.diagnosis_support import (
    SIZE,
    add,
    changed,
    fill,
    fired,
    found,
    group,
    mixed,
    only,
    records,
    right,
    state,
    words,
    wrong,
)

GROUPS = 8


def shares(run: Records, steps: int, seed: int = 0, **parts: float) -> Records:
    """Groups that are all right, all wrong or live by these chances; well formed (format 1) throughout."""
    made = {"right": lambda: right(run, 1.0), "wrong": lambda: wrong(run, 1.0)}

    def step(at: int, rng: random.Random):
        groups = []
        for _ in range(GROUPS):
            drawn, kind = rng.random(), None
            for name, share in parts.items():
                if drawn < share:
                    kind = name
                    break
                drawn -= share
            groups.append(made[kind]() if kind else mixed(run, rng.randint(2, 6), 1.0))
        return groups

    return fill(run, steps, step, seed)


def test_z1_fires_at_the_second_check_and_says_how_many() -> None:
    run = shares(records(), 20, wrong=0.95)
    finding = fired(run, "Z1")
    assert (finding.since_step, finding.severity) == (10, "critical")
    wrong_groups = finding.reading.evidence["all_wrong"]
    assert wrong_groups >= 60
    assert finding.reading.evidence["groups"] == 80
    assert "all 8 answers are wrong: nothing to learn from" in words(finding).en
    assert "배울 것이 없습니다" in words(finding).ko
    first = finding.reading.samples[0]
    sampled = next(g for g in run.groups if (g.step, g.place) == (first.step, first.group))
    assert all(score == 0.0 for score in sampled.scores(0))


def test_z1_judges_the_task_not_the_total() -> None:
    """Wrong and well formed: the total is .2, which is not the least, and the group is wrong all the same."""
    run = shares(records(), 20, wrong=1.0)
    assert {g.kind for g in run.groups} == {"tied"}
    assert fired(run, "Z1")
    assert state(run, "Z3") == "ok"


def test_z1_asks_for_larger_groups_where_some_are_right_and_for_a_warm_up_where_none_is() -> None:
    some = shares(records(), 20, wrong=0.9)
    assert changed(fired(some, "Z1")) == {"num_generations": 16, "gradient_accumulation_steps": 2}
    none = shares(records(), 20, wrong=1.0)
    finding = fired(none, "Z1")
    assert changed(finding) == {"stages": ["sft", "grpo"]}
    assert [cause.id for cause in finding.reading.causes] == ["verifier", "too_hard"]


def test_z1_of_a_run_that_was_better_names_the_fall() -> None:
    run = shares(records(), 6)
    shares(run, 20, seed=1, wrong=1.0)
    finding = fired(run, "Z1")
    assert finding.reading.causes[0].id == "collapsed"
    assert changed(finding)["learning_rate"] < 1e-4


def test_z1_clears_when_the_groups_live_again() -> None:
    run = shares(records(), 20, wrong=0.9)
    shares(run, 30, seed=1, wrong=0.1)
    finding = found(only(run, "Z1"), "Z1")
    assert finding is not None
    assert finding.state == "cleared"
    assert 30 <= (finding.cleared_step or 0) <= 45


def test_z1_is_a_warning_between_half_and_four_fifths() -> None:
    assert fired(shares(records(), 40, wrong=0.72), "Z1").severity == "warn"


@pytest.mark.parametrize("ident", ["Z1", "Z2", "Z3", "Z5"])
def test_before_a_whole_window_it_cannot_tell_and_says_how_many_steps(ident: str) -> None:
    standing = only(shares(records(), 6, wrong=1.0), ident, ended=False).standings[ident]
    assert (standing.state, standing.need) == ("unknown", 4)


def test_z2_warns_where_the_prompts_were_solved_from_the_start() -> None:
    finding = fired(shares(records(), 25, right=0.85), "Z2")
    assert (finding.severity, finding.reading.causes[0].id) == ("warn", "too_easy")
    assert changed(finding)["dataset_args"]["difficulty"] == "hard"


def test_z2_is_a_note_where_the_run_has_learned_them() -> None:
    run = shares(records(), 15)
    shares(run, 40, seed=1, right=0.85)
    engine = only(run)
    finding = found(engine, "Z2")
    assert finding is not None
    assert (finding.severity, finding.reading.causes[0].id) == ("info", "learned")
    assert [f.rule.id for f in engine.findings() if f.severity != "info"] == [], "success raises no warning"


def test_z3_is_for_scores_between_and_names_the_score() -> None:
    run = records(rewards=["math"], reward_weights=[1.0], reward_args={})
    fill(run, 20, lambda at, rng: [group(run, [(0.5,)] * SIZE) if rng.random() < 0.9 else group(
        run, [(0.5,), (1.0,)] * 4) for _ in range(GROUPS)])  # fmt: skip
    finding = fired(run, "Z3")
    assert finding.reading.evidence["score"] == 0.5
    assert finding.reading.causes[0].id == "coarse"
    assert state(run, "Z1") == "ok"
    assert state(run, "Z2") == "ok"


def test_unscored_groups_are_dead_of_no_score() -> None:
    run = records(rewards=["math"], reward_weights=[1.0], reward_args={})
    fill(run, 20, lambda at, rng: [group(run, [(None,)] * SIZE)] * GROUPS)
    assert [state(run, ident) for ident in ("Z1", "Z2", "Z3", "Z5")] == ["ok"] * 4
    assert fired(run, "R4").reading.evidence["share"] == 1.0


def copies(run: Records, solved: bool, different: int = 1):
    score = (1.0 if solved else 0.0, 1.0)
    return group(run, [score] * SIZE, [f"<answer>{i % different}</answer>" for i in range(SIZE)])


def test_z4_is_the_temperature_and_explains_the_other_dead_ones() -> None:
    run = records(temperature=0.01)
    fill(run, 20, lambda at, rng: [copies(run, rng.random() < 0.5) for _ in range(GROUPS)])
    engine = only(run)
    finding = found(engine, "Z4")
    assert finding is not None
    assert (finding.since_step, finding.severity) == (10, "critical")
    assert changed(finding) == {"temperature": 1.0}
    assert finding.reading.evidence["different_texts"] == 1.0
    bimodal = found(engine, "Z5")
    assert bimodal is not None
    assert bimodal.because_of == "Z4"


def test_z4_says_nothing_of_one_word_answers_at_temperature_1() -> None:
    """ "Yes" eight times is no collapse: the answer is short, and a solved prompt gives the same again and again."""
    run = records()
    fill(run, 30, lambda at, rng: [copies(run, rng.random() < 0.5) for _ in range(GROUPS)], seed=2)
    assert state(run, "Z4") == "ok"


def test_z4_sees_an_entropy_that_has_fallen_only_in_groups_that_are_not_right() -> None:
    def made(solved: float) -> Records:
        run = records()
        rng = random.Random(1)
        for at in range(1, 61):
            low = at > 25
            groups = [copies(run, rng.random() < solved) if low else mixed(run, rng.randint(2, 6), 1.0)
                      for _ in range(GROUPS)]  # fmt: skip
            add(run, at, groups, entropy=0.01 if low else 0.4)
        return run

    collapsed = fired(made(0.0), "Z4")
    assert collapsed.reading.causes[0].id == "collapse"
    assert changed(collapsed)["learning_rate"] < 1e-4
    assert state(made(1.0), "Z4") == "ok"


def test_z5_finds_two_sorts_of_prompts_and_offers_the_probe() -> None:
    finding = fired(shares(records(), 30, right=0.4, wrong=0.45), "Z5")
    assert finding.severity == "warn"
    assert changed(finding) == {"stages": ["probe"]}
    assert finding.reading.evidence["all_right"] >= 20
    assert finding.reading.evidence["all_wrong"] >= 20


def test_z5_is_not_misled_by_slips_of_the_format_beyond_reach() -> None:
    """Wrong throughout and live by the format alone: by the totals only .4 of the groups are dead."""
    run = records()
    slip = [(0.0, 1.0)] * 7 + [(0.0, 0.0)]
    fill(run, 30, lambda at, rng: [
        *[right(run, 1.0)] * 3, *[group(run, slip)] * 4, mixed(run, 4, 1.0)])  # fmt: skip
    assert fired(run, "Z5").reading.evidence["all_wrong"] == 40


def tie_broken(run: Records, share: float, steps: int = 20) -> Records:
    """In `share` of the groups the task is tied and only the second reward differs."""
    return fill(run, steps, lambda at, rng: [
        group(run, [(0.0, 0.001 * rng.randint(1, 30)) for _ in range(SIZE)]) if rng.random() < share
        else mixed(run, rng.randint(1, 7), 0.01) for _ in range(GROUPS)])  # fmt: skip


def with_length(**values) -> Records:
    return records(rewards=["accuracy", "length"], reward_weights=[1.0, 1.0], reward_args={}, **values)


def test_z6_warns_where_the_groups_are_scaled_and_the_change_is_the_scaling() -> None:
    finding = fired(tie_broken(with_length(scale_rewards="group"), 0.6), "Z6")
    assert (finding.severity, finding.reading.evidence["reward"]) == ("warn", "length")
    assert changed(finding) == {"scale_rewards": "none"}


def test_z6_is_a_note_where_the_difference_weighs_little() -> None:
    assert fired(tie_broken(with_length(scale_rewards="none"), 0.6), "Z6").severity == "info"


def test_z6_is_silent_at_the_few_percent_of_a_healthy_run() -> None:
    assert state(tie_broken(with_length(scale_rewards="group"), 0.05, 60), "Z6") == "ok"


def test_c2_warns_of_one_prompt_a_step_and_accumulates() -> None:
    run = records(per_device_train_batch_size=8)
    fill(run, 130, lambda at, rng: [mixed(run, rng.randint(1, 7), 1.0)], seed=3)
    finding = fired(run, "C2")
    assert (finding.severity, finding.since_step) == ("warn", 64)
    assert changed(finding) == {"gradient_accumulation_steps": 4}
    assert finding.reading.evidence["groups_a_step"] == 1.0


def test_c2_is_at_most_a_note_on_four_prompts_a_step() -> None:
    run = records(per_device_train_batch_size=32)
    fill(run, 60, lambda at, rng: [
        right(run, 1.0) if rng.random() < 0.3 else mixed(run, rng.randint(1, 7), 1.0) for _ in range(4)])  # fmt: skip
    assert [f.severity for f in only(run, "C2").findings()] in ([], ["info"])


def test_c2_counts_what_the_run_has_learned_as_useful() -> None:
    run = shares(records(), 15)
    shares(run, 40, seed=1, right=0.8)
    assert state(run, "C2") == "ok"


# --- the posterior itself ---


def alarms(share: float, runs: int, groups: int, steps: int) -> list[int | None]:
    """The step at which "more than half dead" is believed in each of so many runs, None where it never is."""
    steps_at: list[int | None] = []
    for seed in range(runs):
        rng = random.Random(seed)
        dead = [sum(rng.random() < share for _ in range(groups)) for _ in range(steps)]
        window, half = (10, 5) if groups >= 7 else (-(-64 // groups), -(-32 // groups))
        in_a_row, at = 0, None
        for end in range(window, steps + 1, half):
            seen = sum(dead[end - window : end])
            in_a_row = in_a_row + 1 if stats.share_level(seen, window * groups, 0.5) == "fire" else 0
            if in_a_row == 2:
                at = end
                break
        steps_at.append(at)
    return steps_at


def test_no_alarm_a_tenth_below_the_threshold_in_400_runs() -> None:
    assert [at for at in alarms(0.4, 400, 8, 100) if at is not None] == []
    assert [at for at in alarms(0.4, 400, 1, 400) if at is not None] == []


def test_a_share_of_seven_tenths_is_caught_soon() -> None:
    eight, one = alarms(0.7, 200, 8, 100), alarms(0.7, 200, 1, 600)
    assert None not in eight
    assert None not in one
    assert sorted(eight)[100] <= 25  # type: ignore[type-var]
    assert sorted(one)[100] <= 200  # type: ignore[type-var]


@pytest.mark.parametrize("n", [1, 8, 64, 640])
@pytest.mark.parametrize("threshold", [0.05, 0.4, 0.5, 0.8])
def test_levels_are_ordered_in_the_hits(n: int, threshold: float) -> None:
    order = {"clear": 0, "hold": 1, "fire": 2}
    levels = [order[stats.share_level(hits, n, threshold)] for hits in range(n + 1)]
    assert levels == sorted(levels)
    below = [hits for hits in range(n + 1) if hits / n <= threshold]
    assert all(levels[hits] < 2 for hits in below), "never fires at or below its threshold"


def test_the_same_share_of_a_real_window_never_raises_z1_below_half() -> None:
    rules = [rule for rule in find_rules() if rule.id == "Z1"]
    for seed in range(12):
        run = shares(records(), 40, seed=seed, wrong=0.38)
        engine = ask(Engine(run, rules), replay_steps(run))
        assert engine.findings() == []
