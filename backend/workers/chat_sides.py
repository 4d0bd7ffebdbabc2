"""The models of the chat: each side an object of its own, loaded from its own files, at most two at a time.

No object ever serves two sides that differ: an adapter is put on a base that was loaded for it alone. PEFT changes the
layers of the model that it is given, so a shared base would answer with the adapter in it.
"""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, GenerationConfig

from backend.chat import words
from backend.errors import Refused, StudioError
from backend.workers import adapter, checkpoints, device, fingerprint
from backend.workers.memory import is_out_of_memory

log = logging.getLogger(__name__)
Loading = Callable[[str, Mapping[str, Any]], None]


@dataclass(slots=True)
class Side:
    """`weights`: hash of the files of its own; `base_weights`: of the model under its adapter. `base`: how its base
    compares with what the run began from: "same", "differs", or "unknown"."""

    spec: Mapping[str, Any]
    model: Any
    tokenizer: Any
    weights: str
    base_weights: str | None
    eos_ids: list[int]
    context: int | None
    bytes: int
    base: str
    kind: str

    def facts(self) -> dict[str, Any]:
        return {
            "key": self.spec["key"],
            "model": self.spec["name"],
            "checkpoint": self.spec["checkpoint"],
            "run": self.spec["run"],
            "weights": self.weights[:12],
            "base_weights": self.base_weights[:12] if self.base_weights else None,
            "adapter": self.spec["adapter"],
            "dtype": self.spec["dtype"],
            "device": self.kind,
            "bytes": self.bytes,
        }


class Sides:
    """What is loaded. `changed(list of facts)` is called whenever that changes."""

    def __init__(self, changed: Callable[[list[dict[str, Any]]], None]) -> None:
        self._changed = changed
        self._loaded: dict[str, Side] = {}

    def get(
        self, specs: Mapping[str, Mapping[str, Any]], loading: Loading, stop: Callable[[], None]
    ) -> dict[str, Side]:
        """The sides of these specs ("left", "right"), loading what is not there; others are let go first.

        Raises Refused, in words, for files that are not as the run saved them and for a model that cannot be loaded.
        """
        wanted = {spec["key"] for spec in specs.values()}
        if any(key not in wanted for key in self._loaded) and not wanted <= set(self._loaded):
            self._loaded = {key: side for key, side in self._loaded.items() if key in wanted}
            self._tell()
            free_memory()
        for name, spec in specs.items():
            stop()
            if spec["key"] not in self._loaded:
                loading(name, spec)
                began = time.perf_counter()
                self._loaded[spec["key"]] = load(spec)
                log.info("loaded %s %s in %.1f s", spec["name"], spec["checkpoint"], time.perf_counter() - began)
                self._tell()
        return {name: self._loaded[spec["key"]] for name, spec in specs.items()}

    def forget(self) -> None:
        """Let go of everything."""
        self._loaded = {}
        self._tell()
        free_memory()

    def _tell(self) -> None:
        self._changed([side.facts() for side in self._loaded.values()])


def free_memory() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def load(spec: Mapping[str, Any]) -> Side:
    """One side from its files. Refused, in words, where they are not to be trusted or no model."""
    folder = Path(spec["folder"]) if spec["folder"] else None
    base = Path(spec["base"])
    if folder is not None:
        _verify(folder, spec["checkpoint"], spec["run"])
    if spec["base_manifest"]:
        _verify(base, "sft", spec["run"])
    try:
        model, tokenizer, base_folder, base_is = _models(spec, folder)
    except StudioError:
        raise
    except Exception as error:  # libraries raise types of their own for files that are no model
        if is_out_of_memory(error):
            raise
        log.exception("%s", spec["name"])
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise Refused(words.not_loadable(f"{spec['name']} {spec['checkpoint']}".strip(), said)) from error
    model.eval()
    own = folder or base_folder
    eos_ids = end_tokens(model, tokenizer)
    neutral(model)
    first = next(model.parameters())
    return Side(
        spec=spec,
        model=model,
        tokenizer=tokenizer,
        weights=fingerprint.weights_hash(own) if own else fingerprint.fingerprint(model)["exact"],
        base_weights=fingerprint.weights_hash(base_folder) if spec["adapter"] and base_folder else None,
        eos_ids=eos_ids,
        context=getattr(model.config.get_text_config(), "max_position_embeddings", None),
        bytes=sum(p.numel() * p.element_size() for p in model.parameters()),
        base=base_is,
        kind=first.device.type,
    )


def _verify(folder: Path, name: str, run: str) -> None:
    why = checkpoints.problem(folder)
    if why is not None:
        raise Refused(words.bad_checkpoint(name, run, why))


def _models(spec: Mapping[str, Any], folder: Path | None) -> tuple[Any, Any, Path | None, str]:
    """(model, tokenizer, folder of the base, how the base compares). The tokenizer is the base's: it made the prompts
    of training."""
    facts = device.detect(spec["use_cpu"] or None)
    kwargs: dict[str, Any] = {**spec["init"], "dtype": getattr(torch, spec["dtype"], "auto")}
    whole = str(folder) if folder is not None and not spec["adapter"] else spec["base"]
    trust = spec["trust_remote_code"]
    if spec["quantization"]:
        kwargs |= {"quantization_config": BitsAndBytesConfig(**spec["quantization"]), "device_map": {"": 0}}
    if folder is not None and not spec["adapter"]:
        kwargs |= {"use_safetensors": True}
    if Path(whole).is_dir():
        kwargs.pop("revision", None)
    model = AutoModelForCausalLM.from_pretrained(whole, trust_remote_code=trust, **kwargs)
    base_is = _base_is(spec, model)  # now: an adapter that trained biases replaces those of the base
    if spec["adapter"] and folder is not None:
        model = adapter.put_on(model, folder)
    if not spec["quantization"]:
        model = model.to(torch.device(facts.kind))  # pyright: ignore[reportArgumentType]
    revision = None if Path(spec["base"]).is_dir() else spec["init"].get("revision")
    tokenizer = AutoTokenizer.from_pretrained(
        spec["base"], revision=revision, trust_remote_code=trust, padding_side="left", truncation_side="left"
    )
    return model, tokenizer, base_folder(spec["base"], revision), base_is


def base_folder(base: str, revision: str | None) -> Path | None:
    """Where the files of the base lie: the folder itself, or the hub's cache of what has just been loaded."""
    if Path(base).is_dir():
        return Path(base)
    from transformers.utils.hub import cached_file

    found = cached_file(base, "config.json", revision=revision, _raise_exceptions_for_missing_entries=False)
    return Path(found).parent if found else None


def end_tokens(model: Any, tokenizer: Any) -> list[int]:
    """The tokens that end an answer, as TRL has them: those of the model's settings, and the tokenizer's own."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    ids = inner.generation_config.eos_token_id
    found = [] if ids is None else [ids] if isinstance(ids, int) else list(ids)
    own = tokenizer.eos_token_id
    return found if own is None or own in found else [own, *found]


def neutral(model: Any) -> None:
    """Take away the model's own sampling settings, which would fill the gaps of ours."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    for each in (inner, model):
        each.generation_config = GenerationConfig()


def _base_is(spec: Mapping[str, Any], model: Any) -> str:
    """Whether the base, before an adapter is put on it, is what the run recorded when it began."""
    recorded = fingerprint.recorded_base(Path(spec["run_dir"])) if spec["run_dir"] else None
    if recorded is None or (spec["folder"] and not spec["adapter"]) or spec["quantization"]:
        return "unknown"
    return fingerprint.compare(fingerprint.fingerprint(model), recorded["fingerprint"])
