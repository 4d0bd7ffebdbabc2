"""A run that is stopped and resumed is the run that was never stopped: same prompts, same numbers, each step once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from backend.workers import checkpoints
from backend.workers.job import Job
from backend.workers.recorder import RecordedGRPOTrainer
from backend.workers.stop import Stop
from storage.records import RunState
from storage.runs import begin_attempt
from tests.worker_runs import Home, LetterReward


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("resume"))


@pytest.fixture(autouse=True)
def letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.workers.rewards.custom.of_run", lambda *given: LetterReward())


@pytest.fixture
def stop_at(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Ask for a stop when a stage has done a given step, as a signal in that step would."""
    wanted: dict[str, int] = {}
    original = Job.step

    def step(self: Job, done: int) -> None:
        original(self, done)
        if wanted.get(self.stage) == done:
            wanted.clear()
            self.stop.ask()

    monkeypatch.setattr(Job, "step", step)
    return wanted


# 3 prompts of 7 a step: 2 steps an epoch (the seventh row is left over), so 7 steps reach into the fourth epoch.
EPOCHS = {"max_steps": 7, "per_device_train_batch_size": 12, "rewards": ["accuracy"], "save_strategy": "no"}


def rows(home: Home, run_id: str, count: int) -> None:
    """Give the run a snapshot of few rows, so that it has epochs."""
    from backend.workers import rows as run_rows

    def load() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        return [{"prompt": f"{i}+{i}=", "ground_truth": str(2 * i)} for i in range(count)], []

    run_rows.snapshot(home.dir(run_id) / "data", load)


@pytest.mark.parametrize(
    ("stop_step", "extra"),
    [
        (5, {}),  # inside epoch 2
        (4, {}),  # at the end of epoch 1
        (5, {"steps_per_generation": 4, "gradient_accumulation_steps": 1, "per_device_train_batch_size": 3}),
        (3, {"gradient_accumulation_steps": 2, "per_device_train_batch_size": 6, "num_iterations": 3}),
        (5, {"peft": "lora", "lora_r": 4, "beta": 0.02}),
        (5, {"beta": 0.2, "sync_ref_model": True, "ref_model_sync_steps": 2, "ref_model_mixup_alpha": 0.6}),
    ],
    ids=["inside an epoch", "between epochs", "inside a cycle", "reused completions", "adapter", "moving reference"],
)
def test_a_resumed_run_repeats_the_uninterrupted_one(
    home: Home, stop_at: dict[str, int], stop_step: int, extra: dict[str, Any]
) -> None:
    config = EPOCHS | extra
    whole = home.create(**config)
    rows(home, whole, 7)
    assert home.train_here(whole) == 0

    broken = home.create(**config)
    rows(home, broken, 7)
    stop_at["grpo"] = stop_step
    assert home.train_here(broken) == 0
    assert home.run(broken).state is RunState.STOPPED
    found = checkpoints.last_complete(home.dir(broken))
    assert found is not None
    assert found[1] == stop_step
    home.resume(broken, stop_step)
    assert home.train_here(broken, Stop()) == 0

    assert home.run(broken).state is RunState.SUCCEEDED
    assert home.prompts(broken) == home.prompts(whole)
    losses = home.values(whole, "train", "loss")
    assert list(losses) == [1, 2, 3, 4, 5, 6, 7]
    assert any(home.values(whole, "train", "grad_norm").values()), "nothing was learned: the test would prove nothing"
    if config.get("sync_ref_model"):
        assert home.values(broken, "train", "kl") == home.values(whole, "train", "kl")
    for name in ("loss", "grad_norm", "entropy", "reward", "learning_rate"):
        assert home.values(broken, "train", name) == home.values(whole, "train", name), name
    first, second = (checkpoints.read_manifest(home.dir(r) / "final") for r in (whole, broken))
    assert first
    assert second
    weights = [n for n in first["files"] if n.endswith(".safetensors")]
    assert weights
    assert all(first["files"][n] == second["files"][n] for n in weights)


INSIDE = {
    "max_steps": 8, "steps_per_generation": 4, "gradient_accumulation_steps": 1, "per_device_train_batch_size": 4,
    "rewards": ["accuracy"], "save_strategy": "no",
}  # fmt: skip


@pytest.mark.parametrize(
    ("stop_step", "changes", "sampled", "dropped"),
    [
        (2, {"per_device_train_batch_size": 8, "steps_per_generation": 2}, [1, 3, 5, 7], True),
        (3, {"steps_per_generation": 3}, [1, 4, 7], True),
        (5, {"num_generations": 8}, [1, 5, 6], True),
        (4, {"steps_per_generation": 3}, [1, 5, 8], False),
        (2, {"beta": 0.1}, [1, 3, 7], True),
        (2, {"learning_rate": 1e-4}, [1, 5], None),
    ],
    ids=["batch", "steps", "group", "at the end of a cycle", "a reference", "another setting"],
)
def test_other_settings_of_a_generation_begin_a_new_cycle(
    home: Home, stop_at: dict[str, int], stop_step: int, changes: dict[str, Any], sampled: list[int],
    dropped: bool | None,
) -> None:  # fmt: skip
    run_id = home.create(**INSIDE)
    stop_at["grpo"] = stop_step
    assert home.train_here(run_id) == 0
    config = home.run(run_id).config | changes
    begin_attempt(home.db, run_id, stop_step, {k: [None, v] for k, v in changes.items()}, config)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    assert list(home.values(run_id, "train", "loss")) == list(range(1, 9))
    groups = [g for g in home.reader.completions(run_id) if g.phase == "train"]
    assert sorted({g.step for g in groups}) == sampled
    later = [g for g in groups if g.step > stop_step]
    assert {len(g.completions) for g in later} == {changes.get("num_generations", 4)}
    told = [e.data["dropped"] for e in home.reader.events(run_id) if e.kind == "cycle_restarted"]
    assert told == ([] if dropped is None else [dropped])


