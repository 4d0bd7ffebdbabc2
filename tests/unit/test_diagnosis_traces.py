"""The diagnosis rules on recorded trainings with a planted fault, and on healthy ones (tests/data/traces)."""

from __future__ import annotations

import functools
import gzip
import json
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backend.diagnosis.reading import from_portable
from backend.diagnosis.rules import find_rules
from backend.diagnosis.rules._exploit import answers
from backend.settings import PROJECT
from bench.calibrate import FOLDER, HOME, Job, _rows_file, anywhere, jobs, manifest, plan
from bench.calibrate_table import Verdict, verdict
from storage.portable import peek

RUNS = manifest()
PLANTED = [name for name, entry in RUNS.items() if entry["expect"]]
# The hole is there and the model did not find it (plan.yaml): nothing is to be found. The figures count it as missed.
ABSENT = [f"{kind}-{seed}" for kind, one in plan()["planted"].items() for seed in one.get("absent", ())]
HEALTHY = [name for name, entry in RUNS.items() if not entry["expect"]]


@functools.cache
def said(name: str) -> Verdict:
    return verdict(RUNS[name])


def curve(name: str, metric: str) -> list[float]:
    """A metric of one run, a value a step; empty where it was never logged."""
    return from_portable(FOLDER / f"{name}.jsonl.gz")[0].window(10**9).curve(metric).values


@pytest.mark.parametrize("name", [name for name in PLANTED if name not in ABSENT])
def test_a_planted_fault_is_found_by_its_own_rule(name: str) -> None:
    found = said(name)
    assert found.own, {rule: alarm.step for rule, alarm in found.alarms.items()}
    assert found.failed == {}


def test_a_hole_in_a_reward_that_was_not_found_raises_no_alarm() -> None:
    """Only one run is left out of the above, and what the others learn is next to never in it."""
    assert ABSENT == ["many_answers-2"]
    assert said("many_answers-2").warnings == {}
    shares = {name: _listed(name) for name in ("many_answers-1", "many_answers-2", "many_answers-3")}
    assert shares.pop("many_answers-2") < 0.02 < 0.04 < min(shares.values()), shares


def _listed(name: str) -> float:
    """Of the answers in the last ten steps those that give several."""
    window = from_portable(FOLDER / f"{name}.jsonl.gz")[0].window(10**9)
    last = max(group.step for group in window.all_groups) - 10
    texts = [c.text for group in window.all_groups if group.step > last for c in group.completions]
    return sum(len(answers(text)) > 1 for text in texts) / len(texts)


@pytest.mark.parametrize("job", [job for job in jobs(plan()) if job.cause], ids=lambda job: job.name)
def test_the_finding_names_the_cause_that_was_planted(job: Job) -> None:
    assert [alarm.cause for alarm in said(job.name).own.values()] == [job.cause]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_warns_of_nothing(name: str) -> None:
    found = said(name)
    assert dict(found.warnings) == {}
    assert found.headline in ("learning", "learning_slowly")


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_really_learned(name: str) -> None:
    held_out = RUNS[name]["held_out"]
    assert held_out["after"] > held_out["before"] + 0.1


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_run_is_never_called_learning_without_a_word(name: str) -> None:
    found = said(name)
    assert found.headline not in ("learning", "learning_slowly") or found.alarms


def test_every_run_of_the_plan_is_there_once_and_nothing_else() -> None:
    wanted = {job.name: job for job in jobs(plan())}
    assert set(RUNS) == set(wanted)
    assert {path.name.removesuffix(".jsonl.gz") for path in FOLDER.glob("*.jsonl.gz")} == set(wanted)
    for name, job in wanted.items():
        assert RUNS[name]["expect"] == list(job.expect)
        assert RUNS[name]["seed"] == job.seed
        assert RUNS[name]["split"] == ("fit" if job.fit else "report")


def test_the_runs_are_those_of_the_plan() -> None:
    """The settings in a file are what the plan says, so that a plan that is changed asks for a new recording."""
    for job in jobs(plan()):
        config: dict[str, Any] = peek(FOLDER / f"{job.name}.jsonl.gz")["run"]["config"]
        given = {name: config[name] for name in job.values if name != "dataset_args"}
        assert json.loads(json.dumps(given)) == {k: v for k, v in job.values.items() if k != "dataset_args"}


