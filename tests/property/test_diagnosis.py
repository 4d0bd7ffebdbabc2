"""Whatever a run recorded, the rules answer with what can be stored and shown, the same however they are asked."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.config.schema import RunConfig
from backend.diagnosis.engine import Engine, replay, replay_steps, run
from backend.diagnosis.facts import facts_of
from backend.diagnosis.records import Records
from backend.diagnosis.report import report_of
from backend.diagnosis.rules import find_rules
from storage.records import Completion, Evaluation, EvaluationItem, Event, Generation, Group
from tests.unit.diagnosis_runs import config

FIELDS = frozenset(RunConfig.model_fields)
NAMES: tuple[str, ...] = (
    "reward", "reward_std", "frac_reward_zero_std", "loss", "grad_norm", "learning_rate", "entropy", "kl", "step_time",
    "clip_ratio/region_mean", "completions/mean_length", "completions/clipped_ratio", "num_tokens",
    "completions/mean_terminated_length", "completions/max_terminated_length", "rewards/accuracy/mean",
    "rewards/format/mean", "time/rewards", "time/generation", "time/evaluation", "seconds/rewards", "rewards/slow",
)  # fmt: skip
LONG = "".join(map(chr, range(0xAC00, 0xAC40))) * 40
TEXTS = ("", " ", "\0", "<answer>1</answer>", "<answer>", "!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", "\ud800", "7", LONG)
NUMBERS = st.floats() | st.sampled_from([0.0, 1.0, 0.5, -1.0, 1e38, -1e38, 1.7976931348623157e308, 5e-324])
SETTINGS: tuple[dict[str, Any], ...] = (
    config(),
    config(rewards=["accuracy"], reward_weights=[1.0], reward_args={}),
    config(rewards=["format", "length"], reward_weights=[0.0, 1e6], reward_args={"length": {"target": 3, "width": 1}}),
    config(peft="none", beta=0.1, learning_rate=1.0, num_iterations=4, mask_truncated_completions=True),
    {},
    {"rewards": ["mine"], "reward_weights": "x", "max_steps": None, "num_generations": 0, "learning_rate": "high"},
)


@st.composite
def completions(draw: st.DrawFn, names: int) -> Completion:
    scores = draw(st.lists(st.none() | NUMBERS, min_size=max(0, names - 1), max_size=names))
    total = draw(st.none() | NUMBERS)
    return Completion(
        draw(st.sampled_from(TEXTS)), draw(st.integers(0, 2**31 - 1)), draw(st.booleans()), tuple(scores), total,
        draw(st.none() | NUMBERS), (None,) * len(scores), (draw(st.none() | st.sampled_from(TEXTS)),) * len(scores),
    )  # fmt: skip


@st.composite
def recorded(draw: st.DrawFn) -> Records:
    """A run of up to 60 steps whose few kinds of steps repeat, so that windows fill and rules speak."""
    settings_of = draw(st.sampled_from(SETTINGS))
    facts = facts_of(settings_of)
    names = len(facts.reward_names)
    records = Records(facts, reason=draw(st.none() | st.sampled_from(["CUDA out of memory", "\0", ""])))
    answers = st.lists(completions(names), max_size=4).map(tuple)
    group = st.builds(
        Group, prompt_id=st.sampled_from(["a", "b", ""]), prompt=st.sampled_from(TEXTS), prompt_format=st.just("text"),
        ground_truth=st.none() | st.sampled_from(TEXTS), completions=answers,
    )  # fmt: skip
    kinds = draw(st.lists(st.lists(group, max_size=9).map(tuple), min_size=1, max_size=3))
    logs = draw(st.lists(st.dictionaries(st.sampled_from(NAMES), NUMBERS, max_size=len(NAMES)), min_size=1, max_size=3))
    for step in range(1, draw(st.integers(0, 60)) + 1):
        records.add_generation(Generation(step, "train", facts.reward_names, kinds[step % len(kinds)]))
        records.add_metrics(step, logs[step % len(logs)])
    for when, step in draw(
        st.lists(st.tuples(st.sampled_from(["before", "during", "after"]), st.integers(0, 60)), max_size=4)
    ):
        n = draw(st.integers(0, 3))
        items = tuple(
            EvaluationItem(f"row {i}", "text", None, "x", draw(st.none() | st.booleans()), None, 1, True, None)
            for i in range(n)
        )
        share = draw(st.floats(0, 1) | st.just(math.nan))
        seconds = draw(st.floats(0, 1e9))
        records.add_evaluation(Evaluation(when, step, n, share, share, share, share, share, "rows", seconds), items)  # pyright: ignore[reportArgumentType]
    records.events = [Event(1, 0.0, "warning", "warn", "made up", {})]
    return records


@settings(max_examples=150, deadline=None)
@given(recorded(), st.booleans())
def test_every_rule_answers_and_the_report_can_be_stored(records: Records, ended: bool) -> None:
    engine = replay(records, find_rules(), ended)
    assert {id: s.failed for id, s in engine.standings.items() if s.failed} == {}
    report = report_of(engine, "run", ended)
    json.dumps(report, allow_nan=False)
    told = report["headline"]
    assert told["text"]["en"].strip()
    assert told["text"]["ko"].strip()
    standing = {f["id"] for f in report["findings"] if f["state"] == "fired"}
    assert told["because"] is None or told["because"] in standing
    roots = {f["id"] for f in report["findings"] if f["state"] == "fired" and f["because_of"] is None}
    assert bool(roots) == bool(standing)  # what stands is never hidden whole
    for finding in report["findings"]:
        assert "nan" not in finding["text"]["en"].lower().replace("nan or", "").split(), finding["text"]
        assert {change["field"] for change in finding["change"]} <= FIELDS
        assert 0 <= finding["since_step"] <= finding["last_step"] <= engine.last_step
        for sample in finding["samples"]:
            at = [g for g in records.groups if (g.step, g.place) == (sample["step"], sample["group"])]
            assert at
            assert sample["index"] is None or sample["index"] < len(at[0].completions)


@settings(max_examples=40, deadline=None)
@given(recorded(), st.integers(0, 60))
def test_a_resume_leaves_what_a_run_that_never_went_further_would_have(records: Records, after: int) -> None:
    gone_back = replay(records, find_rules(), ended=False)
    gone_back.cut(after)
    fresh = run(Engine(records, find_rules()), replay_steps(records))
    assert repr(report_of(gone_back, "run", False)) == repr(report_of(fresh, "run", False))
