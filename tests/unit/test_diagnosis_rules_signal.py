"""A1, A2 (who owns the signal), C3 to C5 (settings that a run bears out), and what must stay silent."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from backend.config import check
from backend.diagnosis.base import Finding
from backend.diagnosis.engine import states
from backend.diagnosis.facts import facts_of
from backend.diagnosis.reading import from_portable
from backend.diagnosis.records import Records
from backend.diagnosis.rules import find_rules
from backend.text import Text
from storage.records import Group, StoredGroup
from tests.diagnosis_support import (
    SIZE,
    add,
    changed,
    evaluation,
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

RECORDINGS = Path(__file__).resolve().parents[2] / "configs" / "recordings"
MINE = ("C1", "C2", "C3", "C4", "C5", "R1", "R2", "R3", "R4", "R5", "Z1", "Z2", "Z3", "Z4", "Z5", "Z6", "A1", "A2")


def drawn(run: Records, rng: random.Random, task: float, form: float):
    """A group whose answers are right and well formed by chance, each for itself."""
    return group(run, [(float(rng.random() < task), float(rng.random() < form)) for _ in range(SIZE)])


def steady(steps: int, task: Callable[[float], float], form: Callable[[float], float], **values) -> Records:
    run = records(**values)
    return fill(run, steps, lambda at, rng: [
        drawn(run, rng, task(at / steps), form(at / steps)) for _ in range(8)], seed=5)  # fmt: skip


def test_a1_is_the_share_of_the_spread_inside_the_groups() -> None:
    run = steady(20, lambda t: 0.02, lambda t: 0.5, reward_weights=[1.0, 1.0])
    finding = fired(run, "A1")
    assert finding.reading.evidence["auxiliary_share"] > 0.85
    assert sum(finding.reading.evidence["shares"].values()) == pytest.approx(1.0, abs=0.01)
    assert changed(finding) == {"reward_weights": [1.0, 0.25]}
    assert "of what the last 64 live groups teach comes from format" in words(finding).en


def test_a1_is_silent_where_the_task_decides_and_needs_64_live_groups() -> None:
    assert state(steady(30, lambda t: 0.5, lambda t: 0.9), "A1") == "ok"
    run = records()
    fill(run, 12, lambda at, rng: [drawn(run, rng, 0.0, 0.5), *[wrong(run, 1.0)] * 7])
    standing = only(run, "A1", ended=False).standings["A1"]
    assert (standing.state, standing.need) == ("unknown", 54)


def test_a1_gives_every_group_the_same_weight_under_scaled_rewards() -> None:
    """One group of right and wrong against nine that differ by a thousandth: pooled, the nine are nothing."""

    def made(scale: str) -> Records:
        run = records(scale_rewards=scale, reward_weights=[1.0, 0.001])
        return fill(run, 20, lambda at, rng: [
            drawn(run, rng, 0.5 if i == 0 else 0.0, 0.5) for i in range(8)], seed=6)  # fmt: skip

    assert state(made("none"), "A1") == "ok"
    assert fired(made("group"), "A1").reading.evidence["auxiliary_share"] > 0.8


def test_a1_has_no_question_with_one_reward() -> None:
    run = records(rewards=["accuracy"], reward_weights=[1.0], reward_args={})
    fill(run, 20, lambda at, rng: [mixed(run, 4)] * 8)
    assert not only(run, "A1").standings["A1"].applies


def test_a2_is_a_format_that_is_learned_and_a_task_that_is_not() -> None:
    run = steady(80, lambda t: 0.05, lambda t: 0.1 + 0.8 * t, reward_weights=[1.0, 0.5])
    finding = fired(run, "A2")
    assert finding.severity == "warn", "right answers may follow the form"
    assert finding.since_step >= 25
    assert finding.reading.evidence["auxiliary_gain"] > 0.1
    assert changed(finding) == {"reward_weights": [1.0, 0.12]}


def test_a2_is_silent_where_the_task_rises_too_and_where_it_is_solved() -> None:
    assert state(steady(80, lambda t: 0.1 + 0.6 * t, lambda t: 0.1 + 0.8 * t), "A2") == "ok"
    assert state(steady(80, lambda t: 0.97, lambda t: 0.1 + 0.8 * t), "A2") == "ok"


def test_a2_is_silent_where_the_format_only_creeps() -> None:
    run = steady(120, lambda t: 0.4, lambda t: 0.84 + 0.08 * t)
    assert state(run, "A2") == "ok"


def test_a2_without_a_task_asks_the_held_out_rows() -> None:
    def made(before: int, after: int) -> Records:
        run = records(rewards=["format", "length"], reward_weights=[1.0, 1.0],
                      reward_args={"length": {"mode": "target", "target": 16, "tolerance": 8}})  # fmt: skip
        evaluation(run, "before", 0, before)
        fill(run, 60, lambda at, rng: [drawn(run, rng, 0.1 + 0.013 * at, 0.5) for _ in range(8)], seed=7)
        evaluation(run, "during", 30, after)
        return run

    finding = fired(made(180, 60), "A2")
    assert finding.reading.causes[0].id == "no_task"
    assert changed(finding)["rewards"] == ["accuracy", "format", "length"]
    assert "held-out accuracy 90% → 30%" in words(finding).en
    assert state(made(60, 180), "A2") == "ok"


def flat(level: float = 0.4, steps: int = 60, parameters: int | None = 996_000, **values) -> Records:
    run = records(parameters, **values)
    return fill(run, steps, lambda at, rng: [drawn(run, rng, level, 1.0) for _ in range(8)], seed=8)


def rising(**values) -> Records:
    run = records(**values)
    return fill(run, 60, lambda at, rng: [drawn(run, rng, 0.2 + 0.01 * at, 1.0) for _ in range(8)], seed=8)


def test_c3_is_a_low_rate_of_an_adapter_that_does_not_rise() -> None:
    run = flat(peft="lora", learning_rate=1e-6)
    finding = fired(run, "C3")
    assert finding.since_step == 25
    assert changed(finding) == {"learning_rate": 1e-5}
    assert finding.reading.causes[0].id == "lr_low"
    assert state(rising(peft="lora", learning_rate=1e-6), "C3") == "ok"


def test_c3_leaves_dead_groups_to_their_own_rules() -> None:
    run = records(peft="lora", learning_rate=1e-6)
    fill(run, 60, lambda at, rng: [wrong(run, 1.0)] * 8)
    engine = only(run)
    assert engine.standings["C3"].state == "ok"
    assert engine.standings["Z1"].state == "fired"


def falling(parameters: int | None, **values) -> Records:
    run = records(parameters, **values)
    return fill(run, 60, lambda at, rng: [drawn(run, rng, max(0.02, 0.8 - 0.05 * at), 1.0) for _ in range(8)])


def test_c3_is_a_high_rate_of_a_run_that_falls_and_the_bound_grows_for_small_models() -> None:
    finding = fired(falling(7_000_000_000, learning_rate=5e-5), "C3")
    assert finding.reading.evidence["bound"] == 1e-5
    assert changed(finding) == {"learning_rate": 1e-6}
    assert fired(falling(None, learning_rate=5e-5), "C3")
    assert not only(falling(996_000, learning_rate=1e-4), "C3").standings["C3"].applies
    assert fired(falling(996_000, learning_rate=1e-2), "C3").reading.evidence["bound"] == 3.2e-4


def test_c3_is_contradicted_by_a_run_that_learns() -> None:
    assert state(rising(learning_rate=1e-2), "C3") == "ok"


def test_c4_is_a_note_on_rounded_updates() -> None:
    finding = fired(flat(dtype="bfloat16", learning_rate=1e-6, steps=300), "C4")
    assert finding.severity == "info"
    assert changed(finding) == {"dtype": "float32"}
    assert state(rising(dtype="bfloat16", learning_rate=1e-6), "C4") == "ok"
    assert not only(flat(learning_rate=1e-6), "C4").standings["C4"].applies, "auto is float32"


def growing(by: float, **values) -> Records:
    """Wrong answers grow, right ones do not."""
    run = records(loss_type="grpo", **values)
    for at in range(1, 41):
        groups = []
        for _ in range(8):
            tokens = [20 if i < 4 else int(20 * (1 + by * at / 40)) for i in range(SIZE)]
            groups.append(group(run, [(float(i < 4), 1.0) for i in range(SIZE)], tokens=tokens))
        add(run, at, groups)
    return run


def test_c5_shows_the_objective_where_wrong_answers_grow() -> None:
    finding = fired(growing(1.0), "C5")
    assert finding.severity == "info"
    assert changed(finding) == {"loss_type": "dapo"}
    assert "loss_type grpo, scale_rewards none, beta 0" in words(finding).en
    sample = finding.reading.samples[0]
    assert sample.index >= 4, "a wrong answer"
    assert state(growing(0.1), "C5") == "ok"
    assert not only(growing(1.0, importance_sampling_level="sequence"), "C5").standings["C5"].applies


# --- what must stay silent ---


def healthy(metrics: dict[str, Callable[[int], float]], steps: int = 80) -> Records:
    """Half right at first, nearly all at the end; the metrics come on top."""
    run = records()
    rng = random.Random(9)
    evaluation(run, "before", 0, 80)
    for at in range(1, steps + 1):
        task = min(0.97, 0.4 + 0.03 * at)
        groups = [drawn(run, rng, task, 0.995) for _ in range(8)]
        add(run, at, groups, **{name.replace("__", "/"): value(at) for name, value in metrics.items()})
        if at % 20 == 0:
            evaluation(run, "during", at, min(195, 80 + 2 * at))
    return run


@pytest.mark.parametrize(
    "metrics",
    [
        {"loss": lambda at: 0.0}, {"clip_ratio__region_mean": lambda at: 0.0}, {},
        {"frac_reward_zero_std": lambda at: float(at % 2)}, {"entropy": lambda at: max(0.2, 0.35 - 0.002 * at)},
        {"completions__mean_length": lambda at: 20.0 + at},
        {"grad_norm": lambda at: 5.0 if at % 20 == 0 else 0.1},
    ],
    ids=["loss 0", "no clipping", "no kl", "zero-std 1,0,1,0", "entropy .35 to .2", "length grows", "gradient spikes"],
)  # fmt: skip
def test_the_must_stay_silent_list(metrics: dict[str, Callable[[int], float]]) -> None:
    engine = only(healthy(metrics), *MINE)
    assert [(f.rule.id, f.severity) for f in engine.findings() if f.severity != "info"] == []


def test_the_recorded_run_that_learned_is_silent_and_the_others_are_told_apart() -> None:
    learned, _ = from_portable(RECORDINGS / "learned.jsonl.gz")
    assert [f.rule.id for f in only(learned, *MINE).findings() if f.severity != "info"] == []
    dead, _ = from_portable(RECORDINGS / "dead.jsonl.gz")
    finding = found(only(dead, *MINE), "R3")
    assert finding is not None
    assert finding.reading.causes[0].id == "too_hard"
    assert finding.because_of is None
    hacked, _ = from_portable(RECORDINGS / "hacked.jsonl.gz")
    finding = found(only(hacked, *MINE), "A2")
    assert finding is not None
    assert finding.state == "fired"
    assert "100% → 18%" in words(finding).ko


def test_a_probe_is_no_training_and_no_rule_looks_at_it() -> None:
    from backend.diagnosis.report import diagnose

    run = fill(records(stages=["probe"]), 20, lambda at, rng: [wrong(records(), 1.0)] * 8)
    assert diagnose(run, "20260101-000000-abcd")["findings"] == []


# --- of every rule ---


def every_finding() -> list[tuple[Records, Finding]]:
    made = [
        fill(run := records(), 20, lambda at, rng: [wrong(run, 1.0)] * 8),
        fill(run2 := records(), 20, lambda at, rng: [wrong(run2, 1.0)] * 7 + [mixed(run2, 1, 1.0)]),
        fill(run3 := records(), 20, lambda at, rng: [right(run3, 1.0)] * 8),
        fill(run4 := records(), 20, lambda at, rng: [right(run4, 1.0), wrong(run4, 1.0)] * 4),
        fill(run5 := records(temperature=0.01, top_k=1, top_p=0.1), 20, lambda at, rng: [
            group(run5, [(0.0, 1.0)] * SIZE, ["<answer>1</answer>"] * SIZE)] * 8),
        fill(run6 := records(per_device_train_batch_size=8), 130, lambda at, rng: [mixed(run6, 4, 1.0)]),
        fill(run7 := records(per_device_train_batch_size=8, steps_per_generation=2), 70,
             lambda at, rng: [mixed(run7, 4, 1.0)] * 2),
        steady(80, lambda t: 0.05, lambda t: 0.1 + 0.8 * t, reward_weights=[1.0, 0.5]),
        steady(30, lambda t: 0.02, lambda t: 0.5, reward_weights=[1.0, 1.0], scale_rewards="group"),
        flat(peft="lora", learning_rate=1e-6), falling(996_000, learning_rate=1e-2),
        flat(dtype="bfloat16", learning_rate=1e-6, steps=300), growing(1.0),
        fill(run8 := records(max_completion_length=4), 4, lambda at, rng: [
            group(run8, [(0.0, 0.0)] * SIZE, ["2+8"] * SIZE, truncated=True)] * 8),
        fill(run9 := records(), 4, lambda at, rng: [
            group(run9, [(0.0, 0.0)] * SIZE, ["<answer>50</answer>"] * SIZE, "50.0")] * 8),
    ]  # fmt: skip
    return [(run, finding) for run in made for finding in only(run, *MINE).findings()]


def test_every_finding_speaks_both_languages_and_every_change_is_one_that_a_run_takes() -> None:
    seen = every_finding()
    assert {f.rule.id for _, f in seen} >= {"Z1", "Z2", "Z4", "Z5", "Z6", "C2", "C3", "C4", "C5", "A1", "A2", "R3"}
    for run, finding in seen:
        reading = finding.reading
        for text in (reading.text, *(cause.text for cause in reading.causes)):
            assert isinstance(text, Text)
            assert text.en
            assert text.ko
            assert text.en != text.ko
            assert any("가" <= letter <= "힣" for letter in text.ko)
            assert not any("가" <= letter <= "힣" for letter in text.en)
        assert reading.causes
        assert reading.evidence
        if reading.change:
            for change in reading.change:
                assert run.facts.config[change.field] == change.old != change.new
            values = {**run.facts.config, **{change.field: change.new for change in reading.change}}
            problems = check(values).errors
            assert problems == [], (finding.rule.id, reading.change, [str(p.rule) for p in problems])


@pytest.mark.parametrize("rule", [r for r in find_rules() if r.id in MINE], ids=lambda r: r.id)
def test_every_rule_has_its_title_and_symptoms_that_exist(rule) -> None:
    assert rule.title.en != rule.title.ko
    assert any("가" <= letter <= "힣" for letter in rule.title.ko)
    ids = {each.id for each in find_rules()}
    assert set(rule.symptoms) <= ids
    assert rule.id not in rule.symptoms


def test_no_rules_explain_each_other_in_a_circle() -> None:
    """Else all of them would be hidden by another one, and the run's sentence would name none."""
    left = {rule.id: set(rule.symptoms) for rule in find_rules()}
    while ends := [ident for ident, explained in left.items() if not explained & left.keys()]:
        for ident in ends:
            del left[ident]
    assert left == {}


