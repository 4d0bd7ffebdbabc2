"""RunConfig against the pinned TRL, transformers and PEFT: every name exists there, every default is theirs or
listed here with a reason, and every GRPOConfig field that we do not offer is listed with a reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from backend.config import FIELDS, SETTINGS
from backend.config.fields import default_of
from backend.config.form import trl_name
from backend.config.legacy_names import DROPPED, IGNORED_WHEN_OFF, REFUSED, RENAMED

READ = """
import dataclasses, inspect, json, sys
import trl
from trl import GRPOConfig, ModelConfig, ScriptArguments, SFTConfig
from peft import LoraConfig
from transformers import BitsAndBytesConfig
from transformers.trainer_utils import SchedulerType
from transformers.training_args import OptimizerNames

def plain(value):
    return value.value if hasattr(value, "value") else value

def fields(cls):
    out = {}
    for f in dataclasses.fields(cls):
        if f.default is not dataclasses.MISSING:
            out[f.name] = plain(f.default)
        elif f.default_factory is not dataclasses.MISSING:
            out[f.name] = plain(f.default_factory())
        else:
            out[f.name] = None
    return out

found = {
    "schedulers": [m.value for m in SchedulerType], "optimizers": [m.value for m in OptimizerNames]
} | {c.__name__: fields(c) for c in (GRPOConfig, ModelConfig, ScriptArguments, SFTConfig, LoraConfig)}
found["BitsAndBytesConfig"] = {
    p.name: plain(p.default) for p in inspect.signature(BitsAndBytesConfig.__init__).parameters.values()
}
found["version"] = trl.__version__
json.dump(found, sys.stdout, default=str)
"""

# Defaults that differ from the library's on purpose.
DIFFERENT: dict[str, str] = {
    "name": "run_name is made by the studio when empty",
    "logging_steps": "1 instead of 10: the page draws every step",
    "logging_nan_inf_filter": "off: a NaN loss must be seen (notes/trl.md 2)",
    "report_to": "an empty list is TRL's 'none'",
    "use_cpu": "None: by the device",
    "model": "the embedded model, so that a first run needs no network",
    "dataset": "the generated set, for the same reason",
    "model_revision": "None is their main",
    "max_completion_length": "256 instead of 512: the embedded model reads 512 tokens, the prompt's included",
    "dtype": "auto is decided by peft and the device; ModelConfig's is float32",
    "peft": "none is their False",
    "lora_r": "16, as in TRL's ModelConfig; PEFT's own is 8",
    "lora_alpha": "32, as in TRL's ModelConfig; PEFT's own is 8",
    "lora_target_modules": "all-linear: PEFT's None fails on architectures it does not know",
    "load_in_4bit": "None: on exactly with qlora",
    "bnb_4bit_quant_type": "nf4, as in TRL's ModelConfig and the QLoRA paper; transformers' own is fp4",
    "bnb_4bit_use_double_quant": "on, as in the QLoRA paper",
    "bnb_4bit_compute_dtype": "auto: by the device",
    "sft_num_train_epochs": "1 instead of 3: a warm-up, not a training",
    "sft_completion_only_loss": "on: our rows always have a completion, and only it is to be imitated",
    "sft_logging_steps": "1 instead of 10: the page draws every step",
}  # fmt: skip

# GRPOConfig fields that a run does not offer.
NOT_OURS: dict[str, str] = dict.fromkeys(
    ["output_dir", "overwrite_output_dir", "remove_unused_columns", "disable_tqdm", "do_train", "do_eval", "do_predict",
     "resume_from_checkpoint", "local_rank", "log_level", "log_level_replica", "log_on_each_node",
     "save_on_each_node", "dataloader_pin_memory", "enable_jit_checkpoint"],
    "the worker sets it",
) | dict.fromkeys(
    ["push_to_hub", "hub_token", "hub_private_repo", "hub_model_id", "hub_strategy", "hub_always_push", "hub_revision",
     "project", "trackio_space_id", "trackio_bucket_id", "trackio_static_space_id"],
    "models and measures stay on this machine",
) | dict.fromkeys(
    ["fsdp", "fsdp_config", "deepspeed", "parallelism_config", "accelerator_config", "ddp_find_unused_parameters",
     "ddp_bucket_cap_mb", "ddp_broadcast_buffers", "ddp_static_graph", "ddp_backend", "ddp_timeout",
     "average_tokens_across_devices"],
    "a run is one process on one device",
) | dict.fromkeys(
    ["gradient_checkpointing", "gradient_checkpointing_kwargs", "use_transformers_paged",
     "vllm_importance_sampling_cap"],
    "deprecated: the old name is carried over",
) | dict.fromkeys(
    ["label_smoothing_factor", "label_names", "prediction_loss_only", "include_for_metrics", "batch_eval_metrics",
     "eval_do_concat_batches", "eval_use_gather_object", "eval_accumulation_steps", "include_num_input_tokens_seen",
     "train_sampling_strategy", "length_column_name", "neftune_noise_alpha", "use_cache"],
    "has no effect in GRPOTrainer",
) | dict.fromkeys(
    ["bf16_full_eval", "fp16_full_eval", "torch_compile_backend", "torch_compile_mode", "optim_args",
     "optim_target_modules", "debug", "skip_memory_metrics", "dataloader_persistent_workers",
     "dataloader_prefetch_factor", "dataloader_multiprocessing_context", "dataloader_in_order", "ignore_data_skip",
     "restore_callback_states_from_checkpoint"],
    "for rare cases; left at the library's default",
) | {
    "auto_find_batch_size": "GRPO refuses it",
    "use_liger_kernel": "deprecated in TRL: model_init_kwargs use_kernels",
    "liger_kernel_config": "deprecated in TRL: model_init_kwargs use_kernels",
    "run_name": "the run's name",
}  # fmt: skip


@pytest.fixture(scope="module")
def libraries() -> dict[str, Any]:
    """The fields of the libraries' classes with their defaults, read in a process of its own (it loads torch)."""
    done = subprocess.run(
        [sys.executable, "-c", READ], capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def places() -> list[tuple[str, str, str]]:
    """(our field, class, its field) of every setting that is passed on."""
    found = [(name, *where.split(".")) for name in FIELDS if (where := trl_name(name))]
    return [(name, cls, theirs) for name, cls, theirs in found]


def test_the_pinned_version(libraries: dict[str, Any]) -> None:
    assert libraries["version"] == "1.16.0"


def test_every_setting_exists_where_it_is_said_to_go(libraries: dict[str, Any]) -> None:
    assert [p for p in places() if p[2] not in libraries[p[1]]] == []


def test_every_default_is_theirs_or_has_a_reason(libraries: dict[str, Any]) -> None:
    unlike = {}
    for name, cls, theirs in places():
        ours, other = default_of(FIELDS[name]), libraries[cls][theirs]
        if ours != other and name not in DIFFERENT:
            unlike[name] = (ours, other)
    assert unlike == {}


def test_no_reason_is_stale(libraries: dict[str, Any]) -> None:
    """A reason stands only for a default that really differs."""
    unlike = {name for name, cls, theirs in places() if default_of(FIELDS[name]) != libraries[cls][theirs]}
    assert set(DIFFERENT) - unlike == set()


def test_every_grpo_field_is_ours_or_has_a_reason(libraries: dict[str, Any]) -> None:
    ours = {theirs for _, cls, theirs in places() if cls == "GRPOConfig"}
    theirs = set(libraries["GRPOConfig"])
    assert theirs - ours - set(NOT_OURS) == set()
    assert ours & set(NOT_OURS) <= {"run_name"}


def test_old_names_are_gone_from_grpo_config_or_deprecated(libraries: dict[str, Any]) -> None:
    """A name in the old-name tables that GRPOConfig still takes must be one that we leave out on purpose."""
    still = set(libraries["GRPOConfig"]) & ({*RENAMED, *DROPPED, *REFUSED, *IGNORED_WHEN_OFF})
    assert still <= set(NOT_OURS)


def test_choices_are_theirs(libraries: dict[str, Any]) -> None:
    """Each name offered for scheduler and optimizer is one that transformers knows."""
    from backend.config.kinds import kind_of

    assert set(kind_of("lr_scheduler_type").choices) == set(libraries["schedulers"])
    assert set(kind_of("optim").choices) <= set(libraries["optimizers"])


def test_every_setting_has_words_in_both_languages() -> None:
    for name, meta in SETTINGS.items():
        for text in (meta.label, meta.help):
            assert text.en.strip(), name
            assert text.ko.strip(), name
