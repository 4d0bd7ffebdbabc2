"""What a side means: which files the process must load for it, and which sides there are to choose from."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from backend import device, models
from backend.chat.limits import require_model
from backend.chat.request import SideName
from backend.config.schema import RunConfig
from backend.errors import NotFound, Refused, StudioError
from backend.estimate import DeviceFacts
from backend.models.facts import ModelFacts
from backend.settings import Settings
from backend.text import Text
from backend.workers import checkpoints, trl_adapter
from storage.reader import Reader
from storage.records import Run

# What a spec says beside which files are loaded and how. The base of a run is a side of that run alone, since it is
# compared with what that run began from.
ABOUT = ("name", "checkpoint", "run", "template_kwargs")


@dataclass(frozen=True, slots=True)
class Spec:
    """The files of one side. `folder`: with the run's own weights and their manifest, None for a base or a named model;
    `adapter`: `folder` holds an adapter for `base`, else a whole model. `manifest`: the hash of the manifest, so that
    a folder that is written again is another side. `base_manifest`: of a base that the run itself made (its warm-up);
    `base_files`: names, sizes and times of a base's files where it is a folder, for the same reason.
    """

    name: str  # of the model, for people
    checkpoint: str  # "base", "final" ..., "" for a named model
    run: str
    base: str  # a folder or a hub name
    run_dir: str = ""
    base_manifest: str = ""
    base_files: str = ""
    folder: str = ""
    manifest: str = ""
    adapter: bool = False
    dtype: str = "float32"
    init: dict[str, Any] = field(default_factory=dict)
    quantization: dict[str, Any] | None = None
    use_cpu: bool = False
    trust_remote_code: bool = False
    template_kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Equal for two sides exactly when the same files are loaded in the same way."""
        files = {k: v for k, v in asdict(self).items() if k not in ABOUT}
        return hashlib.sha256(json.dumps(files, sort_keys=True, default=str).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"key": self.key}


def resolve(settings: Settings, reader: Reader, side: SideName) -> Spec:
    """NotFound for a run, checkpoint or model that is not there; Refused for one that must not be loaded."""
    if side.run:
        return _of_run(settings, need_run(reader, side.run), side.checkpoint)
    require_model(side.model)
    base = models.resolve(side.model, settings.models_dir)
    config = RunConfig(model=side.model)
    return Spec(name=side.model, checkpoint="", run="", base=base, base_files=files_sign(base), **_hardware(config))


def need_run(reader: Reader, run_id: str) -> Run:
    run = reader.run(run_id)
    if run is None:
        raise NotFound(Text(en=f"There is no run {run_id!r}.", ko=f"{run_id!r} 실행을 찾을 수 없습니다."))
    return run


def config_of(run: Run) -> RunConfig:
    """The run's settings; Refused for a run of a version whose settings this one does not know."""
    try:
        return RunConfig(**run.config)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Refused(
            Text(
                en=f"run {run.id}: its settings are of another version ({where}: {first['msg']})",
                ko=f"실행 {run.id}: 설정이 다른 버전의 것입니다({where}: {first['msg']})",
            )
        ) from error


def _of_run(settings: Settings, run: Run, checkpoint: str) -> Spec:
    config = config_of(run)
    run_dir = settings.run_dir(run.id)
    base, base_manifest = _base(settings, run, config, run_dir)
    common: dict[str, Any] = {
        "name": config.model,
        "checkpoint": checkpoint,
        "run": run.id,
        "run_dir": str(run_dir),
        "base": base,
        "base_manifest": base_manifest,
        "base_files": files_sign(base),
        "template_kwargs": dict(config.chat_template_kwargs or {}),
        **_hardware(config),
    }
    if checkpoint == "base":
        return Spec(**common)
    folder = folder_of(run_dir, checkpoint)
    if not (folder / checkpoints.MANIFEST).is_file():
        there = ", ".join(each["checkpoint"] for each in available(run_dir)) or "-"
        raise NotFound(
            Text(
                en=f"run {run.id} has no complete checkpoint {checkpoint!r}; it has: base, {there}",
                ko=f"실행 {run.id}에 완전한 체크포인트 {checkpoint!r}이(가) 없습니다. 있는 것: base, {there}",
            )
        )
    adapter = (folder / "adapter_config.json").is_file()
    return Spec(**common, folder=str(folder), manifest=manifest_hash(folder), adapter=adapter)


