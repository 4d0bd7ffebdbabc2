"""TRL's GRPOTrainer with our eyes on it. Every private name of TRL that this project uses is in this file.

Pinned by tests/contract/test_trl_private.py: `_generate`, `_calculate_rewards`, `_generate_and_score_completions`,
`_get_train_sampler`, `_save_checkpoint`, `_load_optimizer_and_scheduler`, `_load_from_checkpoint`, `_step`,
`_buffered_inputs`, `_tokenizer`, `_determine_best_metric`.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.sft_trainer import SFTTrainer
from trl.trainer.utils import RepeatSampler

from backend.rewards.verdict import Verdict
from backend.signal_share import Extremes
from backend.workers import carried, checkpoints, shuffle
from backend.workers.capture import StepCapture, generation_record
from backend.workers.sampler import EpochRepeatSampler
from backend.workers.stop import PATIENCE_S, Stop, StopHere
from storage.records import Generation


class CompleteCheckpoints:
    """For a Trainer: a checkpoint counts only with its manifest, written last; older ones go after that.

    `manifest_facts()` is stored in the manifest; `keep` newest checkpoints stay (None: all), and the best one.
    """

    args: Any
    state: Any
    manifest_facts: Callable[[], dict[str, Any]]
    keep: int | None

    def _folder(self) -> Path:
        return Path(str(self.args.output_dir)) / f"checkpoint-{self.state.global_step}"

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        folder = self._folder()
        checkpoints.forget_manifest(folder)
        super()._save_checkpoint(model, trial)  # pyright: ignore[reportAttributeAccessIssue]
        self._save_more(folder)
        checkpoints.write_manifest(folder, step=self.state.global_step, **self.manifest_facts())
        best = self.state.best_model_checkpoint
        checkpoints.rotate(folder.parent, self.keep, Path(best) if best else None)

    def _save_more(self, folder: Path) -> None:
        """What a subclass keeps beside transformers' files."""


class RecordedSFTTrainer(CompleteCheckpoints, SFTTrainer):
    """SFTTrainer with checkpoints that are known to be whole."""

    def __init__(self, *args: Any, manifest_facts: Callable[[], dict[str, Any]], **kwargs: Any) -> None:
        self.manifest_facts, self.keep = manifest_facts, 1
        super().__init__(*args, **kwargs)


