"""A configuration, a model and a device as the estimates see them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backend.config.batch import batch_plan, steps_per_epoch
from backend.config.notes_evaluation import rows_on_the_way
from backend.config.resolve import resolve
from backend.config.rules.lora import four_bit, matches
from backend.data import article_math
from backend.duration import Work
from backend.estimate import DeviceFacts, Load, lora_params

if TYPE_CHECKING:
    from backend.config.schema import RunConfig

PROJECTIONS = {"self_attn": ("q_proj", "k_proj", "v_proj", "o_proj"), "mlp": ("gate_proj", "up_proj", "down_proj")}
PROMPT_TOKENS = 256
SHORT_PROMPT_TOKENS = 96  # the built-in sets: one sentence and a chat template
BARE_PROMPT_TOKENS = 32  # the embedded model is asked bare sums
WEIGHT_BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0}
FOUR_BIT, EIGHT_BIT = 0.6, 1.1  # with scales and the layers that stay wide


def load_of(config: RunConfig, model: Any, device: DeviceFacts) -> Load:
    """`model`: backend.models.ModelFacts."""
    hardware, batch = resolve(config, device), batch_plan(config)
    weight = WEIGHT_BYTES[hardware.dtype]
    half = weight < 4 or hardware.bf16 or hardware.fp16
    if config.peft == "qlora":
        weight = FOUR_BIT if four_bit(config) else EIGHT_BIT
    colocated = config.use_vllm and config.vllm_mode == "colocate"
    return Load(
        params=model.params,
        layers=model.layers,
        hidden=model.hidden,
        kv_width=model.kv_heads * _head(model),
        vocab=model.vocab,
        weight_bytes=weight,
        compute_bytes=2 if half else 4,
        adapter=None if config.peft == "none" else _adapter(config, model),
        optim=config.optim,
        micro_batch=config.per_device_train_batch_size,
        generation_batch=batch.generation_batch,
        prompt_tokens=prompt_tokens(config),
        completion_tokens=config.max_completion_length,
        checkpointing=hardware.activation_checkpointing,
        reference=config.beta > 0 and config.peft == "none",
        vllm_bytes=int(config.vllm_gpu_memory_utilization * device.total_bytes) if colocated else 0,
        device="cpu" if hardware.use_cpu else device.kind,
    )


def prompt_tokens(config: RunConfig) -> int:
    """What a prompt is taken to be before the data is read; no more than the longest one allowed."""
    short = config.dataset in ("arithmetic", "article-math")
    assumed = (
        BARE_PROMPT_TOKENS if config.model == "embedded" and short else SHORT_PROMPT_TOKENS if short else PROMPT_TOKENS
    )
    return min(assumed, config.max_prompt_tokens or assumed)


def _head(model: Any) -> int:
    return getattr(model, "per_head", 0) or model.hidden // model.heads


def _matched(pattern: str) -> list[str]:
    """The projections that a regular expression means, with their places in a Llama."""
    if pattern == "all-linear":
        return [pattern]
    return [name for part, names in PROJECTIONS.items() for name in names
            if matches(pattern, f"model.layers.0.{part}.{name}")]  # fmt: skip


def _adapter(config: RunConfig, model: Any) -> int:
    targets = config.lora_target_modules
    named = ["q_proj", "v_proj"] if targets is None else _matched(targets) if isinstance(targets, str) else targets
    head = _head(model)
    return lora_params(
        config.lora_r, named, model.layers, model.hidden, model.heads * head, model.kv_heads * head, model.intermediate
    )


def trainer_evaluations(config: RunConfig, steps: int, rows: int | None) -> int:
    """How often the trainer itself evaluates in `steps` optimizer steps. `eval_delay` is not counted off."""
    if config.eval_strategy == "no":
        return 0
    if config.eval_strategy == "epoch":
        an_epoch = steps_per_epoch(config, rows) if rows else 0
        often = math.ceil(steps / an_epoch) if an_epoch else math.ceil(config.num_train_epochs)
    else:
        every = config.eval_steps or config.logging_steps
        often = int(steps // max(1, math.ceil(every * steps) if every < 1 else every))
    return often + int(config.eval_on_start)


def sampled_in_one_evaluation(config: RunConfig) -> int:
    """The completions of one of them: a group for each held-out row."""
    rows = min(config.eval_size, len(article_math.TEST)) if config.dataset == "article-math" else config.eval_size
    return rows * (config.num_generations_eval or config.num_generations)


def _evaluated_on_the_way(config: RunConfig, steps: int) -> int:
    """Rows answered greedily while training and, by the best and the last weights, after it. Over evaluate_share some
    of these are left out; that is not counted off."""
    if config.evaluate_steps is None:
        return 0
    rows = rows_on_the_way(config)
    fresh = 2 * (config.eval_size - rows) if config.keep_best else 0
    return steps // config.evaluate_steps * rows + fresh


def work_of(config: RunConfig, steps: int, rows: int | None = None) -> Work:
    """The counts of a whole run of `steps` optimizer steps."""
    batch = batch_plan(config)
    evaluated = config.eval_size * (int(config.evaluate_before) + int(config.evaluate_after))
    evaluated += _evaluated_on_the_way(config, steps)
    imitated = 0
    if "sft" in config.stages:
        per_step = config.sft_per_device_train_batch_size * config.sft_gradient_accumulation_steps
        by_epochs = math.ceil(config.sft_rows * config.sft_num_train_epochs)
        imitated = config.sft_max_steps * per_step if config.sft_max_steps > 0 else by_epochs
    return Work(
        steps=steps,
        micro_batches=config.gradient_accumulation_steps,
        generations=math.ceil(steps / batch.cycle),
        evaluated=evaluated,
        evaluation_batch=config.evaluate_batch_size,
        imitated=imitated,
        passes=int(not batch.on_policy) + int(config.beta > 0),
        vllm=config.use_vllm,
        sampled=trainer_evaluations(config, steps, rows) * sampled_in_one_evaluation(config),
        sampled_batch=config.per_device_eval_batch_size,
    )