def test_a_stop_inside_a_generation_loses_nothing_but_that_step(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = home.create(**EPOCHS)
    rows(home, whole, 7)
    assert home.train_here(whole) == 0

    stop = Stop()
    calls: list[int] = []
    generate = RecordedGRPOTrainer._generate_single_turn

    def interrupted(self: RecordedGRPOTrainer, *args: Any, **kwargs: Any) -> Any:
        calls.append(self.state.global_step)
        if len(calls) == 6:
            torch.rand(17)  # some of this generation's random numbers are already drawn
            stop.ask()
        return generate(self, *args, **kwargs)

    monkeypatch.setattr(RecordedGRPOTrainer, "_generate_single_turn", interrupted)
    monkeypatch.setattr("backend.workers.recorder.PATIENCE_S", 0.0)
    broken = home.create(**EPOCHS)
    rows(home, broken, 7)
    assert home.train_here(broken, stop) == 0
    assert home.run(broken).state is RunState.STOPPED
    found = checkpoints.last_complete(home.dir(broken))
    assert found is not None
    assert found[1] == 5
    home.resume(broken, 5)
    assert home.train_here(broken) == 0
    assert home.prompts(broken) == home.prompts(whole)
    for name in ("loss", "grad_norm", "entropy", "reward"):
        assert home.values(broken, "train", name) == home.values(whole, "train", name), name


def test_a_stop_in_an_evaluation_during_training(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Stop()
    evaluating = {
        "eval_strategy": "steps", "eval_steps": 2, "per_device_eval_batch_size": 4, "eval_size": 4, "max_steps": 4,
        "rewards": ["accuracy"], "save_strategy": "no",
    }  # fmt: skip
    score = RecordedGRPOTrainer._calculate_rewards

    def asked(self: RecordedGRPOTrainer, *args: Any) -> Any:
        if not self.model.training:
            stop.ask()
        return score(self, *args)

    run_id = home.create(**evaluating)
    with monkeypatch.context() as patch:
        patch.setattr(RecordedGRPOTrainer, "_calculate_rewards", asked)
        assert home.train_here(run_id, stop) == 0
    assert home.run(run_id).reason is None
    found = checkpoints.last_complete(home.dir(run_id))
    assert found is not None
    assert found[1] == 2
    home.resume(run_id, 2)
    assert home.train_here(run_id) == 0
    assert list(home.values(run_id, "train", "loss")) == [1, 2, 3, 4]
    assert home.values(run_id, "eval", "eval_reward").keys() == {4}


def test_epochs_differ_and_epoch_0_is_trls_order(home: Home) -> None:
    from trl.trainer.utils import RepeatSampler

    from backend.workers.sampler import EpochRepeatSampler

    shape: dict[str, Any] = {"data_source": range(20), "mini_repeat_count": 2, "batch_size": 4, "seed": 3}
    ours = EpochRepeatSampler(**shape)
    first = list(ours)
    assert first == list(RepeatSampler(**shape))
    ours.set_epoch(1)
    second = list(ours)
    assert second != first
    resumed = EpochRepeatSampler(**shape)
    resumed.set_epoch(1)
    assert list(resumed) == second


def test_a_checkpoint_that_was_cut_off_is_not_used(home: Home, stop_at: dict[str, int]) -> None:
    run_id = home.create(max_steps=4, save_steps=1, rewards=["accuracy"])
    stop_at["grpo"] = 3
    assert home.train_here(run_id) == 0
    folder = checkpoints.checkpoints_dir(home.dir(run_id))
    assert [n for n, _ in checkpoints.numbered(folder)] == [1, 2, 3]
    checkpoints.forget_manifest(folder / "checkpoint-3")
    found = checkpoints.last_complete(home.dir(run_id))
    assert found is not None
    assert found[1] == 2
    home.resume(run_id, 2)
    assert home.train_here(run_id) == 0
    assert list(home.values(run_id, "train", "loss")) == [1, 2, 3, 4]
    events = home.reader.events(run_id)
    assert any(e.kind == "checkpoint_left_out" and "checkpoint 3" in e.message for e in events)


def test_a_run_whose_steps_were_all_done_only_finishes(home: Home) -> None:
    run_id = home.create(max_steps=2, rewards=["accuracy"])
    assert home.train_here(run_id) == 0
    before = (home.dir(run_id) / "final" / "model.safetensors").read_bytes()
    home.resume(run_id, 2)
    assert home.train_here(run_id) == 0
    assert list(home.values(run_id, "train", "loss")) == [1, 2]
    assert (home.dir(run_id) / "final" / "model.safetensors").read_bytes() == before


def test_the_snapshot_outlives_a_change_of_the_data(home: Home, tmp_path: Path, stop_at: dict[str, int]) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(f'{{"prompt": "say {i}", "ground_truth": "{i}"}}\n' for i in range(8)))
    run_id = home.create(dataset=str(file), eval_size=2, max_steps=2, save_steps=1, rewards=["accuracy"])
    stop_at["grpo"] = 1
    assert home.train_here(run_id) == 0
    file.write_text("not JSON any more")
    home.resume(run_id, 1)
    assert home.train_here(run_id) == 0
    assert home.run(run_id).state is RunState.SUCCEEDED
