"""The settings of a run that was made elsewhere, as far as its files tell them. What they do not tell stays unset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.attaching.history import History
from backend.config.coerce import coerce

REWARD = re.compile(r"rewards/(.+)/mean")
LONGEST_MODEL = 1000
RESIDUAL = 1e-3  # of the logged reward: more, and the weights do not explain it


def reward_names(history: History, columns: Sequence[str]) -> tuple[str, ...]:
    """Those logged as rewards/NAME/mean, in the order of the columns of the completions, then of their names.

    Without a log: what stands after the completion is a reward, the advantage, or a column of log_extra."""
    logged = {match[1] for name in history.names() if (match := REWARD.fullmatch(name))}
    ordered = [name for name in columns if name in logged]
    if not logged and "completion" in columns:
        after = list(columns[columns.index("completion") + 1 :])
        return tuple(after[: after.index("advantage")] if "advantage" in after else after)
    return (*ordered, *sorted(logged - set(ordered)))


def reward_weights(history: History, names: Sequence[str]) -> tuple[tuple[float, ...], bool]:
    """(weights, whether the log bears them out): logged reward = sum of weight * mean over the functions.

    Least squares over the steps; all 1 where the log is too short or does not fit (a function that gives None).
    """
    ones = (1.0,) * len(names)
    total = dict(history.series("train", "reward"))
    parts = [dict(history.series("train", f"rewards/{name}/mean")) for name in names]
    steps = [step for step in total if all(step in part for part in parts)]
    if not names or len(steps) < len(names) + 1:
        return ones, False
    x = np.array([[part[step] for part in parts] for step in steps])
    y = np.array([total[step] for step in steps])
    keep = np.isfinite(x).all(axis=1) & np.isfinite(y)
    x, y = x[keep], y[keep]
    if len(y) < len(names) + 1:
        return ones, False
    if _fits(x, y, np.ones(len(names))):
        return ones, True
    found, _, rank, _ = np.linalg.lstsq(x, y, rcond=None)
    if rank < len(names) or not _fits(x, y, found):
        return ones, False
    return tuple(round(float(w), 4) for w in found), True


def _fits(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> bool:
    return bool(np.abs(x @ weights - y).max() <= RESIDUAL * max(1.0, float(np.abs(y).max())))


def settings(
    state: Mapping[str, Any], adapter: Mapping[str, Any], history: History, names: Sequence[str], group_size: int | None
) -> dict[str, Any]:
    """Fields of RunConfig that trainer_state.json, adapter_config.json and the log tell."""
    found: dict[str, Any] = {"stages": ["grpo"], "evaluate_before": False, "evaluate_after": False, "eval_size": 0}
    weights, _ = reward_weights(history, names)
    found |= {"rewards": list(names), "reward_weights": list(weights)}
    for field, key in (
        ("max_steps", "max_steps"),
        ("per_device_train_batch_size", "train_batch_size"),
        ("logging_steps", "logging_steps"),
        ("save_steps", "save_steps"),
        ("num_train_epochs", "num_train_epochs"),
    ):
        found |= _told(field, state.get(key))
    if adapter:
        found["peft"] = "lora"
        for field, key in (("lora_r", "r"), ("lora_alpha", "lora_alpha"), ("lora_dropout", "lora_dropout")):
            found |= _told(field, adapter.get(key))
        model = adapter.get("base_model_name_or_path")
        found |= _told("model", model) if isinstance(model, str) and len(model) <= LONGEST_MODEL else {}
    rates = [value for _, value in history.series("train", "learning_rate") if np.isfinite(value)]
    if rates:
        found |= _told("learning_rate", max(rates))
    if group_size:
        found["num_generations"] = group_size
    return found


def _told(field: str, value: Any) -> dict[str, Any]:
    """The field with what a file says of it, nothing where that is no value for it: files are not always as written."""
    if value is None:
        return {}
    known, problem = coerce(field, value)
    return {} if problem else {field: known}
