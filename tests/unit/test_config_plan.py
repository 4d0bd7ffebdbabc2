"""The plan: steps, tokens, cycle, memory and time, against figures worked out by hand or published."""

from __future__ import annotations

from typing import Any

import pytest

from backend.config import RunConfig, batch_plan, check, resolve, steps_per_epoch, total_steps
from backend.config.load import trainer_evaluations, work_of
from backend.config.plan import Plan
from backend.duration import corrected_seconds
from backend.estimate import DeviceFacts, Load, kv_bytes_per_token, lora_params, memory_parts
from backend.models import ModelFacts

GIB = 1 << 30
CPU = DeviceFacts("cpu", "test CPU", 16 * GIB, 8 * GIB, False, 2)
GPU = DeviceFacts("cuda", "NVIDIA A100", 80 * GIB, 79 * GIB, True, 8)
OLD_GPU = DeviceFacts("cuda", "Tesla T4", 16 * GIB, 15 * GIB, False, 4)
MPS = DeviceFacts("mps", "Apple GPU", 16 * GIB, 8 * GIB, False, 8)
LLAMA_8B = ModelFacts(32, 4096, 32, 8, 14336, 128256, tied=False)
LLAMA_7B = ModelFacts(32, 4096, 32, 32, 11008, 32000, tied=False)


def plan(raw: dict[str, Any], device: DeviceFacts | None = None, **more: Any) -> Plan:
    made = check(raw, device=device, **more).plan
    assert made is not None
    return made


# (settings, rows) -> steps an epoch = ceil((N // (GB/G)) * mu * S / GA)
STEPS: list[tuple[dict[str, Any], int, int]] = [
    ({}, 100, 100),  # batch 8, G 8: one prompt a step
    ({"gradient_accumulation_steps": 4}, 100, 25),
    ({"gradient_accumulation_steps": 4}, 103, 25),  # three rows do not fill a generation
    ({"gradient_accumulation_steps": 4, "num_iterations": 2}, 100, 50),
    ({"steps_per_generation": 4}, 100, 100),
    ({"steps_per_generation": 4, "num_iterations": 3}, 100, 300),
    ({"gradient_accumulation_steps": 3, "steps_per_generation": 2}, 10, 4),  # ceil(5 * 2 / 3)
    ({"generation_batch_size": 32}, 100, 100),
    ({"gradient_accumulation_steps": 200}, 100, 0),
]


@pytest.mark.parametrize(("raw", "rows", "want"), STEPS)
def test_steps_an_epoch(raw: dict[str, Any], rows: int, want: int) -> None:
    assert steps_per_epoch(RunConfig(**raw), rows) == want


def test_total_steps() -> None:
    assert total_steps(RunConfig(num_train_epochs=2.5), 10) == 25
    assert total_steps(RunConfig(max_steps=7, num_train_epochs=2.5), 10) == 7
    assert total_steps(RunConfig(), None) is None


def test_the_cycle() -> None:
    assert float(batch_plan(RunConfig()).cycle) == 1
    assert float(batch_plan(RunConfig(steps_per_generation=4, gradient_accumulation_steps=2)).cycle) == 2
    assert float(batch_plan(RunConfig(num_iterations=4)).cycle) == 4


def test_the_ratio_is_one_exactly_when_trl_skips_the_old_probabilities() -> None:
    """TRL computes them when GA % (S * mu) != 0 or vLLM generates (GRPOTrainer._generate_and_score_completions)."""
    assert batch_plan(RunConfig()).on_policy
    assert batch_plan(RunConfig(gradient_accumulation_steps=4, steps_per_generation=2)).on_policy
    assert not batch_plan(RunConfig(num_iterations=2)).on_policy
    assert not batch_plan(RunConfig(steps_per_generation=2)).on_policy
    assert not batch_plan(RunConfig(use_vllm=True)).on_policy
    assert batch_plan(RunConfig(use_vllm=True, vllm_importance_sampling_correction=False)).on_policy
    uncorrected = RunConfig(use_vllm=True, vllm_importance_sampling_correction=False, num_iterations=2)
    assert not batch_plan(uncorrected).on_policy


