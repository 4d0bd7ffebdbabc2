"""A custom reward in a real run: the worker, TRL, the records, and the version that was pinned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.custom import Library, pin
from tests.custom_support import LEVELS, NO_SANDBOX
from tests.worker_runs import Home

SOURCE = """
calls = 0

def letters(completions, ground_truth, trainer_state, log_extra, log_metric, bonus=0.0, **kwargs):
    global calls
    calls += 1
    assert len(ground_truth) == len(completions) == len(kwargs["completion_ids"]) == len(kwargs["prompts"])
    texts = [c if isinstance(c, str) else c[0]["content"] for c in completions]
    log_extra("extracted", [t[:1] for t in texts])
    log_metric("letters/step", trainer_state.global_step)
    print("step", trainer_state.global_step, "of", trainer_state.max_steps)
    scores = [sum(ch in "aeiou0123" for ch in t) / 8 + bonus for t in texts]
    if calls == 2:
        raise ValueError("the second call")
    return scores
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("level", LEVELS)
def test_a_run_with_a_custom_reward(home: Home, level: str) -> None:
    if level == "sandboxed" and NO_SANDBOX:
        pytest.skip("no sandbox on this machine")
    name = f"letters_{level}"
    library = Library(home.settings.home)
    first = library.save(name, SOURCE, level, confirmed=True)  # pyright: ignore[reportArgumentType]
    run_id = home.create(
        rewards=["accuracy", name], reward_versions={name: 1}, reward_args={name: {"bonus": 0.25}}, max_steps=3
    )
    assert pin(home.settings.home, home.dir(run_id), ["accuracy", name], {name: 1}) == {name: 1}
    library.save(name, SOURCE.replace("/ 8", "/ 0"))
    library.delete(name)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    run = home.run(run_id)
    assert (run.last_step, run.reward_names) == (3, ("accuracy", name))
    assert home.values(run_id, "train", "letters/step") == {1: 0.0, 2: 1.0, 3: 2.0}
    means = home.values(run_id, "train", f"rewards/{name}/mean")
    assert sorted(means) == [1, 2, 3]
    assert all(0.25 <= mean <= 1.25 for mean in means.values())
    # The second call raised: each completion was scored alone, and none is missing.
    completions = [c for group in home.reader.completions(run_id) for c in group.completions]
    assert len(completions) == 24
    assert all(c.rewards[1] is not None and c.rewards[1] >= 0.25 for c in completions)
    kept = home.dir(run_id) / "rewards" / name
    assert (kept / "1.py").read_text(encoding="utf-8") == SOURCE
    assert json.loads((kept / "1.json").read_text())["sha256"] == first.sha256
    assert "step 2 of 3" in (kept / "prints.log").read_text()
    (told,) = [e for e in home.reader.events(run_id) if e.kind == "reward_prints"]
    assert (told.level, "prints.log" in told.message) == ("info", True)


def test_a_reward_that_breaks_the_contract_ends_the_run_in_words(home: Home) -> None:
    if NO_SANDBOX:
        pytest.skip("no sandbox on this machine")
    source = "def broken(completions, **kwargs):\n    return ['good'] * len(completions)\n"
    Library(home.settings.home).save("broken", source)
    run_id = home.create(rewards=["broken"], reward_versions={"broken": 1})
    assert home.train_here(run_id) == 1
    reason = str(home.run(run_id).reason)
    assert "'broken'" in reason
    assert "'good'" in reason
    assert "row 0" in reason


def test_missing_and_slow_are_told_as_events(home: Home, tmp_path: Path) -> None:
    if NO_SANDBOX:
        pytest.skip("no sandbox on this machine")
    source = """
import time
calls = 0
def partly(completions, **kwargs):
    global calls
    calls += 1
    if calls == 3:
        raise ValueError("a bad row")
    time.sleep(0.7)
    if calls == 1:
        raise ValueError("the whole batch")
    return [1.0] * len(completions)
"""
    Library(home.settings.home).save("partly", source, settings={"limit_s": 1.0})
    run_id = home.create(rewards=["partly"], reward_versions={"partly": 1}, max_steps=1)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    events = home.reader.events(run_id)
    (failed,) = [e for e in events if e.kind == "reward_error"]
    assert (failed.data["row"], "a bad row" in failed.data["traceback"]) == (1, True)
    (slow,) = [e for e in events if e.kind == "reward_slow"]
    assert "slow" in slow.message
    (group, other) = home.reader.completions(run_id)
    scores = [c.rewards[0] for c in (*group.completions, *other.completions)]
    assert scores == [1.0, None, *[1.0] * 6]


FORGING = """
import itertools
fresh = itertools.count()

def forging(completions, log_metric, log_extra, **kwargs):
    for name in ("reward", "loss", "grad_norm", "learning_rate", "completions/mean_length", "rewards/forging/mean",
                 "eval_reward", "frac_reward_zero_std"):
        log_metric(name, 1e9)
    for _ in range(20_000):
        log_metric(f"m{next(fresh)}", 1.0)
    log_extra("prompt", ["forged"] * len(completions))
    return [float(len(completions) > n > 2) for n in range(len(completions))]
"""


@pytest.mark.parametrize("level", LEVELS)
def test_a_reward_cannot_write_the_trainers_figures_nor_fill_the_database(home: Home, level: str) -> None:
    if level == "sandboxed" and NO_SANDBOX:
        pytest.skip("no sandbox on this machine")
    name = f"forging_{level}"
    Library(home.settings.home).save(name, FORGING, level, confirmed=True)  # pyright: ignore[reportArgumentType]
    run_id = home.create(rewards=[name], reward_versions={name: 1}, max_steps=2, evaluate_after=True)
    pin(home.settings.home, home.dir(run_id), [name], {name: 1})
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    _, curves = home.reader.history(run_id)
    names = {each for phase, each in curves if phase == "train"}
    assert len([each for each in names if each.startswith(("m", "custom/"))]) <= 64 + 10
    for own in ("reward", "loss", "grad_norm", "learning_rate", "completions/mean_length", "frac_reward_zero_std"):
        assert all(abs(value) < 1e6 for value in home.values(run_id, "train", own).values()), own
        assert home.values(run_id, "train", f"custom/{name}/{own}") == {1: 1e9, 2: 1e9}
    kinds = [event.kind for event in home.reader.events(run_id)]
    assert (kinds.count("reward_renamed"), kinds.count("reward_names_left_out")) == (1, 1)
    assert [each.when for each in home.reader.evaluations(run_id)] == ["after"]
