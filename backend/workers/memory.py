"""Memory as metrics, and out of memory in words."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Any

import psutil

log = logging.getLogger(__name__)
GB = 1e9


class MemoryMeter:
    """Reads this process's and its device's memory; a few dozen microseconds a call. Gigabytes are 1e9 bytes."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._process = psutil.Process()
        self._use_known = True

    def read(self) -> dict[str, float]:
        """`memory/...` metrics. What the device does not tell is absent."""
        values = {"memory/process_gb": self._process.memory_info().rss / GB}
        if self._kind == "cuda":
            import torch

            free, total = torch.cuda.mem_get_info()
            values |= {
                "memory/device_allocated_gb": torch.cuda.memory_allocated() / GB,
                "memory/device_reserved_gb": torch.cuda.memory_reserved() / GB,
                "memory/device_peak_gb": torch.cuda.max_memory_allocated() / GB,
                "memory/device_used_pct": 100 * (total - free) / total,
            }
            use = self._device_use()
            if use is not None:
                values["device/use_pct"] = use
        elif self._kind == "mps":
            import torch

            values |= {
                "memory/device_allocated_gb": torch.mps.current_allocated_memory() / GB,
                "memory/device_reserved_gb": torch.mps.driver_allocated_memory() / GB,
            }
        return values

    def _device_use(self) -> float | None:
        """Percent of the driver's last sample period in which a kernel ran; None where the driver does not tell."""
        if not self._use_known:
            return None
        import torch

        try:
            return float(torch.cuda.utilization())
        except Exception as error:  # nvidia-ml-py is missing or raises a type of its own: MIG, a container, the driver
            log.info("how busy the device is cannot be read: %s", error)
            self._use_known = False
            return None


_OOM_WORDS = re.compile(r"out of memory|can't allocate memory|cannot allocate memory|not enough memory", re.IGNORECASE)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` says that a device or the machine had no memory left."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and bool(_OOM_WORDS.search(str(error)))


# Where memory runs out -> the part that is usually largest there. The plan's own figures are taken where there are.
USUAL_PART = {
    "generation": ("kv_cache", "the KV cache of the completions being sampled"),
    "update": ("activations", "the activations kept for the backward pass"),
    "sft": ("activations", "the activations kept for the backward pass"),
    "reward": ("reward", "what the reward functions hold"),
    "evaluation": ("kv_cache", "the KV cache of the evaluation batch"),
    "evaluate_before": ("kv_cache", "the KV cache of the evaluation batch"),
    "evaluate_during": ("kv_cache", "the KV cache of the evaluation batch"),
    "evaluate_fresh": ("kv_cache", "the KV cache of the evaluation batch"),
    "evaluate_after": ("kv_cache", "the KV cache of the evaluation batch"),
    "load": ("weights", "the model's weights"),
}
# Parts that matter in a phase, among the keys of a plan; any part where a phase is not named here.
_PARTS_OF = {
    "generation": {"kv_cache", "kv", "weights", "vllm"},
    "load": {"weights", "reference", "vllm"},
    "evaluate_before": {"kv_cache", "kv", "weights"},
    "evaluate_during": {"kv_cache", "kv", "weights", "optimizer"},
    "evaluate_fresh": {"kv_cache", "kv", "weights", "optimizer"},
    "evaluate_after": {"kv_cache", "kv", "weights", "optimizer"},
}


@dataclass(frozen=True, slots=True)
class MemoryFailure:
    """What ran out: `part` in words with its size where known, `change` the settings to try, field -> value."""

    phase: str
    part: str
    change: dict[str, Any]

    def __str__(self) -> str:
        tried = ", ".join(f"{name}={value}" for name, value in self.change.items())
        advice = f"Set {tried}." if tried else "Take a smaller model, or a device with more memory."
        return f"Out of memory during {self.phase}. The largest part there is {self.part}. {advice}"


def _halved(value: int) -> int:
    return max(1, value // 2)


def changes(config: Any, phase: str) -> list[dict[str, Any]]:
    """Settings that need less memory in `phase`, the mildest first: what is learned should stay the same.

    Halving the micro-batch and doubling the accumulation keeps the prompts and completions of a step.
    """
    found: list[dict[str, Any]] = []
    batch, accumulation = config.per_device_train_batch_size, config.gradient_accumulation_steps
    split = {"per_device_train_batch_size": _halved(batch), "gradient_accumulation_steps": accumulation * 2}
    if config.steps_per_generation:
        split["steps_per_generation"] = config.steps_per_generation * 2
    cheaper_adapter = {"peft": "qlora"} if config.peft == "lora" else {"peft": "lora"}
    shorter = {"max_completion_length": max(16, config.max_completion_length // 2)}
    if phase.startswith("evaluat"):
        if phase == "evaluation":
            found.append({"per_device_eval_batch_size": _halved(config.per_device_eval_batch_size)})
        else:
            found.append({"evaluate_batch_size": _halved(config.evaluate_batch_size)})
    elif phase == "generation":
        found += [shorter, {"num_generations": max(2, _halved(config.num_generations))}]
    elif phase in ("sft", "build"):
        found.append(
            {
                "sft_per_device_train_batch_size": _halved(config.sft_per_device_train_batch_size),
                "sft_gradient_accumulation_steps": config.sft_gradient_accumulation_steps * 2,
            }
        )
    elif phase != "load":
        if config.activation_checkpointing is False:
            found.append({"activation_checkpointing": True})
        if batch > 1:
            found.append(split)
        found.append(shorter)
    if config.peft != "qlora":
        found.append(cheaper_adapter)
    return found


def explain(config: Any, phase: str, parts: list[tuple[str, str, int]], fits: Any = None) -> MemoryFailure:
    """The failure in words. `parts`: (key, words, bytes) of the plan's estimate, empty where there is none.

    `fits(change)` tells whether the plan of the changed configuration fits the device; the first change for which
    it does is proposed, the mildest one where nothing can be told.
    """
    wanted = _PARTS_OF.get(phase)
    concerned = [p for p in parts if wanted is None or p[0] in wanted] or parts
    if concerned:
        key_words_bytes = max(concerned, key=lambda p: p[2])
        part = f"{key_words_bytes[1]} (about {key_words_bytes[2] / GB:.1f} GB)"
    else:
        part = USUAL_PART.get(phase, ("", "not known"))[1]
    candidates = changes(config, phase)
    chosen = next((c for c in candidates if fits is not None and fits(c)), candidates[0] if candidates else {})
    return MemoryFailure(phase, part, chosen)
