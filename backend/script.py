"""A run as one plain TRL script: it needs trl and its like, and of this project only rewards that cannot be carried.

Rewards, rows and every setting stand in the script itself. The model is named by its hub name or by the folder it
lies in here; on another machine give it with --model. Settings that depend on the device (bf16, use_cpu) are those of
the machine that wrote the script.
"""

from __future__ import annotations

import json
import pprint
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from backend import data, device, models, rewards
from backend.config import RunConfig
from backend.custom.carried import carried
from backend.estimate import DeviceFacts
from backend.rewards import effective
from backend.settings import Settings
from backend.workers import rows, trl_adapter
from storage.records import Run

PLACE = re.compile(r"<<([A-Z_]+)>>")
TEMPLATE = Path(__file__).with_name("script_template.py.txt")


def script_of(settings: Settings, run: Run) -> str:
    """The script of a stored run, with the rows that it was trained on where it has got that far."""
    config = RunConfig(**run.config)
    snapshot = settings.run_dir(run.id) / "data"
    if (snapshot / "train.jsonl").is_file():
        train, held_out = rows.kept(snapshot)
    else:
        split = data.load(config, settings.home)
        train, held_out = split.train, split.eval
    taken = snapshot / rows.WARMUP
    warmup: list[dict[str, Any]] = []
    if "sft" in config.stages:
        warmup = rows.read(taken) if taken.is_file() else data.warmup_rows(config, settings.home)
    config = config.model_copy(update={"reward_args": effective.of_run(settings.run_dir(run.id), config.reward_args)})
    own = carried(settings.run_dir(run.id), settings.home, config)
    return script_text(config, _model(config, settings), train, held_out, warmup, f"{run.name} ({run.id})", own)


def script_text(
    config: RunConfig,
    model: str,
    train: list[dict[str, Any]],
    held_out: list[dict[str, Any]],
    warmup: list[dict[str, Any]],
    title: str = "a GRPO run",
    custom: Mapping[str, str] | None = None,
) -> str:
    """The text of the script. `warmup` rows have prompt and completion; the others prompt and the rewards' columns.
    `custom`: the Python of each custom reward, by name (backend.custom.carried)."""
    facts = device.facts()
    here = replace(facts, kind="cpu", bf16=False) if config.use_cpu else facts
    grpo = "grpo" in config.stages
    sft = "sft" in config.stages
    parts = {
        "TITLE": " ".join(title.split())
        .encode("ascii", "backslashreplace")
        .decode()
        .replace("\\", "/")
        .replace('"', "'"),
        "MODEL": repr(model),
        "REVISION": repr(config.model_revision),
        "TRUST": repr(config.trust_remote_code),
        "REWARDS": _rewards(config, custom or {}) if grpo else "",
        "FUNCTIONS": f"[{', '.join(map(rewards.function_name, config.rewards))}]",
        "GRPO": _literal(_grpo(config, here) if grpo else None),
        "SFT": _literal(_without(trl_adapter.sft_kwargs(config, output_dir="", device=here)) if sft else None),
        "LORA": _literal(trl_adapter.lora_kwargs(config) if trl_adapter.uses_adapter(config) else None),
        "SFT_LORA": _literal(trl_adapter.lora_kwargs(config) if trl_adapter.sft_uses_adapter(config) else None),
        "QUANTIZATION": _literal(trl_adapter.quantization_kwargs(config, here)),
        "TRAIN": _rows(train),
        "EVAL": _rows(held_out if config.eval_strategy != "no" else []),
        "WARMUP": _rows([{"prompt": row["prompt"], "completion": row["completion"]} for row in warmup]),
    }
    # In one pass: a row may itself hold the text of a placeholder.
    return PLACE.sub(lambda match: parts[match[1]], TEMPLATE.read_text(encoding="utf-8"))


def _rewards(config: RunConfig, custom: Mapping[str, str]) -> str:
    built_in = [name for name in config.rewards if name not in custom]
    args = {name: given for name, given in config.reward_args.items() if name not in custom}
    parts = [rewards.source(built_in, args)] if built_in else []
    return "\n\n\n".join(part.strip("\n") for part in [*parts, *custom.values()])


def _model(config: RunConfig, settings: Settings) -> str:
    if Path(config.model).is_dir():
        return str(Path(config.model).resolve())
    return models.resolve(config.model, settings.models_dir, config.model_args)


def _grpo(config: RunConfig, here: DeviceFacts) -> dict[str, Any]:
    """As the worker's, but for the number of checkpoints kept: the worker removes old ones itself."""
    kwargs = _without(trl_adapter.grpo_kwargs(config, output_dir="", device=here))
    return kwargs | {"save_total_limit": config.save_total_limit}


def _without(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if name != "output_dir"}


def _literal(value: Any) -> str:
    return pprint.pformat(value, width=110, sort_dicts=False)


def _rows(given: list[dict[str, Any]]) -> str:
    """JSON lines as Python string literals, one a row, so that the script can be read and changed."""
    if not given:
        return "[]"
    lines = "\n".join(f"    {json.dumps(row, ensure_ascii=True)!r}," for row in given)
    return f"[\n{lines}\n]"
