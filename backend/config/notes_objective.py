"""Notes about the loss, the rewards' weights and the sampling: TRL's warnings, and faults it passes over in silence."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.report import Note
from backend.config.schema import RunConfig
from backend.text import Text

SUMS_TOKENS = ("bnpo", "dr_grpo", "dapo", "cispo")
OVERRIDES = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_new_tokens", "max_tokens")


def objective_notes(config: RunConfig) -> Iterable[Note]:
    yield from _level(config)
    yield from _clipping(config)
    yield from _rewards(config)
    yield from _sampling(config)


def _level(config: RunConfig) -> Iterable[Note]:
    loss, level = config.loss_type, config.importance_sampling_level
    said = f"loss_type={loss}, scale_rewards={config.scale_rewards}, beta={config.beta:g}"
    yield Note("info", "loss_type", Text(f"the objective is {said}", f"목적 함수: {said}"), "objective")
    if loss == "grpo" and level == "token":
        text = Text(
            "grpo averages each completion first: wrong answers tend to grow longer; dapo and dr_grpo do not",
            "grpo는 답변마다 먼저 평균해 틀린 답이 길어지기 쉽습니다. dapo와 dr_grpo는 그렇지 않습니다",
        )
        yield Note("info", "loss_type", text, "grpo_length")
    if level == "sequence" and loss in SUMS_TOKENS:
        text = Text(
            f"{loss} sums over tokens, so a ratio per completion is weighted by its length; GSPO uses loss_type grpo",
            f"{loss}는 토큰을 더하므로 답변 단위 비율이 길이로 가중됩니다. GSPO는 loss_type grpo를 씁니다",
        )
        yield Note("warn", "importance_sampling_level", text, "sequence_sum")
    if loss == "luspo" and level != "sequence":
        text = Text("the LUSPO paper uses sequence", "LUSPO 논문은 sequence를 씁니다")
        yield Note("warn", "importance_sampling_level", text, "luspo_level")
    if loss == "vespo" and level != "token":
        text = Text(
            "VESPO computes its own weight per completion; leave this at token",
            "VESPO는 답변 단위 가중치를 스스로 계산하므로 token으로 두세요",
        )
        yield Note("warn", "importance_sampling_level", text, "vespo_level")


def _clipping(config: RunConfig) -> Iterable[Note]:
    high = config.epsilon if config.epsilon_high is None else config.epsilon_high
    if config.loss_type == "cispo" and high < 1:
        text = Text(
            f"CISPO caps the ratio at epsilon_high itself, now {high:g}: every token is scaled down; about 5 is usual",
            f"CISPO는 비율을 epsilon_high({high:g})에서 자르므로 모든 토큰이 줄어듭니다. 보통 5 안팎입니다",
        )
        yield Note("warn", "epsilon_high", text, "cispo_high")
    if config.delta is not None and config.delta <= 1 + high:
        text = Text(
            f"should be above 1 + epsilon = {1 + high:g}, else it clips before epsilon does",
            f"1 + epsilon = {1 + high:g}보다 커야 합니다. 아니면 epsilon보다 먼저 자릅니다",
        )
        yield Note("warn", "delta", text, "delta_low")
    if config.epsilon >= 1:
        text = Text("from 1 on the lower clip never acts", "1 이상이면 하한 클립이 작동하지 않습니다")
        yield Note("warn", "epsilon", text, "epsilon_wide")
    low, high_coef = config.entropy_coef_min, config.entropy_coef_max
    if config.use_adaptive_entropy and not low <= config.entropy_coef <= high_coef:
        text = Text("starts outside entropy_coef_min and _max", "시작값이 entropy_coef_min과 _max 밖에 있습니다")
        yield Note("warn", "entropy_coef", text, "entropy_start")
    if config.mask_truncated_completions:
        text = Text(
            "completions at the length limit give no gradient: watch the share that is cut off",
            "길이 한도에 걸린 답변은 그래디언트가 없습니다. 잘린 비율을 지켜보세요",
        )
        yield Note("info", "mask_truncated_completions", text, "mask_truncated")


def _rewards(config: RunConfig) -> Iterable[Note]:
    if config.reward_weights and any(w < 0 for w in config.reward_weights):
        text = Text("a negative weight punishes what its reward counts", "음수 가중치는 그 보상을 벌점으로 만듭니다")
        yield Note("warn", "reward_weights", text, "weight_negative")
    if config.scale_rewards == "batch" or config.multi_objective_aggregation == "normalize_then_sum":
        field = "scale_rewards" if config.scale_rewards == "batch" else "multi_objective_aggregation"
        text = Text(
            "TRL's frac_reward_zero_std is blind here; the share of dead groups is computed from the completions",
            "이 설정에서는 TRL의 frac_reward_zero_std가 맞지 않아, 죽은 그룹의 비율을 답변에서 따로 계산합니다",
        )
        yield Note("info", field, text, "zero_std_blind")


def _sampling(config: RunConfig) -> Iterable[Note]:
    if config.lora_dropout > 0 and config.peft != "none" and not config.disable_dropout and not config.use_vllm:
        text = Text(
            "TRL generates in train mode, so dropout also disturbs the samples; use 0",
            "TRL은 train 모드로 생성하므로 드롭아웃이 샘플도 흔듭니다. 0을 쓰세요",
        )
        yield Note("warn", "lora_dropout", text, "dropout")
    if config.temperature < 0.3:
        text = Text(
            "so low that a group's answers are often all the same, and then nothing is learned",
            "너무 낮아 그룹의 답이 같아지기 쉽고, 그러면 배울 것이 없습니다",
        )
        yield Note("warn", "temperature", text, "temperature_low")
    if config.top_k == 1:
        text = Text("at 1 all answers of a group are the same", "1이면 그룹의 답이 모두 같습니다")
        yield Note("warn", "top_k", text, "top_k_one")
    names = ", ".join(n for n in OVERRIDES if n in (config.generation_kwargs or {}))
    if names:
        text = Text(f"overrides {names} of the fields above", f"위 항목의 {names} 값을 덮어씁니다")
        yield Note("warn", "generation_kwargs", text, "kwargs_override")
