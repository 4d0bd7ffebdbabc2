"""Settings that change nothing beside the others: said, so that nobody tunes them in vain."""

from __future__ import annotations

from collections.abc import Callable

from backend.config.batch import batch_plan
from backend.config.fields import default_of
from backend.config.report import Note
from backend.config.schema import FIELDS, RunConfig
from backend.text import Text

CLIPPED = frozenset({"grpo", "bnpo", "dr_grpo", "dapo", "luspo"})
CLIP_FIELDS = ("epsilon", "epsilon_high", "delta")
ADAPTIVE = ("entropy_coef_min", "entropy_coef_max", "entropy_coef_delta", "entropy_target")
LORA = ("lora_r", "lora_alpha", "lora_dropout", "lora_target_modules", "lora_bias", "lora_modules_to_save",
        "use_rslora", "use_dora")  # fmt: skip
QUANT = ("bnb_4bit_quant_type", "bnb_4bit_use_double_quant", "bnb_4bit_compute_dtype")
SERVER = ("vllm_server_base_url", "vllm_server_host", "vllm_server_port", "vllm_server_timeout", "vllm_group_port")
COLOCATE = ("vllm_gpu_memory_utilization", "vllm_max_model_length", "vllm_tensor_parallel_size",
            "vllm_enable_sleep_mode", "vllm_model_impl")  # fmt: skip
PRINTING = ("num_completions_to_print", "log_unique_prompts", "log_multimodal", "log_completions_hub_repo")
CORRECTION = ("vllm_importance_sampling_mode", "vllm_importance_sampling_clip_max", "vllm_importance_sampling_clip_min")


def ratio_is_one(config: RunConfig) -> bool:
    """The policy ratio is 1 by construction: one update a generation, and no correction of vLLM's probabilities (TRL
    skips the old log-probs)."""
    return batch_plan(config).on_policy


def find_inert(config: RunConfig, given: set[str]) -> list[Note]:
    """One note for each field that a person set away from its default and that changes nothing; clipping always."""
    notes: list[Note] = []

    def say(names: tuple[str, ...], text: Text, code: str) -> None:
        for name in names:
            if name in given and getattr(config, name) != default_of(FIELDS[name]):
                notes.append(Note("inert", name, text, code))

    _objective(config, notes, say)
    for loss in ("sapo", "vespo"):
        if config.loss_type != loss:
            names = tuple(n for n in FIELDS if n.startswith(f"{loss}_"))
            say(names, Text(f"only the {loss} loss reads it", f"{loss} 손실에서만 쓰입니다"), "other_loss")
    if config.beta == 0:
        say(
            ("use_bias_correction_kl", "ref_model_mixup_alpha", "ref_model_sync_steps"),
            Text("with beta 0 there is no KL and no reference model", "beta가 0이면 KL도 기준 모델도 없습니다"),
            "no_kl",
        )
    elif not config.sync_ref_model:
        say(
            ("ref_model_mixup_alpha", "ref_model_sync_steps"),
            Text("only with sync_ref_model", "sync_ref_model을 켤 때만 쓰입니다"),
            "no_sync",
        )
    if not config.use_adaptive_entropy:
        say(ADAPTIVE, Text("only with use_adaptive_entropy", "use_adaptive_entropy를 켤 때만 쓰입니다"), "no_adaptive")
    if config.peft == "none":
        say(LORA, Text("all weights are trained (peft none)", "전체 가중치를 학습합니다(peft none)"), "no_lora")
    if config.peft != "qlora":
        say(QUANT, Text("only with peft qlora", "peft qlora에서만 쓰입니다"), "no_qlora")
    if "sft" not in config.stages:
        say(
            tuple(n for n in FIELDS if n.startswith("sft_")),
            Text("there is no sft stage", "sft 단계가 없습니다"),
            "no_sft",
        )
    if not config.use_vllm:
        say(
            tuple(n for n in FIELDS if n.startswith("vllm_")),
            Text("only with use_vllm", "use_vllm을 켤 때만 쓰입니다"),
            "no_vllm",
        )
    else:
        other = SERVER if config.vllm_mode == "colocate" else COLOCATE
        say(
            other,
            Text(f"not with vllm_mode {config.vllm_mode}", f"vllm_mode {config.vllm_mode}에서는 쓰이지 않습니다"),
            "vllm_mode",
        )
        say(
            ("cache_implementation", "use_transformers_continuous_batching"),
            Text("vLLM generates", "vLLM이 생성합니다"),
            "vllm_generates",
        )
        if config.vllm_server_base_url:
            say(
                ("vllm_server_host", "vllm_server_port"),
                Text("the server address comes first", "서버 주소가 우선합니다"),
                "vllm_address",
            )
        if not config.vllm_importance_sampling_correction:
            say(CORRECTION, Text("the correction is off", "보정이 꺼져 있습니다"), "no_correction")
    if not config.use_transformers_continuous_batching:
        say(
            ("transformers_continuous_batching_config",),
            Text("only with continuous batching", "연속 배칭을 켤 때만 쓰입니다"),
            "no_batching",
        )
    if config.evaluate_steps is None:
        say(
            ("evaluate_rows", "evaluate_share", "keep_best"),
            Text("only with evaluate_steps", "evaluate_steps를 정할 때만 쓰입니다"),
            "no_evaluate_steps",
        )
    if "grpo" not in config.stages:
        nothing = Text("nothing is trained with GRPO here", "GRPO 학습이 없습니다")
        say(("evaluate_steps", "shuffle_rewards"), nothing, "no_grpo")
    if config.eval_strategy == "no":
        say(
            ("eval_steps", "per_device_eval_batch_size", "num_generations_eval", "eval_delay"),
            Text(
                "there is no evaluation during training (eval_strategy no)", "학습 중 평가가 없습니다(eval_strategy no)"
            ),
            "no_eval_strategy",
        )
    elif config.eval_strategy == "epoch":
        say(("eval_steps",), Text("evaluations follow the epochs", "에폭마다 평가합니다"), "eval_epochs")
    if config.save_strategy != "steps":
        say(
            ("save_steps",),
            Text(f"save_strategy is {config.save_strategy}", f"save_strategy가 {config.save_strategy}입니다"),
            "no_save_steps",
        )
    if config.save_strategy == "no":
        none = Text("nothing is saved (save_strategy no)", "저장하는 것이 없습니다(save_strategy no)")
        say(("load_best_model_at_end",), none, "no_saves")
    if not config.log_completions:
        say(PRINTING, Text("only with log_completions", "log_completions를 켤 때만 쓰입니다"), "no_printing")
    if config.max_steps > 0:
        say(("num_train_epochs",), Text("max_steps sets the length", "max_steps가 길이를 정합니다"), "steps_first")
    if "sft" in config.stages and config.sft_max_steps > 0:
        say(
            ("sft_num_train_epochs",),
            Text("sft_max_steps sets the length", "sft_max_steps가 길이를 정합니다"),
            "steps_first",
        )
    if config.lr_scheduler_type == "constant":
        say(
            ("warmup_steps",),
            Text(
                "a constant rate has no warm-up; constant_with_warmup does",
                "constant에는 워밍업이 없습니다. constant_with_warmup을 쓰세요",
            ),
            "constant",
        )
    say(
        ("max_tool_calling_iterations",),
        Text("no tools are given to the model", "모델에 주는 도구가 없습니다"),
        "no_tools",
    )
    say(("ds3_gather_for_generation",), Text("DeepSpeed is not used here", "DeepSpeed를 쓰지 않습니다"), "no_deepspeed")
    if config.multi_objective_aggregation == "normalize_then_sum":
        say(
            ("scale_rewards",),
            Text("normalize_then_sum scales by the batch always", "normalize_then_sum은 항상 배치로 나눕니다"),
            "gdpo",
        )
    return notes


