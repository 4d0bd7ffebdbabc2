"""What is worth knowing before a run starts and does not stop it. Inert settings are in `inert`."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.batch import batch_plan, steps_per_epoch
from backend.config.inert import find_inert
from backend.config.report import Note
from backend.config.resolve import resolve
from backend.config.rules.base import Facts, device_kind
from backend.config.schema import RunConfig
from backend.text import Text

FEW_PROMPTS = 4
SUMS_TOKENS = ("bnpo", "dr_grpo", "dapo", "cispo")


def find_notes(config: RunConfig, facts: Facts, given: set[str]) -> list[Note]:
    """All notes. `given`: the fields a person set; what is inert is only said of those (and of clipping)."""
    notes = [*_data(config, facts), *_rate(config, facts), *_loss(config), *_sampling(config), *_saving(config), *_device(config, facts)]
    return [*find_inert(config, given), *notes]


def _data(config: RunConfig, facts: Facts) -> Iterable[Note]:
    plan = batch_plan(config)
    if plan.prompts < FEW_PROMPTS:
        yield Note("warn", "gradient_accumulation_steps", Text(
            f"each generation holds {plan.prompts} prompt(s), so the curve will be noisy and often all answers of the "
            f"only group are equal; raise gradient_accumulation_steps",
            f"한 번의 생성에 프롬프트가 {plan.prompts}개뿐이라 곡선이 흔들리고, 그룹의 답이 모두 같으면 배울 것이 없습니다. "
            f"gradient_accumulation_steps를 늘리세요"), "few_prompts")  # fmt: skip
    if facts.rows is None:
        yield Note("info", "dataset", Text("how many rows it has is unknown before the run", "행 수는 실행 전에는 알 수 없습니다"), "rows_unknown")
    elif plan.prompts and facts.rows % plan.prompts:
        left = facts.rows % plan.prompts
        yield Note("info", "dataset", Text(
            f"{left} of {facts.rows} rows do not fill a generation and are left out of each epoch",
            f"{facts.rows}행 중 {left}행은 생성 배치를 채우지 못해 에폭마다 빠집니다"), "rows_left")  # fmt: skip
    if config.eval_size == 0 and (config.evaluate_before or config.evaluate_after):
        yield Note("warn", "eval_size", Text(
            "no held-out rows: the evaluations before and after are left out",
            "평가용 행이 없어 학습 전후 평가를 하지 않습니다"), "no_eval")  # fmt: skip


def _rate(config: RunConfig, facts: Facts) -> Iterable[Note]:
    rate = config.learning_rate
    if rate == 0:
        yield Note("warn", "learning_rate", Text("at 0 nothing is learned", "0이면 아무것도 배우지 않습니다"), "rate_zero")
    elif config.peft != "none" and rate <= 2e-6:
        yield Note("warn", "learning_rate", Text(
            f"{rate:g} is low for LoRA and the curve may stay flat; 1e-5 to 1e-4 is usual",
            f"LoRA에 {rate:g}는 낮아 곡선이 오르지 않을 수 있습니다. 보통 1e-5~1e-4를 씁니다"), "rate_low")  # fmt: skip
    elif config.peft == "none" and rate >= 1e-5 and config.model != "embedded":
        yield Note("warn", "learning_rate", Text(
            f"{rate:g} is high for full fine-tuning and may ruin the model; 1e-6 is usual",
            f"전체 파인튜닝에 {rate:g}는 높아 모델이 망가질 수 있습니다. 보통 1e-6을 씁니다"), "rate_high")  # fmt: skip
    if facts.device is not None:
        hardware = resolve(config, facts.device)
        if config.peft == "none" and hardware.dtype == "bfloat16" and 0 < rate <= 1e-5:
            yield Note("warn", "dtype", Text(
                "bfloat16 weights with a small learning rate: updates are rounded away; dtype float32 with bf16 autocast keeps them",
                "bfloat16 가중치와 작은 학습률: 업데이트가 반올림으로 사라집니다. dtype float32와 bf16 혼합 정밀도를 쓰세요"), "bf16_lost")  # fmt: skip
    if config.peft == "qlora" and rate < 1e-5:
        yield Note("warn", "learning_rate", Text(
            "QLoRA keeps its adapter in bfloat16, so a rate below 1e-5 can vanish",
            "QLoRA 어댑터는 bfloat16이라 1e-5보다 작은 학습률은 사라질 수 있습니다"), "qlora_rate")  # fmt: skip
    if config.max_steps <= 0 and facts.rows is not None and config.warmup_steps >= 1:
        total = config.num_train_epochs * steps_per_epoch(config, facts.rows)
        if config.warmup_steps >= total > 0:
            yield Note("warn", "warmup_steps", Text(
                f"the warm-up lasts {config.warmup_steps:g} of {total:g} steps: the full rate is never reached",
                f"워밍업이 {total:g}스텝 중 {config.warmup_steps:g}스텝이라 학습률이 끝까지 오르지 못합니다"), "warmup_long")  # fmt: skip


def _loss(config: RunConfig) -> Iterable[Note]:
    high = config.epsilon if config.epsilon_high is None else config.epsilon_high
    yield Note("info", "loss_type", Text(
        f"the objective is loss_type={config.loss_type}, scale_rewards={config.scale_rewards}, beta={config.beta:g}",
        f"목적 함수는 loss_type={config.loss_type}, scale_rewards={config.scale_rewards}, beta={config.beta:g}"), "objective")  # fmt: skip
    if config.loss_type == "grpo" and config.importance_sampling_level == "token":
        yield Note("info", "loss_type", Text(
            "grpo averages each completion first: wrong answers tend to grow longer; dapo or dr_grpo do not",
            "grpo는 답변마다 먼저 평균해 틀린 답이 길어지기 쉽습니다. dapo와 dr_grpo는 그렇지 않습니다"), "grpo_length")  # fmt: skip
    if config.importance_sampling_level == "sequence" and config.loss_type in SUMS_TOKENS:
        yield Note("warn", "importance_sampling_level", Text(
            f"{config.loss_type} sums over tokens, so a ratio per completion is weighted by its length; GSPO uses loss_type grpo",
            f"{config.loss_type}는 토큰을 더하므로 답변 단위 비율이 길이로 가중됩니다. GSPO는 loss_type grpo를 씁니다"), "sequence_sum")  # fmt: skip
    if config.loss_type == "luspo" and config.importance_sampling_level != "sequence":
        yield Note("warn", "importance_sampling_level", Text(
            "the LUSPO paper uses sequence", "LUSPO 논문은 sequence를 씁니다"), "luspo_level")  # fmt: skip
    if config.loss_type == "vespo" and config.importance_sampling_level != "token":
        yield Note("warn", "importance_sampling_level", Text(
            "VESPO computes its own weight per completion; leave this at token",
            "VESPO는 답변 단위 가중치를 스스로 계산하므로 token으로 두세요"), "vespo_level")  # fmt: skip
    if config.loss_type == "cispo" and high < 1:
        yield Note("warn", "epsilon_high", Text(
            f"CISPO clips the ratio at epsilon_high itself, now {high:g}: every token is scaled down; about 5 is usual",
            f"CISPO는 비율을 epsilon_high({high:g})에서 자르므로 모든 토큰이 줄어듭니다. 보통 5 안팎입니다"), "cispo_high")  # fmt: skip
    if config.delta is not None and config.delta <= 1 + high:
        yield Note("warn", "delta", Text(
            f"should be above 1 + epsilon = {1 + high:g}, else it clips before epsilon does",
            f"1 + epsilon = {1 + high:g}보다 커야 합니다. 아니면 epsilon보다 먼저 자릅니다"), "delta_low")  # fmt: skip
    if config.epsilon >= 1:
        yield Note("warn", "epsilon", Text("from 1 on the lower clip never acts", "1 이상이면 하한 클립이 작동하지 않습니다"), "epsilon_wide")
    if config.use_adaptive_entropy and not config.entropy_coef_min <= config.entropy_coef <= config.entropy_coef_max:
        yield Note("warn", "entropy_coef", Text(
            "the start lies outside entropy_coef_min and _max", "시작값이 entropy_coef_min과 _max 밖에 있습니다"), "entropy_start")  # fmt: skip
    if config.reward_weights and any(w < 0 for w in config.reward_weights):
        yield Note("warn", "reward_weights", Text("a negative weight punishes what its reward counts", "음수 가중치는 그 보상을 벌점으로 만듭니다"), "weight_negative")


def _sampling(config: RunConfig) -> Iterable[Note]:
    if config.lora_dropout > 0 and config.peft != "none" and not config.disable_dropout and not config.use_vllm:
        yield Note("warn", "lora_dropout", Text(
            "TRL generates in train mode, so dropout also disturbs the samples; use 0",
            "TRL은 train 모드로 생성하므로 드롭아웃이 샘플도 흔듭니다. 0을 쓰세요"), "dropout")  # fmt: skip
    if config.temperature < 0.3:
        yield Note("warn", "temperature", Text(
            "so low that a group's answers are often all the same, and then nothing is learned",
            "너무 낮아 그룹의 답이 같아지기 쉽고, 그러면 배울 것이 없습니다"), "temperature_low")  # fmt: skip
    if config.top_k == 1:
        yield Note("warn", "top_k", Text("at 1 all answers of a group are the same", "1이면 그룹의 답이 모두 같습니다"), "top_k_one")
    names = [n for n in ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_new_tokens", "max_tokens") if n in (config.generation_kwargs or {})]
    if names:
        yield Note("warn", "generation_kwargs", Text(
            f"overrides {', '.join(names)} of the fields above", f"위 항목의 {', '.join(names)} 값을 덮어씁니다"), "kwargs_override")  # fmt: skip


def _saving(config: RunConfig) -> Iterable[Note]:
    cycle = batch_plan(config).cycle
    if config.save_strategy == "steps" and config.save_steps >= 1 and cycle > 1 and int(config.save_steps) % cycle != 0:
        whole = -(-int(config.save_steps) // cycle) * cycle
        yield Note("warn", "save_steps", Text(
            f"a resume is exact only at multiples of the generation cycle, {float(cycle):g} steps; {float(whole):g} would be one",
            f"생성 주기 {float(cycle):g}스텝의 배수에서 저장해야 정확히 이어집니다(예: {float(whole):g})"), "save_cycle")  # fmt: skip
    if config.save_only_model:
        yield Note("warn", "save_only_model", Text("a stopped run cannot be resumed", "멈춘 실행을 이어서 학습할 수 없습니다"), "save_only")
    if config.load_best_model_at_end and config.metric_for_best_model in (None, "loss", "eval_loss"):
        yield Note("warn", "metric_for_best_model", Text(
            "the loss says little in GRPO; eval_reward does", "GRPO에서 손실은 뜻이 거의 없습니다. eval_reward를 쓰세요"), "best_loss")  # fmt: skip
    if config.log_completions_hub_repo:
        yield Note("warn", "log_completions_hub_repo", Text("the repository is public unless yours are private by default", "기본이 비공개가 아니면 저장소는 공개입니다"), "hub_public")


def _device(config: RunConfig, facts: Facts) -> Iterable[Note]:
    if facts.device is None:
        return
    hardware = resolve(config, facts.device)
    yield Note("info", None, Text(
        f"on {facts.device.name}: dtype {hardware.dtype}, {'bf16' if hardware.bf16 else 'fp16' if hardware.fp16 else 'no'} autocast, "
        f"activation checkpointing {'on' if hardware.activation_checkpointing else 'off'}",
        f"{facts.device.name}: dtype {hardware.dtype}, 혼합 정밀도 {'bf16' if hardware.bf16 else 'fp16' if hardware.fp16 else '없음'}, "
        f"활성값 재계산 {'켬' if hardware.activation_checkpointing else '끔'}"), "hardware")  # fmt: skip
    if device_kind(config, facts) == "cpu":
        if hardware.bf16:
            yield Note("warn", "bf16", Text("works on a CPU but is usually slower there", "CPU에서도 되지만 보통 더 느립니다"), "bf16_cpu")
        if config.use_cpu and facts.device.kind != "cpu":
            yield Note("warn", "use_cpu", Text(f"{facts.device.name} stays idle", f"{facts.device.name}은(는) 쓰지 않습니다"), "gpu_idle")
