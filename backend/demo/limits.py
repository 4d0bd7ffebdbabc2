"""What one visitor of a public Space may ask of the machine: every number in one place. Lengths of time in seconds."""

from __future__ import annotations

from typing import Any

SECONDS = 8 * 60  # of one training, from its start; then it is asked to save and stop
GRACE_S = 30  # and ended after so long
MEMORY_MB = 3072  # resident, of a training's processes together; the quickstart takes about 1 GB
NICE = 10
THREADS = 1
WAITING = 5  # runs in the queue, of all visitors together
STARTS_AN_HOUR = 40  # of all visitors together
KEPT = 20  # visitors' runs that have ended; the recorded ones are never removed
LOOK_S = 15 * 60  # that a run which trained is there after its end, with at most three times as many as are kept
CHATS_KEPT = 200  # conversations of all visitors together
BENCH_ROWS = 50
BENCH_TEXT = 4000  # characters of one text of the bench
BENCH_SQL_ROWS = 10  # where a query is run for each row
LIMIT_S = 1.0  # for one judgement that runs in a child
BENCH_GROUPS = 50  # groups of a replay
AUDIT_ROWS = 12
AT_ONCE = 2  # of all visitors together, one each, in four lines (services.LINES)
FILE_S = 60.0  # that a file of samples may take to be read to its end
WAITING_LOOKS = 4  # that may wait for one of two such places; the others are told to come again
PATIENCE_S = 10.0  # that one more of them waits for its turn


def to_json() -> dict[str, Any]:
    """The ones that a visitor meets."""
    return {
        "seconds": SECONDS,
        "waiting": WAITING,
        "runs_kept": KEPT,
        "steps": VALUES["max_steps"][1],
        "batch": VALUES["per_device_train_batch_size"][1],
        "completion": VALUES["max_completion_length"][1],
        "rows": BENCH_ROWS,
    }


# A setting of a run: (least, most). Those of other kinds stand in values.py; every other one keeps its default.
VALUES: dict[str, tuple[float, float]] = {
    "max_steps": (1, 150),
    "per_device_train_batch_size": (2, 64),
    "gradient_accumulation_steps": (1, 2),
    "steps_per_generation": (1, 2),
    "num_generations": (2, 16),
    "num_iterations": (1, 2),
    "max_completion_length": (1, 48),
    "eval_size": (0, 256),
    "evaluate_batch_size": (1, 128),
    "evaluate_steps": (10, 150),
    "evaluate_rows": (1, 256),
    "evaluate_share": (0.0, 0.25),
    "probe_prompts": (1, 32),
    "probe_completions": (2, 16),
    "save_steps": (25, 500),
    "save_total_limit": (1, 2),
    "logging_steps": (1, 10),
    "seed": (0, 2**32 - 1),
    "data_seed": (0, 2**32 - 1),
    "learning_rate": (0, 1),
    "warmup_steps": (0, 150),
    "weight_decay": (0, 10),
    "adam_beta1": (0, 1),
    "adam_beta2": (0, 1),
    "max_grad_norm": (0, 1000),
    "temperature": (0, 10),
    "top_p": (0, 1),
    "top_k": (0, 300),
    "min_p": (0, 1),
    "repetition_penalty": (0.1, 10),
    "epsilon": (0, 10),
    "epsilon_high": (0, 10),
    "delta": (0, 100),
    "top_entropy_quantile": (0, 1),
    "entropy_coef": (0, 10),
    "beta": (0, 10),
    "lora_r": (1, 64),
    "lora_alpha": (1, 256),
    "lora_dropout": (0, 1),
}
# Settings that choose among names of our own, or are on or off: none of them costs more or reads anything.
FREE = frozenset(
    {
        "scale_rewards", "multi_objective_aggregation", "lr_scheduler_type", "loss_type", "importance_sampling_level",
        "mask_truncated_completions", "shuffle_dataset", "shuffle_rewards", "evaluate_before", "evaluate_after",
        "keep_best", "use_rslora", "disable_dropout",
    }
)  # fmt: skip
PRESETS = ("quickstart",)
# Settings whose one or few values are allowed.
CHOICES: dict[str, tuple[Any, ...]] = {
    "model": ("embedded",),
    "dataset": ("arithmetic",),
    "stages": (["grpo"], ["probe"]),
    "peft": ("none", "lora"),
    "lora_target_modules": ("all-linear",),
    "save_strategy": ("steps", "no"),
}
DATASET_ARGS: dict[str, tuple[Any, ...] | tuple[int, int]] = {
    "digits": (1, 3),
    "rows": (1, 2000),
    "difficulty": ("easy", "medium", "hard"),
    "style": ("bare", "en", "ko"),
}
OPERATIONS = frozenset({"+", "-", "×", "*", "x", "add", "subtract", "multiply"})
# Built-in rewards that neither load a model nor run what a completion says.
TRAIN_REWARDS = (
    "accuracy", "exact", "math", "choice", "format", "json", "language", "length", "regex", "repetition",
)  # fmt: skip
SANDBOXED = ("sql",)  # on the bench only, and only where the machine has a sandbox; nobody's code is run
ARGS_TEXT = 4000  # characters of all arguments of the rewards together
PATTERN_TEXT = 200