def _objective(config: RunConfig, notes: list[Note], say: Callable[[tuple[str, ...], Text, str], None]) -> None:
    """What the loss reads, by GRPOTrainer._compute_loss of TRL 1.16."""
    loss, one = config.loss_type, ratio_is_one(config)
    unused = Text(f"loss {loss} does not clip with it", f"{loss} 손실은 이 값으로 자르지 않습니다")
    if loss in CLIPPED and one:
        text = Text(
            "with these settings the ratio is 1: epsilon and the other clip settings have no effect, and no clip ratio "
            "is drawn; num_iterations or steps_per_generation above the accumulation would change that",
            "이 설정에서는 비율이 1이라 epsilon 등 클립 설정이 작동하지 않고 클립 비율도 그리지 않습니다. "
            "num_iterations를 올리거나 steps_per_generation을 그래디언트 누적보다 크게 하면 달라집니다",
        )
        notes.append(Note("inert", "epsilon", text, "ratio_one"))
        say(("epsilon_high",), text, "ratio_one")
        if config.delta is not None and config.delta > 1:  # at 1 the clamp meets the ratio itself
            say(("delta",), text, "ratio_one")
    elif loss == "cispo":
        say(("delta",), unused, "other_loss")
        if config.epsilon_high is not None:
            capped = Text("CISPO caps with epsilon_high", "CISPO는 epsilon_high에서 자릅니다")
            say(("epsilon",), capped, "other_loss")
        if one and (config.epsilon_high or 0) > 1:
            below = Text("the ratio is 1, below this cap", "비율이 1이라 이 상한에 닿지 않습니다")
            say(("epsilon_high",), below, "ratio_one")
    elif loss not in CLIPPED:
        say(CLIP_FIELDS, unused, "other_loss")
    if not one:
        return
    # One weight for a completion has the gradient of one for each of its tokens only where all tokens count alike.
    alike = config.top_entropy_quantile == 1 and not (config.beta > 0 and config.use_bias_correction_kl)
    if alike:
        level = Text(
            "the ratio is 1, per token or per completion alike", "비율이 1이라 토큰 단위든 답변 단위든 같습니다"
        )
        say(("importance_sampling_level",), level, "ratio_one")
    if not config.use_vllm:  # vLLM's own log-probabilities are compared there
        say(
            ("off_policy_mask_threshold",),
            Text("with a ratio of 1 nothing is off-policy", "비율이 1이라 오프폴리시인 답변이 없습니다"),
            "ratio_one",
        )


def not_drawn(config: RunConfig) -> list[tuple[str, Text]]:
    """The chart panels that could say nothing, by key ('clip', 'kl'), and why."""
    out: list[tuple[str, Text]] = []
    if ratio_is_one(config):
        out.append(
            (
                "clip",
                Text(
                    "Clip ratio is not drawn: a generation serves one update, so the ratio is 1 by construction.",
                    "클립 비율은 그리지 않습니다: 생성마다 한 번만 업데이트하므로 비율이 항상 1입니다.",
                ),
            )
        )
    elif config.loss_type in ("sapo", "vespo"):
        out.append(
            (
                "clip",
                Text(
                    f"Clip ratio is not drawn: loss {config.loss_type} does not clip.",
                    f"클립 비율은 그리지 않습니다: {config.loss_type} 손실은 자르지 않습니다.",
                ),
            )
        )
    if config.beta == 0:
        out.append(
            (
                "kl",
                Text(
                    "KL is not drawn: with beta 0 there is no reference model to measure against.",
                    "KL은 그리지 않습니다: beta가 0이면 비교할 기준 모델이 없습니다.",
                ),
            )
        )
    return out
