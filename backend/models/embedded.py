"""The embedded model, described: a tiny Llama that the project builds itself (backend/workers/embedded.py).

A supervised warm-up teaches it column addition from a teacher who often forgets the carry. It then writes the
right form and makes that one mistake, which GRPO's reward can unlearn while a person watches.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.errors import Refused
from backend.models.facts import ModelFacts
from backend.text import Text

NAME = "embedded"
# Part of the folder's name: raise it when the build changes in a way that the settings below do not show.
VERSION = 1

PAD, END = "<|pad|>", "<|end|>"
SPECIAL = (PAD, END, "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")
# One token each, and not special, so that decoding a completion keeps them.
TAGS = ("<answer>", "</answer>", "<think>", "</think>")
# The 256 byte symbols follow: every text is encodable and comes back exactly.
VOCABULARY = len(SPECIAL) + len(TAGS) + 256
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@dataclass(frozen=True, slots=True)
class EmbeddedSpec:
    """All that the weights depend on; `model_args` of a run may set any of it. Another spec, another folder."""

    seed: int = 0
    hidden: int = 160
    layers: int = 3
    heads: int = 4
    intermediate: int = 448
    context: int = 512
    operations: tuple[str, ...] = ("+",)
    digits: int = 2
    carry_error: float = 0.6
    steps: int = 500
    batch: int = 64
    learning_rate: float = 2e-3

    @property
    def facts(self) -> ModelFacts:
        return ModelFacts(
            layers=self.layers,
            hidden=self.hidden,
            heads=self.heads,
            kv_heads=self.heads,
            intermediate=self.intermediate,
            vocab=VOCABULARY,
            context=self.context,
        )

    @property
    def key(self) -> str:
        """Twelve hex digits that change with anything the weights depend on."""
        described = {"version": VERSION, "template": CHAT_TEMPLATE, **dataclasses.asdict(self)}
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:12]


DEFAULT = EmbeddedSpec()


def parse(args: Mapping[str, Any] | None) -> EmbeddedSpec:
    """`model_args` as a spec. Refused, naming the argument and what would do, when one is wrong."""
    fields = {field.name: getattr(DEFAULT, field.name) for field in dataclasses.fields(EmbeddedSpec)}
    given = dict(args or {})
    for name, value in given.items():
        if name not in fields:
            raise _refuse(name, f"there is no such argument; the arguments are {', '.join(fields)}", value)
        default = fields[name]
        if name == "operations":
            listed = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else ()
            if not listed or not set(listed) <= {"+", "-", "×"}:
                raise _refuse(name, "it must be a list from +, -, ×", value)
            given[name] = listed
        elif isinstance(default, float):
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                raise _refuse(name, "it must be a number from 0 up", value)
            given[name] = float(value)
        elif type(value) is not int or value < (0 if name == "seed" else 1):
            raise _refuse(name, "it must be a whole number from 1 up (seed: from 0)", value)
    spec = EmbeddedSpec(**given)
    if spec.hidden % (2 * spec.heads):
        raise _refuse("hidden", f"it must be a multiple of {2 * spec.heads} (twice the heads)", spec.hidden)
    if spec.carry_error > 1:
        raise _refuse("carry_error", "it must be a share from 0 to 1", spec.carry_error)
    return spec


def _refuse(name: str, rule: str, value: Any) -> Refused:
    return Refused(
        Text(
            en=f"model_args: {name} is {value!r}; {rule}",
            ko=f"model_args: {name} 값 {value!r}을(를) 쓸 수 없습니다 ({rule})",
        )
    )


def folder(models_dir: Path, spec: EmbeddedSpec = DEFAULT) -> Path:
    """Where the built model lies, or will. It exists only when it is complete."""
    return models_dir / f"embedded-{spec.key}"


def is_built(models_dir: Path, spec: EmbeddedSpec = DEFAULT) -> bool:
    return (folder(models_dir, spec) / "model.safetensors").is_file()