def test_the_plan_of_the_article() -> None:
    made = plan({"dataset": "article-math", "per_device_train_batch_size": 1, "gradient_accumulation_steps": 4,
                 "num_generations": 4, "max_completion_length": 128})  # fmt: skip
    assert (made.rows, made.prompts_per_step, made.completions_per_step) == (20, 1.0, 4)
    assert (made.steps_per_epoch, made.total_steps, made.cycle) == (20, 60, 1.0)
    assert made.tokens_at_most == 60 * 4 * 128


def test_tokens_when_a_generation_serves_several_steps() -> None:
    made = plan({"dataset": "article-math", "num_iterations": 2, "max_steps": 10, "max_completion_length": 100})
    assert made.tokens_at_most == 5 * 8 * 100


def test_unknown_rows_are_unknown() -> None:
    made = plan({"dataset": "someone/somewhere"})
    assert (made.rows, made.total_steps, made.tokens_at_most, made.seconds) == (None, None, None, None)


def test_kv_cache_of_llama_8b() -> None:
    """Published: 20k tokens take 2.5 GiB."""
    size = 20 * 1024 * kv_bytes_per_token(LLAMA_8B.layers, LLAMA_8B.kv_heads * LLAMA_8B.per_head)
    assert size / GIB == pytest.approx(2.5, rel=0.01)


def test_lora_of_a_7b_at_2k_context() -> None:
    """Published: about 19 GB with a bfloat16 base, one sequence of 2,048 tokens, recomputed activations."""
    adapter = lora_params(16, ["all-linear"], 32, 4096, 4096, 4096, 11008)
    assert adapter == pytest.approx(40e6, rel=0.02)
    load = Load(
        params=LLAMA_7B.params, layers=32, hidden=4096, kv_width=4096, vocab=32000, weight_bytes=2, compute_bytes=2,
        adapter=adapter, optim="adamw_torch_fused", micro_batch=1, generation_batch=1, prompt_tokens=1024,
        completion_tokens=1024, checkpointing=True, reference=False, vllm_bytes=0, device="cuda",
    )  # fmt: skip
    assert sum(memory_parts(load).values()) / 1e9 == pytest.approx(19, rel=0.06)


def parts(raw: dict[str, Any], device: DeviceFacts = GPU) -> dict[str, int]:
    return {key: size for key, _, size in plan({"model": "Qwen/Qwen2.5-0.5B-Instruct", **raw}, device).memory}


def test_full_fine_tuning_is_16_bytes_a_parameter_in_float32() -> None:
    got, params = parts({}), 494_032_768
    assert got["weights"] == 4 * params
    assert got["gradients"] == 4 * params
    assert got["optimizer"] == 8 * params
    assert "reference" not in got
    assert "vllm" not in got


def test_pure_bfloat16_is_8_bytes_a_parameter() -> None:
    got, params = parts({"dtype": "bfloat16"}), 494_032_768
    assert got["weights"] + got["gradients"] + got["optimizer"] == 8 * params


def test_the_reference_only_with_kl_and_full_fine_tuning() -> None:
    assert parts({"beta": 0.1})["reference"] == 4 * 494_032_768
    assert "reference" not in parts({"beta": 0.1, "peft": "lora"})


def test_lora_trains_little() -> None:
    got = parts({"peft": "lora", "lora_r": 16, "lora_target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"]})
    adapter = 16 * 24 * ((896 + 896) * 2 + (896 + 128) * 2)
    assert got["gradients"] == 4 * adapter
    assert got["optimizer"] == 8 * adapter
    assert got["weights"] == 2 * 494_032_768 + 4 * adapter


def test_a_pattern_of_modules_counts_as_the_modules_it_means() -> None:
    named = parts({"peft": "lora", "lora_target_modules": ["q_proj", "v_proj"]})
    assert parts({"peft": "lora", "lora_target_modules": r".*\.(q|v)_proj"}) == named


def test_more_accumulation_and_smaller_batches_need_less() -> None:
    big = parts({"per_device_train_batch_size": 32})
    small = parts({"per_device_train_batch_size": 8, "gradient_accumulation_steps": 4})
    assert big["activations"] == 4 * small["activations"]
    assert big["kv_cache"] == small["kv_cache"], "one generation covers all of them"


def test_recomputed_activations_need_less() -> None:
    on, off = parts({"activation_checkpointing": True}), parts({"activation_checkpointing": False})
    assert on["activations"] < off["activations"] / 5