def test_a_run_of_which_hardly_anything_is_known_fails_no_rule_and_fires_none_on_settings() -> None:
    """Of a run that plain TRL made the settings are what its files tell."""
    run = Records(facts_of({}, ("accuracy", "format")))
    fill(run, 60, lambda at, rng: [drawn(run, rng, 0.3, 0.9) for _ in range(8)])
    engine = only(run)
    assert [s["id"] for s in states(engine) if s["failed"]] == []
    assert [f.rule.id for f in engine.findings() if f.severity != "info" and f.rule.id != "D1"] == []
    dead = Records(facts_of({}, ("accuracy",)))
    fill(dead, 20, lambda at, rng: [group(dead, [(0.0,)] * SIZE)] * 8)
    engine = only(dead)
    assert [s["id"] for s in states(engine) if s["failed"]] == []
    assert {f.rule.id for f in engine.findings() if f.severity == "critical"} >= {"R3", "Z1"}


def test_texts_that_were_dropped_are_no_copies_and_no_missing_answers() -> None:
    run = records(temperature=0.2)
    for step in range(1, 21):
        rows = [replace_texts(run, mixed(run, 0 if i % 2 else 8, 1.0), step, i) for i in range(8)]
        for row in rows:
            run.add_stored(row)
    assert {g.unique for g in run.groups} == {7}
    assert state(run, "Z4") == "ok"


def replace_texts(run: Records, made: Group, step: int, place: int) -> StoredGroup:
    """The group as read back after its texts were dropped."""
    gone = tuple(replace(c, text="") for c in made.completions)
    return StoredGroup(
        id=step * 8 + place, step=step, phase="train", attempt=1, prompt_id=f"{step}-{place}", prompt="",
        prompt_format="text", ground_truth="50", completions=gone, reward_names=run.facts.reward_names,
        unique=7, dropped=True,
    )  # fmt: skip
