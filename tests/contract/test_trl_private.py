"""The private names of TRL and transformers that backend/workers/recorder.py stands on, as the pinned versions have
them. When one of these fails after an upgrade, read the method again before changing the test."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import transformers
import trl
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.utils import RepeatSampler

from backend.workers import capture
from tests.worker_runs import Home, LetterReward

PINNED = {"trl": "1.16.0", "transformers": "5.23.0"}


def source(method: Any) -> str:
    return inspect.getsource(method)


def test_versions_are_the_ones_that_were_read() -> None:
    assert {"trl": trl.__version__, "transformers": transformers.__version__} == PINNED


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("_generate", ["self", "prompts"]),
        ("_calculate_rewards", ["self", "inputs", "prompts", "completions", "completion_ids_list"]),
        ("_generate_and_score_completions", ["self", "inputs"]),
        ("_get_train_sampler", ["self", "dataset"]),
        ("_save_checkpoint", ["self", "model", "trial"]),
        ("_load_optimizer_and_scheduler", ["self", "checkpoint"]),
        ("_determine_best_metric", ["self", "metrics", "trial"]),
        ("_load_from_checkpoint", ["self", "resume_from_checkpoint", "model"]),
        ("set_initial_training_values", ["self", "args", "dataloader"]),
    ],
)
def test_signatures(name: str, parameters: list[str]) -> None:
    assert list(inspect.signature(getattr(GRPOTrainer, name)).parameters) == parameters


def test_sampler_is_built_from_the_attributes_we_copy() -> None:
    sampler = RepeatSampler(range(4), mini_repeat_count=2, batch_size=2, repeat_count=3, shuffle=True, seed=1)
    assert (sampler.mini_repeat_count, sampler.batch_size, sampler.repeat_count) == (2, 2, 3)
    assert (sampler.shuffle, sampler.seed) == (True, 1)
    assert hasattr(sampler, "generator")
    assert not hasattr(sampler, "set_epoch"), "TRL mends the order itself now: EpochRepeatSampler may go"


def test_generation_is_scored_once_and_gives_advantages() -> None:
    text = source(GRPOTrainer._generate_and_score_completions)
    assert text.count("self._calculate_rewards(") == 1
    assert text.count("self._generate(") == 1
    assert '"advantages": advantages' in text


def test_the_counter_and_buffer_that_checkpoints_add() -> None:
    text = source(GRPOTrainer._prepare_inputs)
    assert "self._step % generate_every == 0 or self._buffered_inputs is None" in text
    assert "self._buffered_inputs[self._step % self.args.steps_per_generation]" in text


def test_the_reference_that_moves_is_the_trainers_own() -> None:
    text = source(GRPOTrainer.__init__)
    assert "SyncRefModelCallback(ref_model=self.ref_model" in text


def test_trl_still_asks_for_the_deprecated_name() -> None:
    from trl.models import utils

    text = source(utils.disable_gradient_checkpointing)
    assert "model.is_gradient_checkpointing" in text, "the filter in quiet_libraries may go"


def test_what_a_run_records_matches_what_trl_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The capture's order of rows, groups and advantages, against TRL's own aggregates of the same steps."""
    monkeypatch.setattr("backend.workers.rewards.custom.of_run", lambda *given: LetterReward())
    home = Home(tmp_path)
    run_id = home.create(
        max_steps=2, rewards=["accuracy"], eval_strategy="steps", eval_steps=1, per_device_eval_batch_size=4,
        num_generations_eval=2, eval_size=4, gradient_accumulation_steps=2, steps_per_generation=2,
    )  # fmt: skip
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    stored = list(home.reader.completions(run_id))
    for step in (1, 2):
        groups = [g for g in stored if g.phase == "train" and g.step == step]
        assert len(groups) == 4
        assert all(len(g.completions) == 4 for g in groups)
        flat = [c for g in groups for c in g.completions]
        row = dict(home.reader.table(run_id, "train"))[step]
        assert sum(c.total or 0 for c in flat) / len(flat) == pytest.approx(row["reward"], abs=1e-5)
        assert sum(c.tokens for c in flat) / len(flat) == pytest.approx(row["completions/mean_length"])
        assert sum(c.truncated for c in flat) / len(flat) == pytest.approx(row["completions/clipped_ratio"])
        for group in groups:
            totals = [c.total or 0 for c in group.completions]
            mean = sum(totals) / len(totals)
            for completion, total in zip(group.completions, totals, strict=True):
                assert (completion.advantage or 0) * (total - mean) >= -1e-9, "advantage of another completion"
            assert sum(c.advantage or 0 for c in group.completions) == pytest.approx(0, abs=1e-4)
        evals = [g for g in stored if g.phase == "eval" and g.step == step]
        assert len(evals) == 4
        assert all(len(g.completions) == 2 for g in evals)
        eval_row = dict(home.reader.table(run_id, "eval"))[step]
        total = sum(c.total or 0 for g in evals for c in g.completions) / 8
        assert total == pytest.approx(eval_row["eval_reward"], abs=1e-5)
    assert {g.prompt_id for g in stored if g.phase == "train"}.isdisjoint(
        {g.prompt_id for g in stored if g.phase == "eval"}
    )
    assert all(g.ground_truth for g in stored)
    assert capture.PROMPT_ID == "prompt_id"
