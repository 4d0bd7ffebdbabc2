"""Each rule between fields: what breaks it, that its suggestions mend it, and that it reads only what it says."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest

from backend.config import SETTINGS, RunConfig, as_change, check
from backend.config.rules import base
from backend.config.rules.base import RULES, Facts
from backend.config.surroundings import model_facts
from backend.estimate import DeviceFacts
from backend.workers.trl_adapter import aligned_save_steps

CPU = DeviceFacts("cpu", "test CPU", 16 << 30, 8 << 30, False, 2)
OLD_GPU = DeviceFacts("cuda", "Tesla T4", 16 << 30, 15 << 30, False, 4)
GPU = DeviceFacts("cuda", "NVIDIA A100", 80 << 30, 79 << 30, True, 8)
MPS = DeviceFacts("mps", "Apple GPU", 16 << 30, 8 << 30, False, 8)

VLLM = {"use_vllm": True}
BEST = {"load_best_model_at_end": True, "eval_strategy": "steps"}
UNBOUNDED = {"vllm_importance_sampling_clip_max": None}

DATA = tempfile.mkdtemp()
_ROWS = [(f"{n}+{n}", str(2 * n)) for n in range(12)]
for _name, _keys in (("questions", ("question", "answer")), ("answers", ("prompt", "answer"))):
    Path(DATA, f"{_name}.jsonl").write_text("\n".join(json.dumps(dict(zip(_keys, r, strict=True))) for r in _ROWS))

BROKEN: list[tuple[str, dict[str, Any], DeviceFacts | None]] = [
    ("both_set", {"generation_batch_size": 16, "steps_per_generation": 2}, None),
    ("generation_batch", {"generation_batch_size": 24, "per_device_train_batch_size": 16}, None),
    ("whole_groups", {"generation_batch_size": 12, "per_device_train_batch_size": 4}, None),
    ("no_rewards", {"rewards": []}, None),
    ("unknown_reward", {"rewards": ["acuracy"]}, None),
    ("same_reward", {"rewards": ["format", "format"]}, None),
    ("weights_length", {"reward_weights": [1, 2, 3]}, None),
    ("weights_zero", {"reward_weights": [0, 0]}, None),
    ("reward_args_nobody", {"reward_args": {"nobody": {}}}, None),
    ("reward_args_accuracy", {"reward_args": {"accuracy": {"no_such_argument": 1}}}, None),
    ("stages", {"stages": ["grpo", "sft"]}, None),
    ("evaluation_n", {"stages": ["evaluate"], "evaluation": {"n": 0}}, None),
    ("max_steps", {"max_steps": 0}, None),
    ("schedule_evaluation", {"lr_scheduler_type": "reduce_lr_on_plateau"}, None),
    ("schedule_evaluation", {"lr_scheduler_type": "greedy"}, None),
    ("schedule_arguments", {"lr_scheduler_type": "cosine_with_min_lr"}, None),
    ("schedule_arguments", {"lr_scheduler_type": "warmup_stable_decay"}, None),
    ("no_eval_rows", {"eval_strategy": "epoch", "eval_size": 0}, None),
    ("eval_steps_whole", {"eval_strategy": "steps", "eval_steps": 2.5}, None),
    ("save_steps_whole", {"save_steps": 1.5}, None),
    ("logging_steps_whole", {"logging_steps": 3.5}, None),
    ("best_strategies", {"load_best_model_at_end": True}, None),
    ("best_multiple", {**BEST, "eval_steps": 30, "save_steps": 50}, None),
    ("best_multiple", {**BEST, "eval_steps": 0.1, "save_steps": 50}, None),
    ("best_save", {"save_strategy": "best", "metric_for_best_model": "eval_reward"}, None),
    ("best_metric", {"save_strategy": "best", "eval_strategy": "steps"}, None),
    ("eval_on_start", {"eval_on_start": True}, None),
    ("unknown_metric", {**BEST, "metric_for_best_model": "accuracy"}, None),
    ("unknown_metric", {"eval_strategy": "epoch", "metric_for_best_model": "foo"}, None),
    ("delta_below_one", {"delta": 0.5}, None),
    ("best_multiple", {**BEST, "eval_steps": 1.5}, None),
    ("hub_repo", {"log_completions_hub_repo": "me/them"}, None),
    ("lora_target_modules_head", {"peft": "lora", "lora_target_modules": ["q_proj", "lm_head"]}, None),
    ("lora_modules_to_save_head", {"peft": "lora", "lora_modules_to_save": ["lm_head"]}, None),
    ("lora_target_modules_head", {"peft": "lora", "lora_target_modules": ".*head"}, None),
    ("modules_pattern", {"peft": "lora", "lora_target_modules": ".*("}, None),
    ("no_modules", {"peft": "lora", "lora_target_modules": []}, None),
    ("quantised_training", {"load_in_4bit": True}, None),
    ("quantised_training", {"load_in_8bit": True, "peft": "lora"}, None),
    ("two_quantisations", {"peft": "qlora", "load_in_4bit": True, "load_in_8bit": True}, None),
    ("nothing_quantised", {"peft": "qlora", "load_in_4bit": False}, None),
    ("quantised_twice", {"peft": "qlora", "model_init_kwargs": {"quantization_config": {}}}, None),
    ("sync_kl", {"sync_ref_model": True}, None),
    ("sync_peft", {"sync_ref_model": True, "beta": 0.1, "peft": "lora"}, None),
    ("entropy_range", {"use_adaptive_entropy": True, "entropy_coef_min": 2.0}, None),
    ("sampling_only", {"generation_kwargs": {"do_sample": False}}, None),
    ("sampling_only", {"generation_kwargs": {"num_beams": 4, "penalty_alpha": 0.6}}, None),
    ("sampling_only", {"generation_kwargs": {"temperature": 0}}, None),
    ("sampling_only", {"generation_kwargs": {"top_p": 0}}, None),
    ("vespo_mode", {**VLLM, "loss_type": "vespo"}, GPU),
    ("clip_order", {"vllm_importance_sampling_clip_min": 3.0}, None),
    ("truncate_clip", {"vllm_importance_sampling_mode": "token_truncate", **UNBOUNDED}, None),
    ("tensor_parallel", {**VLLM, "vllm_tensor_parallel_size": 2}, GPU),
    ("vllm_context", {**VLLM, "vllm_max_model_length": 256}, GPU),
    ("context", {"max_completion_length": 512}, None),
    ("context", {"max_completion_length": 100_000, "model": "smollm2-135m"}, None),
    ("vllm_device", VLLM, CPU),
    ("vllm_device", VLLM, MPS),
    ("vllm_device", {**VLLM, "use_cpu": True}, GPU),
    ("pattern", {"vllm_structured_outputs_regex": "("}, None),
    ("cpu_only", {"use_cpu": False}, CPU),
    ("two_precisions", {"bf16": True, "fp16": True}, None),
    ("no_bf16", {"bf16": True}, OLD_GPU),
    ("fp16_device", {"fp16": True}, CPU),
    ("fp16_device", {"fp16": True}, MPS),
    ("float16_full", {"dtype": "float16"}, None),
    ("no_tf32", {"tf32": True}, CPU),
    ("no_tf32", {"tf32": True}, OLD_GPU),
    ("model", {"model": "/nonexistent/dir"}, None),
    ("model", {"model": "no-such"}, None),
    ("model", {"model": DATA}, None),
    ("no_experts", {"router_aux_loss_coef": 0.1}, None),
    ("no_experts", {"router_aux_loss_coef": 0.1, "model": "Qwen/Qwen2.5-0.5B-Instruct"}, None),
    ("reporter", {"report_to": ["foo"]}, None),
    ("webhook", {"alert_webhook": "ftp://example.org/x"}, None),
    ("attached", {"attached": "/elsewhere/out"}, None),
    ("reporter", {"report_to": ["wandb", "foo"]}, None),
    ("dataset", {"dataset": "arithmetik"}, None),
    ("dataset", {"dataset": "/no/such/file.jsonl"}, None),
    ("dataset_args", {"dataset_args": {"digits": 99}}, None),
    ("no_rows", {"dataset_args": {"digits": 1}}, None),
    ("rows", {"dataset": f"{DATA}/questions.jsonl"}, None),
    ("held_out", {"dataset": f"{DATA}/answers.jsonl"}, None),
    ("column_accuracy_ground_truth", {"dataset": f"{DATA}/answers.jsonl", "eval_size": 2}, None),
    ("model_args", {"model_args": {"no_such": 1}}, None),
    ("sft_args", {"stages": ["sft", "grpo"], "sft_args": {"carry_error": 7}}, None),
    ("sft_rows", {"stages": ["sft", "grpo"], "dataset": "article-math", "per_device_train_batch_size": 8}, None),
]  # fmt: skip


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """vLLM and bitsandbytes count as installed, whatever this machine has."""
    monkeypatch.setattr(base.importlib.util, "find_spec", lambda name: object())


@pytest.mark.parametrize(("code", "raw", "device"), BROKEN, ids=[f"{i}-{b[0]}" for i, b in enumerate(BROKEN)])
def test_rule(code: str, raw: dict[str, Any], device: DeviceFacts | None) -> None:
    answer = check(raw, device=device)
    problems = [p for p in answer.errors if p.code == code]
    assert problems, [(p.code, p.rule.en) for p in answer.errors]
    problem = problems[0]
    assert problem.rule.en
    assert problem.rule.ko
    assert problem.field in RunConfig.model_fields
    assert problem.suggest, "nothing that would do"
    for suggestion in problem.suggest:
        name, value = as_change(problem, suggestion)
        after = check({**raw, name: value}, device=device)
        assert (code, problem.field) not in {(p.code, p.field) for p in after.errors}, (name, value)


@pytest.mark.parametrize(("package", "raw", "code"), [
    ("vllm", VLLM, "vllm_package"),
    ("bitsandbytes", {"peft": "qlora"}, "quantiser_package"),
    ("bitsandbytes", {"optim": "adamw_8bit"}, "optimizer_package"),
    ("torchao", {"optim": "adamw_torch_8bit"}, "optimizer_package"),
    ("tensorboard", {"report_to": "tensorboard"}, "reporter"),
    ("wandb", {"report_to": ["wandb"]}, "reporter"),
    ("kernels", {"model_init_kwargs": {"use_kernels": True}}, "kernels_package"),
    ("flash_attn", {"attn_implementation": "flash_attention_2"}, "attention_package"),
])  # fmt: skip
def test_what_is_not_installed(monkeypatch: pytest.MonkeyPatch, package: str, raw: dict[str, Any], code: str) -> None:
    monkeypatch.setattr(base.importlib.util, "find_spec", lambda name: None)
    problems = [p for p in check(raw, device=GPU).errors if p.code == code]
    assert problems
    assert package in problems[0].rule.en
    assert problems[0].suggest


def test_the_best_is_saved_at_evaluations_in_the_worker_too() -> None:
    """The worker rounds save_steps up to whole generation cycles; transformers then wants a multiple of eval_steps, or
    of logging_steps where that is empty."""
    for logging, save, evaluate, cycle in itertools.product((1, 3, 4), (4, 6, 12), (None, 2, 4), (1, 3, 4)):
        raw = {**BEST, "logging_steps": logging, "save_steps": save, "eval_steps": evaluate,
               "steps_per_generation": cycle}  # fmt: skip
        answer = check(raw)
        if answer.ok and answer.config is not None:
            saved = aligned_save_steps(answer.config)
            assert saved % (evaluate or logging) == 0, raw
            said = [n.text.en for n in answer.notes if n.code == "save_cycle"]
            assert all(f"every {saved} steps" in text for text in said)
            assert bool(said) == (saved != save), raw


@pytest.mark.parametrize("name", ["eval_reward", "reward", "loss", "eval_rewards/accuracy/mean", "eval_entropy"])
def test_the_measures_of_an_evaluation_are_taken(name: str) -> None:
    assert check({**BEST, "eval_steps": 10, "save_steps": 50, "metric_for_best_model": name}).ok
    assert "eval_rewards/accuracy/mean" in check({**BEST, "metric_for_best_model": "accuracy"}).errors[0].suggest


def test_weights_are_counted_in_words() -> None:
    assert [p.code for p in check({"rewards": [], "reward_weights": [1.0]}).errors] == ["no_rewards"]
    (problem,) = check({"rewards": ["accuracy"], "reward_weights": [1.0, 0.2]}).errors
    assert problem.rule.en == "must hold one number, for accuracy"


def test_the_defaults_fit_each_other() -> None:
    """With TRL's 512 every prompt would be left out before the embedded model's 512 tokens, and the run would fail."""
    answer = check({}, device=CPU)
    assert answer.ok
    assert answer.config is not None
    facts = model_facts(answer.config, None)
    assert facts is not None
    assert facts.context is not None
    assert answer.config.max_completion_length <= facts.context // 2


def test_models_and_reporters_that_are_there_are_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    for model in ("embedded", "smollm2-135m", "org/name", str(tmp_path)):
        assert check({"model": model}).ok
    for reporters in ("none", "all", ["tensorboard", "wandb"]):
        assert check({"report_to": reporters}).ok
    assert "does not know foo" in check({"report_to": ["wandb", "foo"]}).errors[0].rule.en
    assert check({"model": "someone/mixture", "router_aux_loss_coef": 0.1}).ok
    assert "smollm2-135m" in check({"model": "smollm2-135"}).errors[0].suggest


def test_every_rule_is_exercised() -> None:
    """A rule without a case here could be wrong for ever."""
    spoken: set[int] = set()
    for _, raw, device in [*BROKEN, ("", {"dataset": "article-math", "gradient_accumulation_steps": 64}, None)]:
        config = check(raw, device=device).config or RunConfig()
        for index, one in enumerate(RULES):
            if list(one.find(config, Facts(device, 20, model_facts(config, None)))):
                spoken.add(index)
    config = RunConfig(num_generations=8, per_device_eval_batch_size=1, eval_strategy="steps")
    spoken |= {i for i, one in enumerate(RULES) if list(one.find(config, Facts()))}
    silent = {RULES[i].find.__name__ for i in set(range(len(RULES))) - spoken}
    elsewhere = {"known_versions", "sandbox_for_rewards", "columns_for_custom"}  # test_custom_config.py
    installed = {"quantiser_installed", "optimizer_installed", "kernels_installed", "attention_installed"}
    assert silent <= installed | elsewhere, silent


class Watched:
    """A configuration that remembers which of its fields were read."""

    def __init__(self, config: RunConfig) -> None:
        self.config, self.read = config, set[str]()

    def __getattr__(self, name: str) -> Any:
        if name in SETTINGS:
            self.read.add(name)
        return getattr(self.config, name)


# Where another module is asked as a whole, it is handed the configuration itself.
ASKS_OTHERS = {"known_dataset", "known_arguments", "known_model", "known_model_arguments", "rows_to_imitate",
               "rows_to_train", "rows_to_hold_out", "columns_for_rewards"}  # fmt: skip


def test_a_rule_reads_only_the_fields_it_names() -> None:
    """The fields say when a rule is asked again, so a forgotten one would let a bad suggestion through."""
    rng = random.Random(7)
    raws = [raw for _, raw, _ in BROKEN]
    for _ in range(400):
        mixed: dict[str, Any] = {}
        for raw in rng.sample(raws, 4):
            mixed |= raw
        config = check(mixed).config
        if config is None:
            continue
        for one in RULES:
            if one.find.__name__ in ASKS_OTHERS:
                continue
            watched = Watched(config)
            list(one.find(watched, Facts(rng.choice([CPU, GPU, OLD_GPU, MPS]), rng.choice([None, 5]), None)))  # pyright: ignore[reportArgumentType]
            assert watched.read <= one.fields, (one.find.__name__, watched.read - one.fields)


def test_a_rule_is_not_asked_about_a_value_nobody_could_read() -> None:
    errors = check({"num_generations": "many", "per_device_train_batch_size": 7}).errors
    assert [p.field for p in errors] == ["num_generations"]
