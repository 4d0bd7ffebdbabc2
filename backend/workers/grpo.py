"""The stages around GRPOTrainer: evaluation before, training with everything recorded, evaluation after."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from peft import LoraConfig
from transformers import AutoTokenizer, BitsAndBytesConfig
from trl.trainer.grpo_config import GRPOConfig

from backend.workers import checkpoints, fingerprint, trl_adapter
from backend.workers import rows as run_rows
from backend.workers.callbacks import GRPOCallback
from backend.workers.during import During
from backend.workers.evaluate import Judged, evaluate, identical_answers
from backend.workers.job import Job
from backend.workers.memory import MemoryMeter
from backend.workers.recorder import RecordedGRPOTrainer
from backend.workers.rewards import Rewards
from backend.workers.stop import StopHere
from storage.reader import Reader
from storage.records import Evaluation, EvaluationItem, Generation, When
from storage.runs import set_fields

CONTROL = (
    "this run is a control: inside each group the scores are handed out at random, so it can learn nothing from them; "
    "what is recorded with the completions are the true scores, and the advantages that training took"
)


class GRPOStage:
    """One trainer for the three stages, so that what is evaluated is the very model that is trained."""

    def __init__(
        self, job: Job, model: str, train: list[run_rows.Row], held_out: list[run_rows.Row], data: str
    ) -> None:
        self.job, self.model, self.held_out, self.data = job, model, held_out, data
        self.on_record: Callable[[Generation], Generation] = lambda record: record
        config = job.config
        job.enter("load")
        self.template_kwargs = dict(config.chat_template_kwargs or {})
        tokenizer = AutoTokenizer.from_pretrained(
            model,
            revision=trl_adapter.tokenizer_revision(config, model),
            padding_side="left",
            truncation_side="left",
            trust_remote_code=config.trust_remote_code,
        )
        self.rewards = Rewards(job, tokenizer, train)
        set_fields(job.db, job.run.id, reward_names=self.rewards.names)
        folder = checkpoints.checkpoints_dir(job.run_dir)
        kwargs = trl_adapter.grpo_kwargs(config, output_dir=str(folder), device=job.device)
        quantization = trl_adapter.quantization_kwargs(config, job.device)
        callback = GRPOCallback(job, MemoryMeter(job.device.kind))
        self.trainer = RecordedGRPOTrainer(
            model=model,
            reward_funcs=list(self.rewards.checked),
            args=GRPOConfig(**kwargs),
            train_dataset=run_rows.as_dataset(train),
            eval_dataset=run_rows.as_dataset(held_out) if config.eval_strategy != "no" and held_out else None,
            processing_class=tokenizer,
            callbacks=[callback],
            peft_config=LoraConfig(**trl_adapter.lora_kwargs(config)) if trl_adapter.uses_adapter(config) else None,
            quantization_config=BitsAndBytesConfig(**quantization) if quantization else None,
            on_generation=self._generation,
            verdicts=self.rewards.take_verdicts,
            extremes=self.rewards.extremes(),
            stop=job.stop,
            phase_of=job.enter,
            tell=job.writer.event,
            manifest_facts=job.checkpoint_facts,
            keep=config.save_total_limit,
            shuffle_rewards=config.shuffle_rewards,
        )
        callback.trainer = self.trainer
        self.tokenizer = tokenizer
        self._fit_rows(train)
        self.during = callback.during = During(self)

    def _fit_rows(self, train: list[run_rows.Row]) -> None:
        """Leave out prompts that cannot be answered within the model's context, and say how many."""
        config = self.job.config
        context = getattr(self.trainer.model.config.get_text_config(), "max_position_embeddings", None)
        limits = [config.max_prompt_tokens, context - config.max_completion_length if context else None]
        limit = min((n for n in limits if n is not None), default=None)
        given = len(train)
        for name, rows in (("training", train), ("evaluation", self.held_out)):
            counts = run_rows.token_counts(rows, self.tokenizer, self.template_kwargs)
            kept, dropped = run_rows.drop_long(rows, counts, limit)
            too_long = [i for i, count in enumerate(counts) if limit is not None and count > limit]
            run_rows.note_left_out(self.job.run_dir / "data", "train" if rows is train else "eval", too_long)
            if dropped:
                self.job.writer.event(
                    "rows_dropped",
                    f"{dropped} of {len(rows)} {name} rows were left out: their prompts have more than {limit} tokens "
                    f"(max_prompt_tokens {config.max_prompt_tokens or 'not set'}; the model takes {context} with the "
                    f"{config.max_completion_length} of a completion)",
                    "warn",
                    {"dropped": dropped, "rows": len(rows), "limit": limit},
                )
                if rows is train:
                    train = kept
                    self.trainer.train_dataset = run_rows.as_dataset(kept)
                else:
                    self.held_out = kept
                    if self.trainer.eval_dataset is not None:
                        self.trainer.eval_dataset = run_rows.as_dataset(kept) if kept else None
        needed = trl_adapter.generation_batch(config) // config.num_generations
        run_rows.require(train, needed, given - len(train))
        self.train_rows = train

    def _generation(self, generation: Generation) -> None:
        generation = self.on_record(generation)
        self.job.writer.generation(generation)
        self.rewards.tell_failures()
        self.rewards.tell_unscored(generation)

    def evaluate(self, when: When, step: int) -> None:
        """One of the two evaluations, unless an earlier attempt has stored it."""
        job = self.job
        stored = next((e for e in Reader(job.db).evaluations(job.run.id) if (e.when, e.step) == (when, step)), None)
        if stored is not None:
            job.evaluation_s = stored.seconds
            return
        if not self.held_out:
            job.writer.event("evaluation_skipped", "there are no held-out rows to evaluate on", "warn")
            return
        job.begin(f"evaluate_{when}", len(self.held_out))
        summary, items = self.answer(self.held_out, when, step, job.step)
        job.writer.evaluation(summary, items)
        job.evaluation_s = summary.seconds
        if identical_answers(items):
            job.writer.event("identical_answers", f"all {len(items)} answers of this evaluation are the same", "warn")

    def answer(
        self,
        rows: Sequence[run_rows.Row],
        when: When,
        step: int,
        on_batch: Callable[[int], None],
        settings: dict[str, Any] | None = None,
    ) -> tuple[Evaluation, list[EvaluationItem]]:
        """Greedy answers of the weights in memory to `rows`, scored; nothing is stored. StopHere on a stop."""
        job, config = self.job, self.job.config
        with self.trainer.accelerator.autocast():
            summary, items, judged = evaluate(
                self.trainer.accelerator.unwrap_model(self.trainer.model),
                self.tokenizer,
                rows,
                self.rewards.scorers(list(rows[0])),
                when=when,
                step=step,
                dataset=self.data,
                max_new_tokens=config.max_completion_length,
                batch_size=config.evaluate_batch_size,
                eos_ids=self.trainer.eos_token_ids,
                template_kwargs=self.template_kwargs,
                check_stop=job.stop.check,
                on_batch=on_batch,
            )
        self.rewards.tell_failures()
        if when != "during":  # which would tell the same each time
            self._tell_unjudged(judged, when)
        how = {
            "rows": len(rows),
            "greedy": True,
            "max_completion_length": config.max_completion_length,
            "batch_size": config.evaluate_batch_size,
        }
        return dataclasses.replace(summary, settings=summary.settings | how | (settings or {})), items

    def _tell_unjudged(self, judged: Judged, when: When) -> None:
        if judged.correct == judged.rows:
            return
        unknown = judged.rows - judged.correct
        what = (
            f"{unknown} of {judged.rows} answers could not be judged, so accuracy is over the other {judged.correct}"
            if judged.correct
            else f"none of the {judged.rows} answers could be judged correct or wrong, so accuracy is not known"
        )
        self.job.writer.event(
            "evaluation_unjudged",
            f"{what} (their rows have no ground truth that the accuracy reward can read)",
            "warn",
            {"when": when, "rows": judged.rows, "judged": judged.correct},
        )

    def train(self) -> int:
        """Train from the last complete checkpoint, or from the start. Returns the last step. StopHere on a stop."""
        job, trainer = self.job, self.trainer
        last = self._resume_point()
        total = trainer.planned_steps()
        if last is None:
            # What is in memory is what `model` holds, an adapter aside, which is not counted.
            fingerprint.record_base(job.run_dir, trainer.accelerator.unwrap_model(trainer.model), self.model)
        after = job.evaluation_s if job.config.evaluate_after else 0.0
        job.begin("grpo", total, last[1] if last else 0, after)
        self.during.begin(last[1] if last else 0, total)
        if job.diagnosis is not None:
            job.diagnosis.begin(self.rewards.names, total, last[1] if last else 0)
        if job.config.shuffle_rewards:
            job.writer.event("control", CONTROL, "warn", {"control_of": job.config.control_of})
        if last and last[1] >= total:
            trainer.load_weights(last[0])
            self.during.after_step(last[1])
            return last[1]
        try:
            trainer.train(resume_from_checkpoint=str(last[0]) if last else None)
        except StopHere:
            if trainer.state.global_step:
                trainer.save_completed_step()
            raise
        if trainer.state.global_step < total:
            job.stop.check()
        return trainer.state.global_step

    def _resume_point(self) -> tuple[Path, int] | None:
        job = self.job
        folder = checkpoints.checkpoints_dir(job.run_dir)
        if job.run.attempt == 1:
            return None
        for step, path in reversed(checkpoints.numbered(folder)):
            why = "it is beyond the step to resume from" if step > job.resume_step else checkpoints.problem(path)
            if why is None:
                checkpoints.drop_after(folder, step)
                return path, step
            job.writer.event("checkpoint_left_out", f"checkpoint {step} was not used: {why}", "warn")
        checkpoints.drop_after(folder, -1)
        return None

    def save(self, step: int) -> Path:
        """The model or adapter as `step` left it, with its tokenizer, in final/."""
        self.job.enter("checkpoint")
        final = self.job.run_dir / "final"
        checkpoints.forget_manifest(final)
        self.write_weights(final)
        checkpoints.write_manifest(final, step=step, run=self.job.run.id)
        return final

    def write_weights(self, folder: Path) -> None:
        """The model or adapter in memory, with its tokenizer."""
        self.trainer.save_model(str(folder))

    def conclude(self, step: int, final: Path) -> None:
        """After the last step, saved in `final`: whether the best weights on the way are better than these."""
        self.during.conclude(step, final)
