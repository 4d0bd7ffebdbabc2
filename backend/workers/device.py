"""The device that a run trains on, and how many threads a CPU should be given."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import psutil

from backend.estimate import DeviceFacts


def detect(use_cpu: bool | None) -> DeviceFacts:
    """The device transformers will choose: the first accelerator, unless `use_cpu` is True."""
    import torch

    memory = psutil.virtual_memory()
    cores = thread_count()
    if not use_cpu and torch.cuda.is_available():
        free, total = torch.cuda.mem_get_info()
        capable = torch.cuda.is_bf16_supported(including_emulation=False)
        return DeviceFacts("cuda", torch.cuda.get_device_name(), total, free, capable, cores)
    if not use_cpu and torch.backends.mps.is_available():
        total = torch.mps.recommended_max_memory()
        return DeviceFacts("mps", "MPS", total, total - torch.mps.driver_allocated_memory(), False, cores)
    return DeviceFacts("cpu", "CPU", memory.total, memory.available, False, cores)


def _quota() -> float | None:
    """The CPU quota of this container's cgroup in cores, None where there is none."""
    try:
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    return None if limit == "max" else int(limit) / int(period)


def thread_count() -> int:
    """Physical cores that this process may use: more threads than that only wait for each other."""
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    quota = _quota()
    return max(1, min(physical, allowed, int(quota) if quota and quota >= 1 else physical))


def prepare_environment() -> None:
    """Settings that must stand before torch and transformers are imported. What the user has set stays."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("OMP_NUM_THREADS", str(thread_count()))
    # Threads that spin while they wait fight with the browser and the server beside the worker: with other work on
    # both cores a step took seven times as long (docs/log.md).
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")


def quiet_libraries() -> None:
    """No progress bars in the log: they are hundreds of carriage returns, and the page shows progress itself.

    Nor a warning that is TRL's to mend: it asks for the deprecated name at every generation, and saving a checkpoint
    makes Python forget that it has warned already.
    """
    warnings.filterwarnings("ignore", "`is_gradient_checkpointing` is deprecated", FutureWarning)
    import datasets
    import transformers

    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()
