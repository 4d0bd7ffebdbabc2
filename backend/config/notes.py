"""What is worth knowing before a run starts and does not stop it. Inert settings are in `inert`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from backend.config.batch import batch_plan, save_unit, total_steps
from backend.config.inert import find_inert
from backend.config.load import prompt_tokens, sampled_in_one_evaluation, trainer_evaluations
from backend.config.notes_evaluation import evaluation_notes
from backend.config.notes_objective import objective_notes
from backend.config.plan import lighter, plan_memory
from backend.config.report import Note
from backend.config.resolve import resolve
from backend.config.rules.base import Facts, device_kind
from backend.config.saving import aligned_save_steps
from backend.config.schema import RunConfig
from backend.text import Text

FEW_PROMPTS = 4
LORA_RATE_LOW, FULL_RATE_HIGH, ROUNDED_AWAY = 2e-6, 1e-5, 1e-5


def find_notes(config: RunConfig, facts: Facts, given: set[str]) -> list[Note]:
    """All notes. `given`: the fields a person set; what is inert is only said of those (and of clipping)."""
    found = [*_data(config, facts), *_rate(config, facts), *objective_notes(config), *_saving(config, facts)]
    found += evaluation_notes(config, total_steps(config, facts.rows))
    return [*find_inert(config, given), *found, *_device(config, facts), *_memory(config, facts)]


def _data(config: RunConfig, facts: Facts) -> Iterable[Note]:
    plan = batch_plan(config)
    if plan.prompts < FEW_PROMPTS:
        text = Text(
            f"each generation holds {plan.prompts} of at least {FEW_PROMPTS} prompts: the curve will be noisy, and "
            "when all answers of the only groups are equal nothing is learned; raise gradient_accumulation_steps",
            f"한 번의 생성에 프롬프트가 {plan.prompts}개뿐입니다(권장 {FEW_PROMPTS}개 이상). 곡선이 흔들리고, "
            "그룹의 답이 모두 같으면 배우지 못합니다. gradient_accumulation_steps를 늘리세요",
        )
        yield Note("warn", "gradient_accumulation_steps", text, "few_prompts")
    if facts.rows is None:
        text = Text(
            "the number of rows is known once the data is loaded", "행 수는 데이터를 불러온 뒤에 알 수 있습니다"
        )
        yield Note("info", "dataset", text, "rows_unknown")
    elif 0 < plan.prompts <= facts.rows and facts.rows % plan.prompts:
        left = facts.rows % plan.prompts
        text = Text(
            f"{left} of {facts.rows} rows do not fill a generation and are left out of each epoch",
            f"{facts.rows}행 중 {left}행은 생성 배치를 채우지 못해 에폭마다 빠집니다",
        )
        yield Note("info", "dataset", text, "rows_left")
    if config.eval_size == 0 and (config.evaluate_before or config.evaluate_after):
        text = Text(
            "no held-out rows: the evaluations before and after are left out",
            "평가 행이 없어 학습 전후 평가를 하지 않습니다",
        )
        yield Note("warn", "eval_size", text, "no_eval")
    if config.eval_strategy == "steps" and config.eval_steps is None:
        total = total_steps(config, facts.rows)
        often = f"{trainer_evaluations(config, total, facts.rows):,}" if total else "?"
        size = f"{sampled_in_one_evaluation(config):,}"
        text = Text(
            f"empty: the trainer evaluates at every logging step, {often} times with {size} completions each",
            f"비어 있어 기록할 때마다 평가합니다: {often}번, 매번 답변 {size}개",
        )
        yield Note("warn", "eval_steps", text, "eval_every_log")
    context = facts.model.context if facts.model else None
    room = context - config.max_completion_length if context else None
    if room is not None and 0 < room < prompt_tokens(config):
        text = Text(
            f"leaves {room} tokens for the prompt, since the model reads {context} in all; rows with longer prompts "
            "are left out",
            f"모델이 읽는 길이가 모두 {context}토큰이라 프롬프트에 {room}토큰이 남습니다. "
            "더 긴 프롬프트의 행은 빠집니다",
        )
        yield Note("warn", "max_completion_length", text, "context")


def _rate(config: RunConfig, facts: Facts) -> Iterable[Note]:
    rate, adapter = config.learning_rate, config.peft != "none"
    if rate == 0:
        yield Note(
            "warn", "learning_rate", Text("at 0 nothing is learned", "0이면 아무것도 배우지 않습니다"), "rate_zero"
        )
    elif adapter and rate <= LORA_RATE_LOW:
        text = Text(
            f"{rate:g} is low for LoRA and the curve may stay flat; 1e-5 to 1e-4 is usual",
            f"LoRA에 {rate:g}는 낮아 곡선이 오르지 않을 수 있습니다. 보통 1e-5~1e-4를 씁니다",
        )
        yield Note("warn", "learning_rate", text, "rate_low")
    elif config.peft == "qlora" and rate < ROUNDED_AWAY:
        text = Text(
            "QLoRA keeps its adapter in bfloat16, so a rate below 1e-5 can vanish",
            "QLoRA 어댑터는 bfloat16이라 1e-5보다 작은 학습률은 사라질 수 있습니다",
        )
        yield Note("warn", "learning_rate", text, "qlora_rate")
    elif not adapter and rate >= FULL_RATE_HIGH and config.model != "embedded":
        text = Text(
            f"{rate:g} is high for full fine-tuning and may ruin the model; 1e-6 is usual",
            f"전체 파인튜닝에 {rate:g}는 높아 모델이 망가질 수 있습니다. 보통 1e-6을 씁니다",
        )
        yield Note("warn", "learning_rate", text, "rate_high")
    weights = resolve(config, facts.device).dtype if facts.device else config.dtype
    if not adapter and weights == "bfloat16" and 0 < rate <= ROUNDED_AWAY:
        cuda = device_kind(config, facts) in (None, "cuda")
        text = Text(
            "bfloat16 weights with a small learning rate: updates are rounded away; dtype float32"
            f"{' with bf16 autocast' if cuda else ''} keeps them",
            "bfloat16 가중치와 작은 학습률: 업데이트가 반올림으로 사라집니다. "
            f"dtype float32{'와 bf16 혼합 정밀도' if cuda else ''}를 쓰세요",
        )
        yield Note("warn", "dtype", text, "bf16_lost")
    total = total_steps(config, facts.rows)
    if total and config.warmup_steps >= max(total, 1):
        text = Text(
            f"the warm-up lasts {config.warmup_steps:g} steps and the run {total}: the full rate is never reached",
            f"워밍업이 {config.warmup_steps:g}스텝인데 실행은 {total}스텝이라 학습률이 끝까지 오르지 못합니다",
        )
        yield Note("warn", "warmup_steps", text, "warmup_long")


def _saving(config: RunConfig, facts: Facts) -> Iterable[Note]:
    unit, steps = save_unit(config), config.save_steps
    if config.save_strategy == "steps" and steps >= 1 and int(steps) % unit:
        whole = aligned_save_steps(config)
        text = Text(
            f"saved every {whole:g} steps instead of {steps:g}: only at multiples of {unit}, the generation cycle, "
            "does a resume go on exactly",
            f"{steps:g} 대신 {whole:g}스텝마다 저장합니다: 생성 주기 {unit}의 배수에서만 정확히 이어집니다",
        )
        yield Note("changed", "save_steps", text, "save_cycle")
    if config.save_only_model:
        text = Text("a stopped run cannot be resumed", "멈춘 실행을 이어서 학습할 수 없습니다")
        yield Note("warn", "save_only_model", text, "save_only")
    if config.load_best_model_at_end and config.metric_for_best_model in (None, "loss", "eval_loss"):
        text = Text(
            "the loss says little in GRPO; eval_reward does", "GRPO에서 손실은 뜻이 거의 없습니다. eval_reward를 쓰세요"
        )
        yield Note("warn", "metric_for_best_model", text, "best_loss")
    if config.log_completions_hub_repo:
        text = Text(
            "the repository is public unless yours are private by default", "기본이 비공개가 아니면 저장소는 공개입니다"
        )
        yield Note("warn", "log_completions_hub_repo", text, "hub_public")
    if config.trust_remote_code:
        text = Text("runs Python code that comes with the model", "모델에 딸린 파이썬 코드를 실행합니다")
        yield Note("warn", "trust_remote_code", text, "remote_code")


def _device(config: RunConfig, facts: Facts) -> Iterable[Note]:
    if facts.device is None:
        return
    hardware, kind = resolve(config, facts.device), device_kind(config, facts)
    auto = "bf16" if hardware.bf16 else "fp16" if hardware.fp16 else None
    text = Text(
        f"on {facts.device.name}: weights {hardware.dtype}, {auto or 'no'} autocast, activations "
        f"{'recomputed' if hardware.activation_checkpointing else 'kept'}",
        f"{facts.device.name}: 가중치 {hardware.dtype}, 혼합 정밀도 {auto or '없음'}, 활성값 "
        f"{'재계산' if hardware.activation_checkpointing else '유지'}",
    )
    yield Note("info", None, text, "hardware")
    if config.bf16 and not hardware.bf16:
        text = Text(f"not used on {kind}: full precision instead", f"{kind}에서는 쓰지 않고 전체 정밀도로 계산합니다")
        yield Note("inert", "bf16", text, "bf16_unused")
    if kind == "mps" and config.dtype in ("bfloat16", "float16"):
        text = Text("not used on mps: float32 instead", "mps에서는 쓰지 않고 float32로 계산합니다")
        yield Note("inert", "dtype", text, "dtype_unused")
    if config.use_cpu and facts.device.kind != "cpu":
        text = Text(f"{facts.device.name} stays idle", f"{facts.device.name}: 쓰지 않고 둡니다")
        yield Note("warn", "use_cpu", text, "gpu_idle")
    if config.peft == "qlora" and kind == "cpu":
        text = Text("4-bit weights are slow on a CPU", "CPU에서 4비트 가중치는 느립니다")
        yield Note("warn", "peft", text, "qlora_cpu")


def _memory(config: RunConfig, facts: Facts) -> Iterable[Note]:
    parts = plan_memory(config, facts)
    if not parts or facts.device is None or sum(parts.values()) <= facts.device.free_bytes:
        return
    largest = max((key for key in parts if key != "overhead"), key=lambda key: parts[key])
    need, free = _gb(sum(parts.values())), _gb(facts.device.free_bytes)
    remedy = lighter(config, facts)
    tried = ", ".join(f"{name}={_plain(value)}" for name, value in remedy.items()) if remedy else None
    text = Text(
        f"about {need} GB are needed and {free} GB are free; the largest part is {largest}. "
        + (f"This would fit: {tried}" if tried else "A smaller model or a larger device is needed"),
        f"약 {need} GB가 필요한데 {free} GB가 비어 있습니다. 가장 큰 부분은 {largest}입니다. "
        + (f"이렇게 하면 들어갑니다: {tried}" if tried else "더 작은 모델이나 더 큰 장치가 필요합니다"),
    )
    yield Note("warn", next(iter(remedy)) if remedy else "model", text, "memory")


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f}"


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"
