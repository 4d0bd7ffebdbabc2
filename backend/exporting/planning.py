"""What an export will be, decided and checked before anything is written."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.config.resolve import resolve
from backend.config.schema import RunConfig
from backend.device import facts
from backend.errors import Refused, WrongState
from backend.exporting import sources
from backend.report.words import TEXTS as WORDS
from backend.settings import Settings
from backend.text import Text
from backend.workers import checkpoints
from storage.records import Run

WEIGHTS = ("adapter", "merged", "model")
SPARE = 64 * 2**20  # bytes of room that are left beside the weights
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, slots=True)
class Plan:
    """One export, decided. `dtype`: of the merged weights, and in which the trained ones are loaded for the proof."""

    settings: Settings
    run: Run
    what: str
    source: sources.Source
    base: sources.Base | None
    dtype: str
    notes: tuple[Text, ...]

    @property
    def name(self) -> str:
        return f"{self.what}-{self.source.checkpoint}"

    @property
    def merged(self) -> bool:
        return self.what == "merged"


def plan(settings: Settings, run: Run, what: str, checkpoint: str, *, hashes: bool = True) -> Plan:
    """Refused, NotFound or WrongState, in words, for what cannot be exported. Reads all of the source's bytes, but
    with `hashes=False` only their sizes."""
    if what not in WEIGHTS:
        raise Refused(
            Text(
                en=f"what={what!r}: must be one of {', '.join(WEIGHTS)}",
                ko=f"what={what!r}: {', '.join(WEIGHTS)} 중 하나여야 합니다",
            )
        )
    if (why := not_ended(run)) is not None:
        raise WrongState(why)
    source = sources.find(settings, run, checkpoint, hashes=hashes)
    config = RunConfig(**run.config)
    notes: list[Text] = []
    if source.adapter and what == "model":
        raise Refused(
            Text(
                en="what='model': this run trained an adapter; take merged (base and adapter as one) or adapter",
                ko="what='model': 어댑터를 학습한 실행입니다. merged(기준 모델과 병합)나 adapter를 고르세요",
            )
        )
    if not source.adapter and what == "adapter":
        raise Refused(
            Text(
                en="what='adapter': this run trained all weights, so there is no adapter; take model",
                ko="what='adapter': 전체 가중치를 학습한 실행이라 어댑터가 없습니다. model을 고르세요",
            )
        )
    if not source.adapter:
        what = "model"  # nothing to merge
    base = sources.base_of(settings, run) if source.adapter else None
    dtype = dtype_of(config, settings.run_dir(run.id)) if source.adapter else saved_dtype(source, config)
    if config.peft == "qlora" and source.adapter:
        dtype = resolve(config, facts()).bnb_4bit_compute_dtype
        notes.append(
            Text(
                en=f"Trained on a 4-bit base; here base and adapter are merged in {dtype} from the base's full "
                "weights, which answer a little differently from the 4-bit ones.",
                ko=f"4비트 모델 위에서 학습했습니다. 병합은 양자화하지 않은 기준 모델로 {dtype}에서 하므로 4비트일 "
                "때와 답이 조금 다를 수 있습니다.",
            )
        )
    if what == "adapter" and base is not None and not base.shared:
        notes.append(
            Text(
                en=f"The adapter stands on {base.shown}, which is on this machine only; for elsewhere take merged.",
                ko=f"이 어댑터의 기준 모델({base.shown})은 이 컴퓨터에만 있습니다. 다른 곳에서 쓰려면 merged로 "
                "내보내세요.",
            )
        )
    return Plan(settings, run, what, source, base, dtype, tuple(notes))


def not_ended(run: Run) -> Text | None:
    """Why the weights of this run cannot be exported yet; None once it has ended."""
    if run.state.ended:
        return None
    state = WORDS[f"state.{run.state.value}"]
    return Text(
        en=f"run {run.name or run.id} is {state.en}: its weights can be exported once it has ended",
        ko=f"{run.name or run.id}: 아직 {state.ko} 상태입니다. 끝난 뒤에 가중치를 내보낼 수 있습니다",
    )


def dtype_of(config: RunConfig, run_dir: Path) -> str:
    """The type that the run loaded its weights in, as it noted it; by its settings where it noted none."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        noted = json.loads((run_dir / "base.json").read_text(encoding="utf-8"))["fingerprint"]["dtype"]
        if noted in BYTES:
            return noted
    found = resolve(config, facts()).dtype
    return found if found in BYTES else "float32"


