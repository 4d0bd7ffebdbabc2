"""What the machine has, without torch: the web server and the command line must not load it to know."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import psutil

from backend.estimate import DeviceFacts
from backend.settings import on_space

BF16_CAPABILITY = 8.0  # Ampere and later
QUERY = "name,memory.total,memory.free,compute_cap,utilization.gpu"
MIB = 1024 * 1024
DEVICES_VARIABLE = "GRPO_STUDIO_DEVICES"


def facts() -> DeviceFacts:
    """The device that a run started now would use: the first visible GPU that torch can drive, else the CPU."""
    gpu = _gpu() if torch_drives_cuda() else None
    if gpu is not None:
        return DeviceFacts("cuda", gpu["name"], gpu["total"], gpu["free"], gpu["bf16"], cores())
    total, free = memory()
    if sys.platform == "darwin" and platform.machine() == "arm64":
        return DeviceFacts("mps", "Apple GPU", total, free, False, cores())
    return DeviceFacts("cpu", processor(), total, free, False, cores())


def to_json() -> dict[str, Any]:
    """The facts for the page's header; `used_bytes` and `utilization` (0..1, or None where it cannot be read)."""
    found = facts()
    gpu = _gpu() if found.kind == "cuda" else None
    busy = gpu["utilization"] if gpu else psutil.cpu_percent() / 100
    return {
        "kind": found.kind,
        "name": found.name,
        "cores": found.cores,
        "total_bytes": found.total_bytes,
        "free_bytes": found.free_bytes,
        "used_bytes": found.total_bytes - found.free_bytes,
        "bf16": found.bf16,
        "utilization": busy,
    }


def claimable() -> tuple[str, ...]:
    """The devices that runs take one of each, by the names that CUDA_VISIBLE_DEVICES knows them by; one "" where there
    is no choice: a CPU, a single GPU, a public Space. GRPO_STUDIO_DEVICES=0,2 chooses among the GPUs."""
    chosen = os.environ.get(DEVICES_VARIABLE)
    if on_space():
        return ("",)
    if chosen is not None:
        return tuple(dict.fromkeys(name.strip() for name in chosen.split(",") if name.strip())) or ("",)
    return _gpu_names()


@lru_cache(maxsize=1)
def _gpu_names() -> tuple[str, ...]:
    """Asked for once: a machine does not grow GPUs, and the queue is looked at every few seconds."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        named = tuple(name.strip() for name in visible.split(",") if name.strip())
        return named if len(named) > 1 and torch_drives_cuda() else ("",)
    program = shutil.which("nvidia-smi")
    if program is None or not torch_drives_cuda():
        return ("",)
    try:
        answer = subprocess.run(
            [program, "--query-gpu=uuid", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ("",)
    found = tuple(line.strip() for line in answer.splitlines() if line.strip().startswith("GPU-"))
    return found if len(found) > 1 else ("",)


def cores() -> int:
    """The CPU cores that this process may use: affinity and the control group's quota."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _words(Path("/sys/fs/cgroup/cpu.max"))
    if len(quota) == 2 and quota[0].isdigit() and quota[1].isdigit():
        count = min(count, max(1, int(quota[0]) // int(quota[1])))
    return count


def memory() -> tuple[int, int]:
    """(total, free) bytes of main memory, within the control group's limit where there is one."""
    host = psutil.virtual_memory()
    total, free = host.total, host.available
    for limit, usage in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        most, used = _words(Path(limit)), _words(Path(usage))
        if most and most[0].isdigit() and used and used[0].isdigit() and int(most[0]) < total:
            total = int(most[0])
            free = max(0, min(free, total - int(used[0])))
    return total, free


@lru_cache(maxsize=1)
def processor() -> str:
    for line in _lines(Path("/proc/cpuinfo")):
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor() or platform.machine()


@lru_cache(maxsize=1)
def torch_drives_cuda() -> bool:
    """A GPU is of no use to a CPU build of torch. Its version says which it is, without loading it."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return False
    return "+cpu" not in version


def _gpu() -> dict[str, Any] | None:
    """The first visible GPU by nvidia-smi; None without one or without an answer within 5 s."""
    program = shutil.which("nvidia-smi")
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if program is None or visible == "":
        return None
    command = [program, f"--query-gpu={QUERY}", "--format=csv,noheader,nounits"]
    if visible:
        command.append(f"--id={visible.split(',')[0]}")
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_gpu(answer.stdout)


def parse_gpu(answer: str) -> dict[str, Any] | None:
    """The first line of nvidia-smi's answer; what a driver does not support reads "[N/A]"."""
    fields = [field.strip() for field in answer.strip().split("\n")[0].split(",")]
    if len(fields) != 5 or not (fields[1].isdigit() and fields[2].isdigit()):
        return None
    name, total, free, capability, busy = fields
    try:
        bf16 = float(capability) >= BF16_CAPABILITY
    except ValueError:
        bf16 = False
    utilization = int(busy) / 100 if busy.isdigit() else None
    return {"name": name, "total": int(total) * MIB, "free": int(free) * MIB, "bf16": bf16, "utilization": utilization}


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