def test_rows_without_a_ground_truth_are_as_many_as_planned(tmp_path: Path) -> None:
    job = next(job for job in jobs(plan()) if job.kind == "no_gold")
    rows = [json.loads(line) for line in _rows_file(job, tmp_path).read_text(encoding="utf-8").splitlines()]
    assert len(rows) == job.rows["parts"][0]["rows"]  # type: ignore[index]
    assert 5 * sum(row["ground_truth"] is None for row in rows) == len(rows)


def test_a_trace_names_no_machine(tmp_path: Path) -> None:
    for job in jobs(plan()):
        path = FOLDER / f"{job.name}.jsonl.gz"
        if job.rows:
            assert peek(path)["run"]["config"]["dataset"] == f"{HOME}/{job.name}.jsonl"
        assert path.stat().st_size == RUNS[job.name]["bytes"]
        assert str(PROJECT).encode() not in gzip.decompress(path.read_bytes())
    here = tmp_path / "run.jsonl.gz"
    with gzip.open(here, "wb") as packed:
        packed.write(f'{{"dataset": "{tmp_path}/rows.jsonl", "at": "{PROJECT}/app.py"}}\n'.encode())
    assert anywhere(here, tmp_path) == here.stat().st_size
    assert (
        gzip.decompress(here.read_bytes()).decode()
        == f'{{"dataset": "{HOME}/rows.jsonl", "at": "/tmp/studio/app.py"}}\n'
    )


def test_the_files_stay_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 4_500_000


@pytest.mark.parametrize("name", [name for name in PLANTED if RUNS[name]["kind"] == "one_prompt"])
def test_one_prompt_a_step_is_said_to_be_few_and_nothing_else(name: str) -> None:
    """Dead shares of 1, 0, 1, 0 at the start are what one group a step looks like, and no alarm."""
    shares = curve(name, "signal/zero_std")
    assert set(shares) == {0.0, 1.0}
    assert 1.0 in shares[:8]
    assert set(said(name).alarms) == {"C2"}


def test_the_healthy_runs_hold_what_must_not_raise_an_alarm() -> None:
    """That they are silent counts for something only if it is in them."""
    gradients = curve("healthy-quickstart", "grad_norm")
    assert max(abs(loss) for loss in curve("healthy-quickstart", "loss")) < 0.02 < statistics.median(gradients)
    assert set(curve("healthy-quickstart", "clip_ratio/region_mean")) == {0.0}
    assert curve("healthy-quickstart", "kl") == []
    assert curve("healthy-loss_grpo", "kl") != []
    falls = curve("healthy-entropy_falls", "entropy")
    assert statistics.mean(falls[-5:]) < 0.9 * statistics.mean(falls[:5])
    rises = curve("healthy-entropy_falls", "reward")
    assert statistics.mean(rises[-10:]) > 1.1 * statistics.mean(rises[:10])
    norms = curve("healthy-batch_32", "grad_norm")
    assert sum(norm > 5 * statistics.median(norms) for norm in norms) >= 3


def test_a_rule_that_calls_itself_calibrated_was_measured() -> None:
    fired = Counter(rule for name in PLANTED for rule in said(name).alarms)
    found = Counter(rule for name in PLANTED for rule in said(name).own)
    warned = {rule for name in HEALTHY for rule in said(name).warnings}
    calibrated = {rule.id for rule in find_rules() if rule.calibrated}
    assert {rule for rule in calibrated if fired[rule] < 3} == set()
    assert {rule for rule, runs in found.items() if runs >= 3} <= calibrated
    assert calibrated & warned == set()


def test_the_document_tells_these_figures() -> None:
    """`python -m bench.calibrate table` prints them anew; docs/diagnosis.md must not lag behind."""
    document = (PROJECT / "docs" / "diagnosis.md").read_text(encoding="utf-8")
    totals = []
    for split in ("report", "fit"):
        mine = [said(name) for name in PLANTED if RUNS[name]["split"] == split]
        totals.append(f"{sum(bool(one.own) for one in mine)} of {len(mine)}")
    assert f"Found by their own rule, all kinds: {totals[0]} ({totals[1]})." in document
    warnings = sum(len(said(name).warnings) for name in HEALTHY)
    assert f"Warnings over all healthy runs: {warnings}." in document
    for name in HEALTHY:
        assert f"| {name.removeprefix('healthy-')} | {RUNS[name]['steps']} |" in document
