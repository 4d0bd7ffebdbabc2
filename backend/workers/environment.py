"""What a run was trained with, recorded at the start of each attempt: versions, device, memory, system.

Only what a reader needs to do it again. Never a host name, a path, a user's name or an environment variable: reports
and model cards are published.
"""

from __future__ import annotations

import platform
import tomllib
from importlib import metadata
from typing import Any

from backend import device as machine
from backend.estimate import DeviceFacts
from backend.settings import PROJECT
from backend.workers import checkpoints
from backend.workers.job import Job
from storage.reader import Reader

NAME, ROWS = "environment", "rows"
PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets", "tokenizers", "bitsandbytes", "vllm")


def facts(device: DeviceFacts) -> dict[str, Any]:
    """JSON: "grpo_studio" and "python" (versions), "packages" {name: version} of those installed, "device" {"kind",
    "name", "cores", "threads", "memory_bytes"}, "system" (such as "Linux x86_64"). `cores` are those this process may
    use, `threads` those that torch uses; the memory is the device's: a GPU's own, else the machine's."""
    import torch

    name = machine.processor() if device.kind == "cpu" else device.name
    return {
        "grpo_studio": studio_version(),
        "python": platform.python_version(),
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "device": {
            "kind": device.kind,
            "name": name,
            "cores": machine.cores(),
            "threads": torch.get_num_threads(),
            "memory_bytes": device.total_bytes,
        },
        "system": f"{platform.system()} {platform.machine()}",
    }


def studio_version() -> str | None:
    """This program's own version; None where it runs without its pyproject.toml."""
    try:
        return str(tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def record(job: Job) -> None:
    """Store the facts under the result "environment". A resumed run that goes on with other ones keeps the newest
    there, and an event says what changed, since its curves were made with both."""
    found = facts(job.device)
    before = Reader(job.db).results(job.run.id).get(NAME)
    changed = changes(before, found) if before else {}
    if changed:
        listed = ", ".join(f"{name} {old} -> {new}" for name, (old, new) in changed.items())
        job.writer.event("environment", f"this attempt runs with another environment: {listed}", "warn", changed)
    if found != before:
        job.writer.result(NAME, found)


def record_rows(job: Job) -> None:
    """Store under the result "rows" the SHA-256 of the two files that hold what this run trains on and is judged by:
    the state of a stored set tells nothing of a generated one, nor of the split."""
    folder = job.run_dir / "data"
    found = {f"{name}_sha256": checkpoints.digest(folder / f"{name}.jsonl") for name in ("train", "eval")}
    if Reader(job.db).results(job.run.id).get(ROWS) != found:
        job.writer.result(ROWS, found)


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[Any]]:
    """{name: [before, after]} of what differs, nested names dotted."""
    old, new = _flat(before), _flat(after)
    return {
        name: [old.get(name), new.get(name)]
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    }


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found
