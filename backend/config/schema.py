"""RunConfig: everything a run is told, flat, under TRL's own names."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, model_validator
from pydantic.fields import FieldInfo

from backend.config.bounds import bound_broken
from backend.config.fields import GROUPS, Setting, default_of, setting_of
from backend.config.groups.alerts import AlertSettings
from backend.config.groups.checkpoints import CheckpointSettings
from backend.config.groups.data import DataSettings
from backend.config.groups.evaluation import EvaluationSettings
from backend.config.groups.generation import GenerationSettings
from backend.config.groups.hardware import HardwareSettings
from backend.config.groups.logging import LoggingSettings
from backend.config.groups.lora import LoraSettings
from backend.config.groups.loss import LossSettings
from backend.config.groups.model import ModelSettings
from backend.config.groups.reference import ReferenceSettings
from backend.config.groups.rewards import RewardSettings
from backend.config.groups.training import TrainingSettings
from backend.config.groups.vllm import VllmSettings
from backend.config.groups.warmup import WarmupSettings


# Later bases come first in pydantic's field order, so the groups stand here from last to first.
class RunConfig(
    HardwareSettings, AlertSettings, LoggingSettings, CheckpointSettings, EvaluationSettings, VllmSettings,
    ReferenceSettings, WarmupSettings, LoraSettings, LossSettings, GenerationSettings, TrainingSettings, RewardSettings,
    DataSettings, ModelSettings,
):  # fmt: skip
    """The settings of one run, each within its own bounds. Rules between fields are in `backend.config.check`.

    Frozen and flat; unknown names are refused. Building one directly raises pydantic's ValidationError;
    people's input goes through `check`, which answers in words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    @model_validator(mode="after")
    def _within_bounds(self) -> RunConfig:
        for name, meta in SETTINGS.items():
            broken = bound_broken(meta, getattr(self, name))
            if broken is not None:
                raise ValueError(f"{name}={getattr(self, name)!r}: {broken.en}")
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values of every field, defaults included."""
        return self.model_dump(mode="json")

    def changed(self) -> dict[str, Any]:
        """Only what differs from the defaults."""
        return {k: v for k, v in self.to_dict().items() if v != default_of(FIELDS[k])}


FIELDS: dict[str, FieldInfo] = RunConfig.model_fields
SETTINGS: dict[str, Setting] = {name: setting_of(info) for name, info in FIELDS.items()}
FIELDS_BY_GROUP: dict[str, list[str]] = {
    group: [name for name, meta in SETTINGS.items() if meta.group == group] for group in GROUPS
}


def defaults() -> dict[str, Any]:
    """The default of every field."""
    return {name: default_of(info) for name, info in FIELDS.items()}
