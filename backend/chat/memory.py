"""Whether both sides fit into the memory that is free now, by the estimate's own formulas; else a refusal with numbers.

Counted: the weights of each side that is not loaded yet (each has a copy of its own, also of the same base), the KV
cache and one row of logits for each of the n samples of the side that is answering, and the process itself where it
is not up. What the sides loaded before hold is free again, since they make room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from backend.chat.request import Sampling
from backend.chat.sides import Spec, facts_of
from backend.errors import Refused
from backend.estimate import OVERHEAD, DeviceFacts, kv_bytes_per_token
from backend.text import Text

GB = 1e9
WIDTH = {"float32": 4, "bfloat16": 2, "float16": 2}
QUANTIZED = 0.6  # bytes a weight, with its scales
CHARACTERS_A_TOKEN = 2  # of a prompt: few, so that Korean is not underrated
MARGIN = 0.02  # of all memory is left alone; more while a run is at work, which may grow
MARGIN_WITH_RUN = 0.1


def weight_bytes(spec: Spec) -> int | None:
    """Bytes of one side's weights once loaded; None where its size cannot be known."""
    width = QUANTIZED if spec.quantization else WIDTH.get(spec.dtype, 4)
    facts = facts_of(spec)
    if facts is not None:
        base = int(facts.params * width)
    else:
        folder = Path(spec.folder if spec.folder and not spec.adapter else spec.base)
        found = sum(path.stat().st_size for path in folder.glob("*.safetensors")) if folder.is_dir() else 0
        if not found:
            return None
        base = found  # stored as wide as they are loaded, as far as can be told
    return base + (_adapter_bytes(spec) if spec.adapter else 0)


def _adapter_bytes(spec: Spec) -> int:
    return sum(path.stat().st_size for path in Path(spec.folder).glob("adapter_model*"))


def answer_bytes(spec: Spec, sampling: Sampling, prompt_characters: int) -> int:
    """Bytes that one side holds beside its weights while it answers; 0 where its size cannot be known."""
    facts = facts_of(spec)
    if facts is None:
        return 0
    tokens = prompt_characters // CHARACTERS_A_TOKEN + sampling.max_new_tokens
    tokens = min(tokens, facts.context or tokens)
    width = WIDTH.get(spec.dtype, 4)
    cache = sampling.n * tokens * kv_bytes_per_token(facts.layers, facts.kv_heads * facts.per_head, width)
    return cache + 2 * 4 * sampling.n * facts.vocab


def require(
    specs: Mapping[str, Spec],
    sampling: Sampling,
    prompt_characters: int,
    device: DeviceFacts,
    *,
    held: Mapping[str, int],
    started: bool,
    active: Sequence[str],
) -> None:
    """Refused when `specs` ("left", "right") do not fit on `device`. `held`: bytes of the sides that are loaded, by
    key; `started`: the process is up; `active`: names of runs that are at work."""
    by_key = {spec.key: spec for spec in specs.values()}
    weights = {key: 0 if key in held else weight_bytes(spec) for key, spec in by_key.items()}
    if any(size is None for size in weights.values()):
        return  # the loader will tell
    answering = max(answer_bytes(spec, sampling, prompt_characters) for spec in specs.values())
    beside = answering + (0 if started else OVERHEAD[device.kind])
    need = sum(size or 0 for size in weights.values()) + beside
    margin = int(device.total_bytes * (MARGIN_WITH_RUN if active else MARGIN))
    free = device.free_bytes + sum(size for key, size in held.items() if key not in by_key) - margin
    if need <= free:
        return
    each = {side: weights[spec.key] or 0 for side, spec in specs.items()}
    raise Refused(_words(each, beside, need, free, margin, device, active))


def _words(
    each: Mapping[str, int],
    beside: int,
    need: int,
    free: int,
    margin: int,
    device: DeviceFacts,
    active: Sequence[str],
) -> Text:
    parts_en = ", ".join(f"{side} {size / GB:.1f} GB" for side, size in each.items())
    names = {"left": "왼쪽", "right": "오른쪽"}
    parts_ko = ", ".join(f"{names.get(side, side)} {size / GB:.1f}GB" for side, size in each.items())
    shown = max(0, free)
    en = (
        f"Not enough memory for this on {device.name}: {need / GB:.1f} GB are needed ({parts_en}, answering and the "
        f"process {beside / GB:.1f} GB), and {shown / GB:.1f} GB can be used of {device.total_bytes / GB:.1f} GB "
        f"({margin / GB:.1f} GB are left alone). "
    )
    ko = (
        f"{device.name}의 메모리가 부족합니다. {need / GB:.1f}GB가 필요한데({parts_ko}, 답변 생성과 프로세스 "
        f"{beside / GB:.1f}GB) 전체 {device.total_bytes / GB:.1f}GB 중 {shown / GB:.1f}GB를 쓸 수 있습니다"
        f"(여유분 {margin / GB:.1f}GB 제외). "
    )
    if active:
        en += f"A run is at work ({', '.join(active)}): ask again when it has ended, or ask one side only."
        ko += f"실행 중인 작업({', '.join(active)})이 끝난 뒤 다시 묻거나 한쪽만 물어보세요."
    else:
        en += "Ask one side only, or take a smaller model, fewer samples or shorter answers."
        ko += "한쪽만 묻거나, 더 작은 모델, 적은 샘플 수, 짧은 답변을 고르세요."
    return Text(en=en, ko=ko)