class RecordedGRPOTrainer(CompleteCheckpoints, GRPOTrainer):
    """GRPOTrainer that hands on each generation and saves checkpoints that resume at any step, bit for bit.

    `on_generation(record)` is called on the training thread with finished records; `extremes` as in signal_share.
    `verdicts()` gives those of each reward function's last call.
    `phase_of(name)` is told what begins ("generation", "reward", "update"), for the words of a failure.
    `tell(kind, message, level, data)` records an event. With `shuffle_rewards` the trainer learns from scores that have
    changed places inside each group; what is recorded are the true ones, and the advantages that it took.
    """

    model: Any
    num_generations: Any
    num_generations_eval: Any
    ref_model: Any
    eos_token_ids: Any

    def __init__(
        self,
        *args: Any,
        on_generation: Callable[[Generation], None],
        verdicts: Callable[[], list[list[Verdict]]],
        extremes: Extremes,
        stop: Stop,
        phase_of: Callable[[str], None],
        tell: Callable[[str, str, Any, dict[str, Any]], None],
        manifest_facts: Callable[[], dict[str, Any]],
        keep: int | None,
        shuffle_rewards: bool = False,
        **kwargs: Any,
    ) -> None:
        self._on_generation = on_generation
        self._shuffle_rewards = shuffle_rewards
        self._take_verdicts = verdicts
        self._stop = stop
        self._phase_of = phase_of
        self._tell = tell
        self._reference_moves = False
        self.manifest_facts, self.keep = manifest_facts, keep
        self._scored: tuple[Any, Any, Any, torch.Tensor] | None = None
        self._at_step_begin: tuple[int, Any, dict[str, torch.Tensor]] | None = None
        self._longest_generation_s = 0.0
        self.extremes = extremes
        self.capture = StepCapture(extremes)
        super().__init__(*args, **kwargs)
        self._reference_moves = self.ref_model is not None and bool(self.args.sync_ref_model)
        final_ids: Any = (*self.eos_token_ids, self._tokenizer.pad_token_id)
        self._final_ids: frozenset[int] = frozenset(final_ids)
        self._weights = self.reward_weights.tolist()
        self._guard_generation()

    # -- what is recorded ----------------------------------------------------------------------------------------

    def _guard_generation(self) -> None:
        """Let a stop leave a long generation at the next token; one comparison a forward pass otherwise."""
        self._generating_since: float | None = None

        def leave(*_: Any) -> None:
            since = self._generating_since
            if since is not None and self._stop.requested:
                expected = max(self._longest_generation_s, time.perf_counter() - since)
                if expected > PATIENCE_S:
                    raise StopHere

        # Generation calls the model below an adapter's wrapper, never the wrapper itself.
        base = self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model
        base.register_forward_pre_hook(leave)

    def _generate(self, prompts: list[Any]) -> Any:
        self._phase_of("generation")
        begin = self._generating_since = time.perf_counter()
        try:
            return super()._generate(prompts)
        finally:
            self._generating_since = None
            took = time.perf_counter() - begin
            self._longest_generation_s = max(self._longest_generation_s, took)
            if self.model.training:
                self.capture.generate_s += took

    def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Any) -> torch.Tensor:
        self._phase_of("reward")
        begin = time.perf_counter()
        rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        if self.model.training:
            self.capture.reward_s += time.perf_counter() - begin
        self._scored = (inputs, completions, completion_ids_list, rewards)
        self._phase_of("update" if self.model.training else "evaluation")
        if self._shuffle_rewards and self.model.training:
            # _step tells the generations of one optimizer step apart, and is the same after a resume.
            key = (int(self.args.seed), int(self.state.global_step), int(self._step))
            return shuffle.shuffled(rewards, self.num_generations, key)
        return rewards

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)
        assert self._scored is not None  # super() has just called _calculate_rewards
        rows, completions, ids, rewards = self._scored
        self._scored = None
        training = self.model.training
        first = self.accelerator.process_index * len(completions)
        record = generation_record(
            step=self.state.global_step + 1 if training else self.state.global_step,
            phase="train" if training else "eval",
            group_size=self.num_generations if training else self.num_generations_eval,
            reward_names=tuple(self.reward_func_names),
            weights=self._weights,
            rows=rows,
            completions=completions,
            completion_ids=ids,
            final_ids=self._final_ids,
            scores=rewards[first : first + len(completions)].tolist(),
            advantages=output["advantages"].tolist(),
            verdicts=self._take_verdicts(),
            extremes=self.extremes,
        )
        if training:
            self.capture.add(record)
        self._on_generation(record)
        return output

    # -- the probe -----------------------------------------------------------------------------------------------

    def sample(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Sample and score a group for each row as a training step would; the batch that an update would get."""
        return self._generate_and_score_completions(
            [copy.deepcopy(row) for row in rows for _ in range(self.num_generations)]
        )

    def try_backward(self, batch: dict[str, Any], size: int) -> None:
        """The forward and backward pass of `size` completions of a batch, for its time; gradients are left behind."""
        total = len(batch["advantages"])
        part = {
            name: value[:size] if isinstance(value, torch.Tensor) and value.dim() and len(value) == total else value
            for name, value in batch.items()
        }
        self.current_gradient_accumulation_steps = 1
        with self.compute_loss_context_manager():
            loss = self.compute_loss(self.model, part)
        self.accelerator.backward(loss)

    # -- the order of prompts ------------------------------------------------------------------------------------

    def _get_train_sampler(self, dataset: Any = None) -> EpochRepeatSampler:
        theirs = super()._get_train_sampler(dataset)
        assert isinstance(theirs, RepeatSampler)
        return EpochRepeatSampler(
            data_source=theirs.data_source,
            mini_repeat_count=theirs.mini_repeat_count,
            batch_size=theirs.batch_size,
            repeat_count=theirs.repeat_count,
            shuffle=theirs.shuffle,
            seed=theirs.seed,
        )

    # -- checkpoints ---------------------------------------------------------------------------------------------

    def step_begins(self) -> None:
        """Remember what a checkpoint of the last completed step needs, should this step be left in its middle."""
        self.capture = StepCapture(self.extremes)
        self._at_step_begin = (self._step, self._buffered_inputs, _rng_states())

    def step_ended(self) -> None:
        self._at_step_begin = None

    def save_completed_step(self) -> Path:
        """A checkpoint of the last completed step, also when the next one has begun (its part is dropped)."""
        if self._at_step_begin is not None:
            self._step, self._buffered_inputs, states = self._at_step_begin
            _set_rng_states(states)
            self.model.zero_grad()
        folder = self._folder()
        if checkpoints.problem(folder, hashes=False) is not None:
            self._save_checkpoint(self.model, None)
        return folder

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        self._phase_of("checkpoint")
        super()._save_checkpoint(model, trial)
        self._phase_of("update")

    def _save_more(self, folder: Path) -> None:
        cycle = self.args.steps_per_generation * self.num_iterations
        carried.save(
            folder,
            micro_step=self._step,
            extremes=(self.extremes.low, self.extremes.high),
            shape=carried.shape(self.args),
            buffer=self._buffered_inputs if self._step % cycle else None,
            reference=self._reference() if self._reference_moves else None,
        )

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        found = carried.load(Path(checkpoint)) if checkpoint else None
        if found is None:
            return
        if not self.extremes.known:
            self.extremes.low, self.extremes.high = found.extremes
        if self.ref_model is not None and found.has_reference:
            # Also where the new settings sync no more: the reference stays what it has become.
            self._reference_moves = True
            found.restore_reference(self._reference())
        now = carried.shape(self.args)
        changed = {name: [old, now[name]] for name, old in found.shape.items() if now[name] != old}
        if changed:
            # The next step begins a cycle of the new size, with completions of its own.
            self._step = 0
            self._tell_new_cycle(changed, found.has_buffer)
            return
        self._step = found.micro_step
        if found.has_buffer:
            self._buffered_inputs = found.buffer(self.accelerator.device)

    def _reference(self) -> dict[str, torch.nn.Parameter]:
        """Its parameters by name, each once however many layers share it."""
        return dict(self.accelerator.unwrap_model(self.ref_model).named_parameters())

    def _tell_new_cycle(self, changed: dict[str, list[Any]], dropped: bool) -> None:
        words = ", ".join(f"{name} {old} -> {new}" for name, (old, new) in changed.items())
        kept = "; completions that were generated but not yet used were dropped" if dropped else ""
        self._tell(
            "cycle_restarted",
            f"this attempt has other settings of a generation ({words}), so it begins with a new one{kept}",
            "warn" if dropped else "info",
            {"changed": changed, "dropped": dropped},
        )

    def _determine_best_metric(self, metrics: dict[str, Any], trial: Any) -> bool:
        """An evaluation that no reward could score is no candidate for the best; transformers would end the run."""
        name = str(self.args.metric_for_best_model or "")
        key = name if name.startswith("eval_") else f"eval_{name}"
        if name and key in metrics and (metrics[key] is None or math.isnan(metrics[key])):
            step = self.state.global_step
            self._tell("best_unknown", f"step {step} cannot be the best: {key} has no value", "warn", {"step": step})
            return False
        return super()._determine_best_metric(metrics, trial)

    def planned_steps(self) -> int:
        """Optimizer steps of the whole run, as transformers will count them."""
        return int(self.set_initial_training_values(self.args, self.get_train_dataloader())[-1])

    def load_weights(self, checkpoint: Path) -> None:
        """Only the weights of a checkpoint, for a run whose last step was already done."""
        self._load_from_checkpoint(str(checkpoint))


def _rng_states() -> dict[str, torch.Tensor]:
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def _set_rng_states(states: dict[str, torch.Tensor]) -> None:
    torch.set_rng_state(states["cpu"])
    if "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"])
