"""The supervised warm-up. Its result is saved and handed on by path: TRL reloads a reference model from a path."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from trl.trainer.sft_config import SFTConfig

from backend.errors import StudioError
from backend.text import Text
from backend.workers import checkpoints, trl_adapter
from backend.workers import rows as run_rows
from backend.workers.callbacks import StageCallback
from backend.workers.job import Job
from backend.workers.memory import MemoryMeter
from backend.workers.recorder import RecordedSFTTrainer
from backend.workers.stop import StopHere


def free_memory() -> None:
    """Give back what a finished trainer held; call it after the last reference is gone."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def warm_up(job: Job, model: str, held_out: Sequence[dict[str, Any]] = ()) -> str:
    """Train on worked examples and return the folder of the resulting model. Done only once in a run's life.

    `held_out`: the run's evaluation rows; what they ask is not practised here either.

    A stop saves a checkpoint of the warm-up; a later attempt goes on from it when its row says so.
    """
    target = checkpoints.sft_dir(job.run_dir)
    if checkpoints.read_manifest(target) is not None and checkpoints.problem(target) is None:
        return str(target)
    _train(job, model, target, held_out)
    shutil.rmtree(checkpoints.sft_checkpoints_dir(job.run_dir), ignore_errors=True)
    free_memory()
    return str(target)


def _train(job: Job, model: str, target: Path, held_out: Sequence[dict[str, Any]]) -> None:
    config = job.config
    rows = run_rows.warmup(job, held_out)
    if not rows:
        raise StudioError(
            Text(
                en="stages: the warm-up has no rows to learn from; check sft_rows and sft_args",
                ko="stages: 워밍업에서 배울 행이 없습니다. sft_rows와 sft_args를 확인하세요",
            )
        )
    job.enter("load")
    adapter = trl_adapter.sft_uses_adapter(config)
    quantization = trl_adapter.quantization_kwargs(config, job.device) if adapter else None
    folder = checkpoints.sft_checkpoints_dir(job.run_dir)
    tokenizer = AutoTokenizer.from_pretrained(
        model,
        revision=trl_adapter.tokenizer_revision(config, model),
        trust_remote_code=config.trust_remote_code,
    )
    trainer = RecordedSFTTrainer(
        model=model,
        args=SFTConfig(**trl_adapter.sft_kwargs(config, output_dir=str(folder), device=job.device)),
        train_dataset=Dataset.from_list([{"prompt": r["prompt"], "completion": r["completion"]} for r in rows]),
        processing_class=tokenizer,
        callbacks=[StageCallback(job, "sft", MemoryMeter(job.device.kind))],
        peft_config=LoraConfig(**trl_adapter.lora_kwargs(config)) if adapter else None,
        quantization_config=BitsAndBytesConfig(**quantization) if quantization else None,
        manifest_facts=job.checkpoint_facts,
    )
    if not len(trainer.train_dataset):  # pyright: ignore[reportArgumentType]
        raise StudioError(
            Text(
                en=f"sft_max_length: in all {len(rows)} warm-up rows the prompt alone has {config.sft_max_length} "
                "tokens or more, so no answer is left to learn from; set it higher",
                ko=f"sft_max_length: 워밍업 {len(rows)}행 모두 프롬프트만으로 {config.sft_max_length}토큰을 넘어 "
                "배울 답변이 남지 않습니다. 값을 키우세요",
            )
        )
    resume = _resume_point(job, folder)
    total = int(trainer.set_initial_training_values(trainer.args, trainer.get_train_dataloader())[-1])
    job.begin("sft", total, resume[1] if resume else 0)
    trainer.train(resume_from_checkpoint=str(resume[0]) if resume else None)
    if job.stop.requested:
        raise StopHere
    _save(trainer, model, target, quantized=quantization is not None, job=job)


def _resume_point(job: Job, folder: Path) -> tuple[Path, int] | None:
    """The warm-up's checkpoint, if this attempt is to go on exactly there; else the warm-up begins anew."""
    found = checkpoints.last_complete_in(folder)
    if job.run.attempt > 1 and job.resume_phase == "sft" and found and found[1] == job.resume_step:
        return found
    shutil.rmtree(folder, ignore_errors=True)
    return None


def _save(trainer: Any, model: str, target: Path, *, quantized: bool, job: Job) -> None:
    """A whole model in `target`: an adapter is merged, for GRPO trains an adapter of its own on top."""
    job.enter("checkpoint")
    shutil.rmtree(target, ignore_errors=True)
    trained = trainer.accelerator.unwrap_model(trainer.model)
    if isinstance(trained, PeftModel) and quantized:
        # Four-bit weights cannot take the adapter without loss: merge it into the full-precision model instead.
        adapter = target.with_name("sft-adapter")
        trained.save_pretrained(str(adapter))
        kwargs = trl_adapter.hardware_kwargs(job.config, job.device)["model_init_kwargs"]
        base = AutoModelForCausalLM.from_pretrained(model, **kwargs)
        trained = PeftModel.from_pretrained(base, str(adapter)).merge_and_unload()
    elif isinstance(trained, PeftModel):
        trained = trained.merge_and_unload()
    trained.save_pretrained(str(target))
    trainer.processing_class.save_pretrained(str(target))
    checkpoints.write_manifest(target, run=job.run.id, stage="sft", step=trainer.state.global_step)
