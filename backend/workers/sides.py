"""The two sides of an evaluation: which weights they are, and each loaded as a model of its own.

No model object ever answers for both: an adapter that is switched off, merged or left behind by a library would answer
for the base. The base is loaded, asked, and gone before the trained side is loaded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

from backend.config.resolve import resolve
from backend.errors import StudioError
from backend.evaluation.request import ADAPTER, Request, folder_of
from backend.paths import folder_named
from backend.text import Text
from backend.workers import adapter, checkpoints, trl_adapter
from backend.workers.fingerprint import kind_of_folder, recorded_base, weights_hash
from backend.workers.job import Job
from backend.workers.memory import is_out_of_memory
from storage.reader import Reader

Kind = Literal["adapter", "full", "model"]
Prepare = Callable[[str], str]  # a model's name -> what from_pretrained takes


@dataclass(frozen=True, slots=True)
class Side:
    """`model`: what from_pretrained takes; `adapter`: put on it. `weights`: SHA-256 of the files, None for a hub name;
    `under`: of the model under an adapter.

    `expected`: the fingerprint that the evaluated run recorded of its base, where this side is that base.
    """

    when: Literal["base", "trained"]
    name: str
    model: str
    kind: Kind
    adapter: Path | None = None
    checkpoint: str | None = None
    step: int | None = None
    weights: str | None = None
    expected: dict[str, Any] | None = None
    under: str | None = None

    @property
    def folder(self) -> Path | None:
        """Where the weights that make this side what it is lie."""
        return self.adapter or folder_named(self.model)


def of_request(job: Job, request: Request, prepare: Prepare) -> tuple[Side, Side | None]:
    """(base, trained) of an evaluation; trained is None where one model alone is evaluated.

    StudioError, in words, for trained weights that are not as they were saved.
    """
    run_dir = job.settings.run_dir(request.run) if request.run else None
    started_from = _begun(job, request, prepare)
    base_model = prepare(request.base) if request.base else started_from
    folder = folder_named(base_model)
    warm = run_dir is not None and started_from == str(checkpoints.sft_dir(run_dir))
    base = Side(
        "base",
        request.base or (f"{request.run}/sft" if warm else job.config.model),
        base_model,
        "model",
        weights=weights_hash(folder, read=not warm) if folder else None,
        expected=recorded_base(run_dir) if run_dir and not request.base else None,
    )
    if not request.trained and run_dir is None:
        return base, None
    trained = (
        _named(request.trained, started_from, prepare)
        if request.trained or run_dir is None
        else _of_run(run_dir, request, started_from)
    )
    if trained.adapter is not None:
        ground = folder_named(started_from)
        same = base.weights if started_from == base_model else None
        trained = replace(trained, under=same or (weights_hash(ground, read=True) if ground else None))
    return base, trained


def _begun(job: Job, request: Request, prepare: Prepare) -> str:
    """The model that the run's trained weights grew from: its warm-up's, where it had one."""
    if not request.run:
        return prepare(request.base or job.config.model)
    run = Reader(job.db).run(request.run)
    if run is not None and "sft" in (run.config.get("stages") or ()):
        warm = checkpoints.sft_dir(job.settings.run_dir(request.run))
        _require_whole(warm, "sft")
        return str(warm)
    return prepare(job.config.model)


def _of_run(run_dir: Path, request: Request, started_from: str) -> Side:
    folder = folder_of(run_dir, request.checkpoint)
    _require_whole(folder, request.checkpoint)
    kind = kind_of_folder(folder)
    manifest = checkpoints.read_manifest(folder) or {}
    return Side(
        "trained",
        f"{request.run}/{request.checkpoint}",
        started_from if kind == "adapter" else str(folder),
        kind,
        folder if kind == "adapter" else None,
        request.checkpoint,
        manifest.get("step"),
        weights_hash(folder),
    )


def _named(name: str, started_from: str, prepare: Prepare) -> Side:
    """A model, or a folder with an adapter, which goes onto the base."""
    folder = folder_named(name)
    if folder is not None and (folder / ADAPTER).is_file():
        return Side("trained", name, started_from, "adapter", folder, weights=weights_hash(folder, read=True))
    model = prepare(name)
    local = folder_named(model)
    return Side("trained", name, model, "model", weights=weights_hash(local, read=True) if local else None)


def _require_whole(folder: Path, name: str) -> None:
    why = checkpoints.problem(folder)
    if why is not None:
        raise StudioError(
            Text(
                en=f"the trained weights {name} are not as they were saved: {why}",
                ko=f"학습된 가중치 {name}이(가) 저장된 그대로가 아닙니다: {why}",
            )
        )


def load(job: Job, side: Side) -> Any:
    """The model of one side, in evaluation mode on the run's device, as training loads it. A new object every time.

    StudioError, in words, for an adapter that does not fit the model under it.
    """
    config, device = job.config, job.device
    kwargs = dict(trl_adapter.hardware_kwargs(config, device)["model_init_kwargs"])
    if side.model != config.model:
        kwargs.pop("revision", None)  # it belongs to the model of the settings
    if isinstance(kwargs.get("dtype"), str) and kwargs["dtype"] != "auto":
        kwargs["dtype"] = getattr(torch, kwargs["dtype"])
    quantization = trl_adapter.quantization_kwargs(config, device)
    if quantization:
        kwargs |= {"quantization_config": BitsAndBytesConfig(**quantization), "device_map": {"": 0}}
    kwargs.pop("use_cache", None)
    model = AutoModelForCausalLM.from_pretrained(side.model, trust_remote_code=config.trust_remote_code, **kwargs)
    if side.adapter is not None:
        model = _adapted(model, side.adapter)
    if not quantization:
        model = model.to(torch.device(device.kind))  # pyright: ignore[reportArgumentType]
    return model.eval()


def _adapted(model: Any, folder: Path) -> Any:
    try:
        return adapter.put_on(model, folder)
    except StudioError:
        raise
    except (KeyError, RuntimeError, ValueError) as error:  # a layer, or its size, that the model does not have
        if is_out_of_memory(error):
            raise
        said = str(error).strip().splitlines()
        first = "; ".join(line.strip() for line in said[:2]) or type(error).__name__
        raise StudioError(
            Text(
                en=f"the adapter {folder.name} does not fit the model under it: {first}",
                ko=f"어댑터 {folder.name}이(가) 기준 모델에 맞지 않습니다: {first}",
            )
        ) from error


@contextlib.contextmanager
def precision(job: Job) -> Iterator[None]:
    """The mixed precision in which training generates, where it has one."""
    found = resolve(job.config, job.device)
    if not (found.bf16 or found.fp16) or found.use_cpu:
        yield
        return
    with torch.autocast(job.device.kind, dtype=torch.bfloat16 if found.bf16 else torch.float16):
        yield


def tokenizer_of(job: Job, model: str) -> Any:
    """The tokenizer as training makes it: padding and truncation on the left."""
    return AutoTokenizer.from_pretrained(
        model,
        revision=trl_adapter.tokenizer_revision(job.config, model) if model == job.config.model else None,
        padding_side="left",
        truncation_side="left",
        trust_remote_code=job.config.trust_remote_code,
    )


def own_tokenizer(job: Job, side: Side) -> Any:
    """The tokenizer that was saved with a side's weights; that of the model under it where none was."""
    folder = side.folder
    if folder is not None and (folder / "tokenizer_config.json").is_file():
        return tokenizer_of(job, str(folder))
    return tokenizer_of(job, side.model)


def context_of(job: Job, side: Side) -> int | None:
    """Tokens that a side's model reads at most."""
    config = AutoConfig.from_pretrained(side.model, trust_remote_code=job.config.trust_remote_code)
    return getattr(config.get_text_config(), "max_position_embeddings", None)


def end_tokens(model: Any, tokenizer: Any) -> list[int]:
    """The tokens that end an answer, as TRL's GRPOTrainer takes them."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    ids = base.generation_config.eos_token_id
    known = [] if ids is None else [ids] if isinstance(ids, int) else list(ids)
    return known if tokenizer.eos_token_id in known else [tokenizer.eos_token_id, *known]
