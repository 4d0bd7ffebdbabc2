"""What a setting knows about itself: its words, its group on the form, its bounds and the name it has in TRL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field
from pydantic.fields import FieldInfo

from backend.text import Text

GROUPS: dict[str, Text] = {
    "model": Text("Model", "모델"),
    "data": Text("Data", "데이터"),
    "rewards": Text("Rewards", "보상"),
    "training": Text("Training", "학습"),
    "generation": Text("Generation", "생성"),
    "loss": Text("Loss", "손실 함수"),
    "lora": Text("LoRA and quantisation", "LoRA·양자화"),
    "warmup": Text("Supervised warm-up", "지도 학습 워밍업"),
    "reference": Text("Reference model and KL", "기준 모델과 KL"),
    "vllm": Text("vLLM", "vLLM"),
    "evaluation": Text("Evaluation", "평가"),
    "checkpoints": Text("Checkpoints", "체크포인트"),
    "logging": Text("Logging", "기록"),
    "alerts": Text("Alerts", "알림"),
    "hardware": Text("Hardware", "하드웨어"),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """The words and bounds of one field. `trl` is the dotted name it is passed on as, None for our own.

    `near` are the values offered when the typed one is out of bounds and no nearest one can be computed
    (an open bound has none).
    """

    label: Text
    help: Text
    group: str
    basic: bool = False
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    trl: str | None = None
    near: tuple[Any, ...] = ()
    suggestions: tuple[Any, ...] = ()


def setting(
    default: Any,
    label: Text,
    help: Text,
    group: str,
    *,
    basic: bool = False,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    lt: float | None = None,
    trl: str | None = "GRPOConfig",
    near: tuple[Any, ...] = (),
    suggestions: tuple[Any, ...] = (),
) -> Any:
    """A pydantic field that carries a `Setting`.

    `trl`: the class of TRL, PEFT or transformers that has a field of the same name, a dotted name where it
    differs ("LoraConfig.r"), or None for a setting of our own. Mutable defaults are copied for each instance.
    """
    if group not in GROUPS:
        raise ValueError(f"unknown group {group!r}: one of {', '.join(GROUPS)}")
    meta = Setting(label, help, group, basic, ge, gt, le, lt, trl, near, suggestions)
    extra: Any = {"setting": meta}
    if isinstance(default, (list, dict)):
        kind = type(default)
        return Field(default_factory=lambda: kind(default), json_schema_extra=extra)
    return Field(default, json_schema_extra=extra)


def setting_of(info: FieldInfo) -> Setting:
    """The `Setting` that `setting()` put into this field."""
    extra = info.json_schema_extra
    found = extra.get("setting") if isinstance(extra, dict) else None
    if not isinstance(found, Setting):
        raise TypeError("a field of RunConfig was made without setting()")
    return found


def default_of(info: FieldInfo) -> Any:
    """A fresh copy of the field's default value."""
    return info.get_default(call_default_factory=True, validated_data={})
