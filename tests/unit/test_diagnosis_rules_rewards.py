"""R1 to R5: rewards that cannot be called, never score, leave gaps or take long; and C1, which is refused as R1 is."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from backend.diagnosis.records import Records
from backend.diagnosis.rules._answers import alike, golds, said, why
from storage.records import Completion
from tests.diagnosis_support import (
    SIZE,
    add,
    changed,
    event,
    fill,
    fired,
    found,
    group,
    mixed,
    only,
    records,
    state,
    words,
)


def floor(run: Records, text: str, steps: int = 10, truth: str = "50", groups: int = 8, **other) -> Records:
    """Every completion says `text` (with its place in {i}) and the task gives its least."""
    texts = [text.format(i=i) for i in range(SIZE)]
    rest = [0.0] * (len(run.facts.reward_names) - 1)
    return fill(run, steps, lambda at, rng: [group(run, [(0.0, *rest)] * SIZE, texts, truth, **other)] * groups)


def accuracy(**values) -> Records:
    return records(rewards=["accuracy"], reward_weights=[1.0], reward_args={}, **values)


def told(extracted: str | None, reason: str) -> dict:
    return {"extracted": (extracted,), "reasons": (reason,)}


def test_r3_sees_a_gold_of_another_type_after_64_completions() -> None:
    run = floor(accuracy(), "so <answer>50</answer>", 3, "50.0", **told("50", "not the ground truth"))
    finding = fired(run, "R3")
    assert (finding.since_step, finding.severity) == (1, "critical")
    assert finding.reading.evidence["by_type"] == 128
    assert finding.reading.causes[0].id == "by_type"
    assert changed(finding) == {"rewards": ["math"]}
    assert finding.reading.samples[0].index >= 0


def test_r3_sees_a_reward_of_ones_own_that_looks_in_another_tag() -> None:
    run = records(rewards=["accuracy"], reward_weights=[1.0], reward_args={})
    own = Records(replace(run.facts, config={**run.facts.config, "rewards": ["result_tag"]},
                          reward_names=("result_tag",), bounds=(None,), decides=False))  # fmt: skip
    fill(own, 3, lambda at, rng: [group(own, [(0.0,)] * SIZE, [
        f"so <answer>{50 if i < 4 else i}</answer>" for i in range(SIZE)])] * 8)  # fmt: skip
    finding = fired(own, "R3")
    assert finding.reading.evidence["unread"] == 64
    assert finding.reading.evidence["wrong"] == 64
    assert [cause.id for cause in finding.reading.causes] == ["unread", "too_hard"]
    assert "right but not read" in words(finding).en


def test_r3_counts_cut_off_answers_and_doubles_the_limit() -> None:
    run = floor(accuracy(max_completion_length=4), "2+8", 3, truncated=True)
    finding = fired(run, "R3")
    assert finding.reading.evidence["truncated"] == 128
    assert changed(finding) == {"max_completion_length": 8}


def test_r3_counts_completions_without_any_answer() -> None:
    run = floor(accuracy(), "let me think about it", 3, **told(None, "no <answer> tag"))
    finding = fired(run, "R3")
    assert finding.reading.causes[0].id == "no_answer"
    assert changed(finding) == {"stages": ["sft", "grpo"]}


def test_r3_waits_longer_where_the_answers_are_simply_wrong() -> None:
    """Nothing right in 64 is an even chance at a solve rate of 1%."""
    run = floor(accuracy(), "so <answer>7{i}</answer>", 7, **told("7", "not the ground truth"))
    standing = only(run, "R3", ended=False).standings["R3"]
    assert (standing.state, standing.need) == ("unknown", 1)
    floor(run, "so <answer>7{i}</answer>", 3, **told("7", "not the ground truth"))
    finding = fired(run, "R3")
    assert (finding.since_step, finding.reading.causes[0].id) == (8, "too_hard")


def test_r3_says_how_many_steps_it_needs_for_64() -> None:
    run = floor(accuracy(), "so <answer>50</answer>", 3, "50.0", groups=1)
    standing = only(run, "R3", ended=False).standings["R3"]
    assert (standing.state, standing.need) == ("unknown", 5)


def test_r3_clears_at_the_first_right_answers() -> None:
    run = floor(accuracy(), "so <answer>50</answer>", 12, "50.0")
    fill(run, 4, lambda at, rng: [mixed(run, 4)] * 8)
    finding = found(only(run, "R3"), "R3")
    assert finding is not None
    assert (finding.state, finding.cleared_step) == ("cleared", 14)


def test_r3_is_no_matter_of_a_run_that_has_fallen_to_the_floor() -> None:
    run = fill(accuracy(), 10, lambda at, rng: [mixed(accuracy(), 4)] * 8)
    floor(run, "so <answer>7{i}</answer>", 30)
    assert state(run, "R3") == "ok"


def test_r3_explains_the_dead_groups() -> None:
    run = floor(accuracy(), "so <answer>50</answer>", 15, "50.0")
    finding = found(only(run), "Z1")
    assert finding is not None
    assert finding.because_of == "R3"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("85", "85.0", True), ("1,234", "1234", True), (" 7 ", "7", True), ("−3", "-3", True), ("1/2", "2/4", True),
        ("Yes", "yes", True), ("$5$", "5", True), ("0.5", ".5", True), ("1e3", "1000", True), ("85", "58", False),
        ("yes", "no", False), ("1/0", "1/0", True), ("", "0", False), ("1" * 100, "1" * 100, True),
    ],
)  # fmt: skip
def test_answers_are_compared_without_their_dress(a: str, b: str, same: bool) -> None:
    assert alike(a, b) is same


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>a</think><answer> 5 </answer>", " 5 "), ("\\boxed{7}", "7"), ("The answer is 12.", "12"),
        ("<result>3</result>", "3"), ("nothing", None), ("<think>5</think>", None),
    ],
)  # fmt: skip
def test_what_a_completion_says(text: str, answer: str | None) -> None:
    assert said(text) == answer


def test_golds_of_a_stored_list_are_its_members() -> None:
    assert golds('["1", 2, null]') == ["1", "2"]
    assert golds("[broken") == ["[broken"]
    assert golds(None) == []


def test_a_hostile_completion_is_read_in_a_moment() -> None:
    text = "<a>" * 40_000 + "1" * 40_000
    assert why(Completion(text, 10, False, (0.0,), 0.0, 0.0), "9" * 5_000, 0) in ("wrong", "no_answer")


def gappy(run: Records, share: float, steps: int) -> Records:
    return fill(run, steps, lambda at, rng: [
        group(run, [(None if rng.random() < share else float(i % 2),) for i in range(SIZE)],
              reasons=[("cannot be read as mathematics: foo",)] * SIZE) for _ in range(8)], seed=4)  # fmt: skip


def test_r4_fires_above_five_percent_and_clears_when_mended() -> None:
    run = gappy(accuracy(), 0.2, 20)
    finding = fired(run, "R4")
    assert (finding.since_step, finding.severity) == (10, "warn")
    assert 0.15 < finding.reading.evidence["share"] < 0.25
    assert "gave no score to" in words(finding).en
    assert "수식으로 읽을 수 없음" in words(finding).ko
    sample = finding.reading.samples[0]
    holder = next(g for g in run.groups if (g.step, g.place) == (sample.step, sample.group))
    assert holder.completions[sample.index].rewards[0] is None
    gappy(run, 0.0, 25)
    cleared = found(only(run, "R4"), "R4")
    assert cleared is not None
    assert cleared.state == "cleared"


def test_r4_is_silent_at_one_percent() -> None:
    assert state(gappy(accuracy(), 0.01, 60), "R4") == "ok"


def test_r4_lets_a_reward_leave_out_whole_prompts() -> None:
    """None for rows of another task is what TRL means by it."""
    run = records(rewards=["accuracy", "math"], reward_weights=[1.0, 1.0], reward_args={})
    fill(run, 30, lambda at, rng: [
        group(run, [(float(i % 2), None) if at % 2 else (None, float(i % 2)) for i in range(SIZE)])
        for _ in range(8)])  # fmt: skip
    assert state(run, "R4") == "ok"


def timed(reward: float, whole: float, steps: int = 8, cycle: int = 1) -> Records:
    run = accuracy(num_iterations=cycle)
    for step in range(1, steps + 1):
        times = {"time/reward": reward} if (step - 1) % cycle == 0 else {}
        add(run, step, [mixed(run, 4)] * 8, step_time=whole, **times)
    return run


def test_r5_fires_after_five_steps_and_a_sixth() -> None:
    finding = fired(timed(2.0, 3.0), "R5")
    assert (finding.since_step, finding.reading.evidence["share"]) == (5, 0.667)
    assert "67%" in words(finding).en


def test_r5_needs_five_steps() -> None:
    standing = only(timed(2.0, 3.0, 3), "R5", ended=False).standings["R5"]
    assert (standing.state, standing.need) == ("unknown", 2)


@pytest.mark.parametrize(("reward", "whole"), [(0.004, 0.009), (0.5, 3.0), (0.8, 3.0)])
def test_r5_is_silent_below(reward: float, whole: float) -> None:
    assert state(timed(reward, whole), "R5") == "ok"


def test_r5_counts_the_steps_that_one_generation_feeds() -> None:
    assert state(timed(2.0, 2.5, 40, cycle=4), "R5") == "ok"  # 2 s in 10
    assert fired(timed(2.0, 1.0, 40, cycle=4), "R5").reading.evidence["share"] == 0.5


def ended(reason: str, steps: int = 0, **values) -> Records:
    run = accuracy(**values)
    if steps:
        fill(run, steps, lambda at, rng: [mixed(run, rng.randint(1, 7))] * 8)
    run.reason, run.state, run.ended = reason, "failed", True
    return run


CONTRACT = (
    "The reward function 'mine' returned 3 rewards ([1, 2, 3]); 64 rewards were expected, one for each completion."
)
DEAD = "The reward function 'mine' failed on every completion of 3 batches in a row; the tracebacks are in the log."
COLUMN = "mine needs solution, and the rows have no column solution; they have: prompt, ground_truth"


def test_r1_names_the_reward_and_what_it_gave() -> None:
    finding = fired(ended(CONTRACT), "R1")
    assert (finding.severity, finding.reading.evidence["reward"]) == ("stop", "mine")
    assert finding.reading.causes[0].id == "answer"


def test_r1_knows_a_call_that_fails_from_the_last_error() -> None:
    run = ended(DEAD, steps=3)
    event(run, "reward_error", "the reward mine could not score a completion: TypeError: mine() got an unexpected "
          "keyword argument 'prompt_id'")  # fmt: skip
    assert fired(run, "R1").reading.causes[0].id == "call"
    assert fired(ended(DEAD, steps=3), "R1").reading.causes[0].id == "raises"


def test_r2_is_a_column_that_is_not_there() -> None:
    finding = fired(ended(COLUMN), "R2")
    assert (finding.reading.evidence["column"], finding.reading.causes[0].id) == ("solution", "column")
    assert state(ended(COLUMN), "R1") != "fired"


def test_r2_counts_rows_without_a_ground_truth_while_the_run_goes_on() -> None:
    def step(run: Records, share: float):
        def make(at: int, rng: random.Random):
            return [group(run, [(None,)] * SIZE, truth=None, reasons=[("no ground truth to compare with",)] * SIZE)
                    if rng.random() < share else mixed(run, 4) for _ in range(8)]  # fmt: skip

        return make

    run = accuracy()
    finding = fired(fill(run, 12, step(run, 0.4)), "R2")
    assert finding.since_step == 10
    assert finding.severity == "warn", "the other rows teach"
    assert "prompts have no ground truth" in words(finding).en
    mostly = accuracy()
    assert fired(fill(mostly, 12, step(mostly, 0.9)), "R2").severity == "stop"
    healthy = accuracy()
    assert state(fill(healthy, 40, step(healthy, 0.0)), "R2") == "ok"


def test_c1_offers_a_batch_that_the_rows_can_fill() -> None:
    reason = (
        "dataset: 5 usable training rows (10 were left out because their prompts are too long), but one generation "
        "needs 8 different prompts (generation batch / num_generations). Use more rows or shorter prompts."
    )
    finding = fired(ended(reason), "C1")
    assert (finding.severity, finding.reading.evidence["rows"]) == ("stop", 5)
    change = changed(finding)
    batch = change.get("per_device_train_batch_size", 64) * change.get("gradient_accumulation_steps", 1)
    assert batch / change.get("num_generations", 8) <= 5


def test_c1_says_nothing_of_a_run_that_began() -> None:
    assert state(ended("RuntimeError during update: num_generations was mentioned", steps=3), "C1") == "ok"
    assert state(ended("OSError during start: no such file"), "C1") == "unknown"