def test_colocated_vllm_takes_its_share() -> None:
    got = parts({"use_vllm": True})
    assert got["vllm"] == int(0.3 * GPU.total_bytes)
    assert "kv_cache" not in got


def test_memory_is_unknown_without_a_model_or_a_device() -> None:
    assert plan({"model": "someone/unheard-of"}, GPU).memory_total is None
    assert plan({}).memory_total is None
    assert plan({}, CPU).fits is True


def test_time_rough_measured_and_corrected() -> None:
    rough = plan({"max_steps": 50}, CPU)
    assert rough.seconds is not None
    assert rough.seconds_basis is not None
    assert "rough" in rough.seconds_basis.en
    longer = plan({"max_steps": 500}, CPU)
    assert longer.seconds is not None
    assert longer.seconds > 5 * rough.seconds
    measured = plan({"max_steps": 50}, CPU, step_seconds=2.0)
    assert measured.seconds == 100.0
    assert measured.seconds_basis is not None
    assert "measured" in measured.seconds_basis.en
    assert corrected_seconds(2, 4.0, 100) is None
    assert corrected_seconds(3, 6.0, 100) == 200.0


EVALUATIONS: list[tuple[dict[str, Any], int]] = [
    ({}, 0),
    ({"eval_on_start": True, "eval_strategy": "epoch", "num_train_epochs": 3, "max_steps": -1}, 4),
    ({"eval_strategy": "epoch"}, 3),  # 50 steps of 20 rows
    ({"eval_strategy": "steps"}, 50),  # as often as logging
    ({"eval_strategy": "steps", "logging_steps": 10}, 5),
    ({"eval_strategy": "steps", "eval_steps": 25}, 2),
    ({"eval_strategy": "steps", "eval_steps": 0.1}, 10),
]


@pytest.mark.parametrize(("raw", "want"), EVALUATIONS)
def test_the_evaluations_of_the_trainer_are_counted(raw: dict[str, Any], want: int) -> None:
    config = RunConfig(**{"dataset": "article-math", "max_steps": 50, **raw})
    steps = total_steps(config, 20)
    assert steps is not None
    assert trainer_evaluations(config, steps, 20) == want
    work = work_of(config, steps, 20)
    assert (work.sampled, work.sampled_batch) == (want * 5 * 8, 8)


def test_the_evaluations_of_the_trainer_take_time() -> None:
    base = {"max_steps": 50, "eval_size": 200}
    often = {**base, "eval_strategy": "steps"}
    without, seldom, always = (plan(raw, CPU).seconds for raw in (base, {**often, "eval_steps": 25}, often))
    assert without is not None
    assert seldom is not None
    assert always is not None
    assert always - without == pytest.approx(25 * (seldom - without))
    # 200 prompts of 8 completions, against one prompt a step
    assert always > 100 * without
    measured = plan({**often, "eval_steps": 25}, CPU, step_seconds=2.0).seconds
    assert measured is not None
    assert measured > 100.0


HARDWARE: list[tuple[DeviceFacts, dict[str, Any], tuple[bool, bool, bool, str, bool]]] = [
    (CPU, {}, (True, False, False, "float32", False)),
    (CPU, {"peft": "lora"}, (True, False, False, "float32", False)),
    (CPU, {"activation_checkpointing": True}, (True, False, False, "float32", True)),
    (GPU, {}, (False, True, False, "float32", True)),
    (GPU, {"peft": "lora"}, (False, True, False, "bfloat16", True)),
    (GPU, {"bf16": False}, (False, False, False, "float32", True)),
    (GPU, {"fp16": True}, (False, False, True, "float32", True)),
    (GPU, {"use_cpu": True}, (True, False, False, "float32", False)),
    (OLD_GPU, {"peft": "lora"}, (False, False, True, "float32", True)),
    (MPS, {"dtype": "bfloat16"}, (False, False, False, "float32", True)),
]


@pytest.mark.parametrize(("device", "raw", "want"), HARDWARE)
def test_what_is_left_open_follows_the_device(device: DeviceFacts, raw: dict[str, Any], want: tuple[Any, ...]) -> None:
    got = resolve(RunConfig(**raw), device)
    assert (got.use_cpu, got.bf16, got.fp16, got.dtype, got.activation_checkpointing) == want