def _base(settings: Settings, run: Run, config: RunConfig, run_dir: Path) -> tuple[str, str]:
    """What GRPO began with: the model that the run's warm-up made where it had one, else the model it names."""
    if "sft" in config.stages:
        warm = checkpoints.sft_dir(run_dir)
        if not (warm / checkpoints.MANIFEST).is_file():
            raise NotFound(
                Text(
                    en=f"run {run.id} has no complete warm-up model, which its base is",
                    ko=f"실행 {run.id}의 기준 모델인 워밍업 모델이 없거나 완전하지 않습니다",
                )
            )
        return str(warm), manifest_hash(warm)
    return models.resolve(config.model, settings.models_dir, config.model_args), ""


def _hardware(config: RunConfig) -> dict[str, Any]:
    """How the run loads its model on this machine: the type of the weights, the revision, the quantisation."""
    here = device_of(config)
    init = dict(trl_adapter.hardware_kwargs(config, here)["model_init_kwargs"])
    return {
        "dtype": str(init.pop("dtype", "float32")),
        "init": init,
        "quantization": trl_adapter.quantization_kwargs(config, here) if here.kind == "cuda" else None,
        "use_cpu": here.kind == "cpu",
        "trust_remote_code": bool(config.trust_remote_code),
    }


def device_of(config: RunConfig) -> DeviceFacts:
    found = device.facts()
    if config.use_cpu and found.kind != "cpu":
        return cpu()
    return found


def folder_of(run_dir: Path, checkpoint: str) -> Path:
    """`checkpoint` has the form that request.CHECKPOINT allows, so that no name leaves the folder."""
    if checkpoint.startswith("checkpoint-"):
        return checkpoints.checkpoints_dir(run_dir) / checkpoint
    return run_dir / checkpoint


def manifest_hash(folder: Path) -> str:
    return hashlib.sha256((folder / checkpoints.MANIFEST).read_bytes()).hexdigest()


def files_sign(base: str) -> str:
    """Another text when a file of the folder was written anew; "" for a hub's name. No file is read."""
    try:
        with os.scandir(base) as entries:
            found = sorted((entry.name, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries)
    except OSError:
        return ""
    return hashlib.sha256(repr(found).encode("utf-8", "surrogateescape")).hexdigest()


def available(run_dir: Path) -> list[dict[str, Any]]:
    """[{"checkpoint", "step"}] of those with a manifest: final, best, then by step, the last first."""
    named = [(name, run_dir / name) for name in ("final", "best")]
    numbered = [(path.name, path) for _, path in reversed(checkpoints.numbered(checkpoints.checkpoints_dir(run_dir)))]
    found = []
    for name, folder in (*named, *numbered):
        manifest = checkpoints.read_manifest(folder)
        if manifest is not None:
            step = manifest.get("step")
            found.append({"checkpoint": name, "step": step if isinstance(step, int) else None})
    return found


def choices(settings: Settings, run: Run) -> dict[str, Any]:
    """One run with its sides, as `ChatService.sides` lists it; "why": why its base cannot be asked now, or null."""
    run_dir = settings.run_dir(run.id)
    why: dict[str, str] | None = None
    base: list[dict[str, Any]] = []
    try:
        _base(settings, run, config_of(run), run_dir)
        base = [{"checkpoint": "base", "step": 0}]
    except StudioError as error:
        why = error.text.to_json()
    trained = available(run_dir) if base else []
    for each in trained[:1]:
        each["default"] = True
    return {
        "run": run.id,
        "name": run.name,
        "model": run.config.get("model"),
        "checkpoints": [*base, *trained],
        "why": why,
        "rewards": list(run.config.get("rewards") or ()),
    }


def facts_of(spec: Spec) -> ModelFacts | None:
    """The sizes of a side's model; None where they cannot be known without loading it."""
    return models.facts(spec.folder if spec.folder and not spec.adapter else spec.base)


def device_for(specs: Iterable[Spec]) -> DeviceFacts:
    """Where these sides would be loaded: the CPU where all of them are of runs that were told to use it."""
    found = device.facts()
    if found.kind != "cpu" and all(spec.use_cpu for spec in specs):
        return cpu()
    return found


def cpu() -> DeviceFacts:
    total, free = device.memory()
    return DeviceFacts("cpu", device.processor(), total, free, False, device.cores())