def saved_dtype(source: sources.Source, config: RunConfig) -> str:
    """The type that whole weights were saved in, which is the one that everybody loads them in."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        about = json.loads((source.folder / "config.json").read_text(encoding="utf-8"))
        saved = about.get("dtype") or about.get("torch_dtype")
        if saved in BYTES:
            return saved
    return dtype_of(config, source.folder.parent)


def needed(planned: Plan) -> int | None:
    """Bytes on the disk; None where only loading the base tells."""
    if not planned.merged or planned.base is None:
        return planned.source.bytes
    values = sources.parameters_of(Path(planned.base.name)) if Path(planned.base.name).is_dir() else None
    return None if values is None else values * BYTES[planned.dtype] + planned.source.bytes


def require_room(planned: Plan, place: Path) -> None:
    """Refused, with both numbers, where the disk under `place` lacks the room."""
    wanted = needed(planned)
    free = shutil.disk_usage(place).free
    if wanted is not None and wanted + SPARE > free:
        raise Refused(no_room(wanted + SPARE, free))


def about(planned: Plan) -> dict[str, Any]:
    """What an export's manifest says of it."""
    base = planned.base
    return {
        "what": planned.what,
        "run": planned.run.id,
        "name": planned.run.name,
        "checkpoint": planned.source.checkpoint,
        "step": planned.source.step,
        "source": source_hash(planned.source),
        "base": base.shown if base else None,
        "base_shared": base.shared if base else None,
        "made_at": time.time(),
        "notes": [note.to_json() for note in planned.notes],
    }


def source_hash(source: sources.Source) -> str:
    """SHA-256 of the weights that an export was made of: the same value as an evaluation's of the same folder."""
    manifest = checkpoints.read_manifest(source.folder) or {"files": {}}
    weights = sorted(n for n in source.files if sources.WEIGHTS.fullmatch(n) or n == sources.ADAPTER_CONFIG)
    whole = hashlib.sha256()
    for name in weights:
        whole.update(f"{name} {manifest['files'].get(name, {}).get('sha256', '')}\n".encode())
    return whole.hexdigest()


def no_room(needed: int, free: int) -> Text:
    """What is said where the disk lacks the room, with both numbers."""
    return Text(
        en=f"the export needs {needed / 1e6:,.0f} MB on the disk and {free / 1e6:,.0f} MB are free. Make room (python "
        "-m backend disk says what can go), then export again.",
        ko=f"내보내려면 디스크에 {needed / 1e6:,.0f} MB가 필요한데 {free / 1e6:,.0f} MB만 남았습니다. 공간을 "
        "확보한 뒤 다시 내보내세요(python -m backend disk가 지울 수 있는 것을 알려 줍니다).",
    )


PROMPTS = 8
ANY = ("1 + 1 =", "The capital of France is", "def add(a, b):", "Once upon a time")


def prompts(settings: Settings, run: Run) -> list[Any]:
    """What the trained weights and the export are asked: the first held-out rows of the run, then training rows,
    as text or messages; a few sentences of any kind where the run has kept no rows."""
    found: list[Any] = []
    for name in ("eval.jsonl", "train.jsonl"):
        path = settings.run_dir(run.id) / "data" / name
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError), path.open(encoding="utf-8") as file:
            for line in file:
                if len(found) == PROMPTS:
                    return found
                found.append(json.loads(line)["prompt"])
    return found or list(ANY)


def how_to_load(manifest: dict[str, Any], folder: str) -> str:
    """A few lines of Python that load an export elsewhere."""
    if manifest.get("what") == "adapter":
        return (
            "from peft import AutoPeftModelForCausalLM\n"
            "from transformers import AutoTokenizer\n\n"
            f'model = AutoPeftModelForCausalLM.from_pretrained("{folder}", dtype="{manifest.get("dtype")}")\n'
            f'tokenizer = AutoTokenizer.from_pretrained("{folder}")\n'
        )
    return (
        "from transformers import AutoModelForCausalLM, AutoTokenizer\n\n"
        f'model = AutoModelForCausalLM.from_pretrained("{folder}")\n'
        f'tokenizer = AutoTokenizer.from_pretrained("{folder}")\n'
    )
