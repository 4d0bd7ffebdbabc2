"""What a check asks of the data and the models: how many rows, how large a model. Unknown is None."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from backend import data, models
from backend.config.schema import RunConfig
from backend.errors import StudioError
from backend.text import Text

DATA_FIELDS = frozenset({"dataset", "dataset_args", "eval_size", "seed", "data_seed"})


def row_count(config: RunConfig) -> int | None:
    """Training rows; None when only loading would tell, or when the data rules refuse the dataset anyway.

    Kept while the settings, and for a file its size and time, stay the same: the form asks at every keystroke.
    """
    picked = config.model_dump(include=set(DATA_FIELDS))
    path = Path(config.dataset).expanduser()
    try:
        version = (path.stat().st_mtime_ns, path.stat().st_size) if path.is_file() else None
    except (OSError, ValueError):
        version = None
    return _row_count(json.dumps(picked, sort_keys=True, default=str), version)


@lru_cache(maxsize=256)
def _row_count(picked: str, version: tuple[int, int] | None) -> int | None:
    try:
        return data.rows(RunConfig(**json.loads(picked)))
    except (StudioError, OSError, ValueError):
        return None


def model_facts(config: RunConfig, home: Path | None) -> models.ModelFacts | None:
    """The sizes of the model, where they can be had without loading it."""
    try:
        return models.facts(config.model, home / "models" if home else None, config.model_args)
    except StudioError:
        return None


def dataset_fault(config: RunConfig) -> Text | None:
    """Why there is no such dataset."""
    try:
        kind = data.kind(config.dataset)
    except StudioError as error:
        return error.text
    if kind == "file" and not Path(config.dataset).expanduser().is_file():
        return Text(f"there is no file {config.dataset}", f"{config.dataset} 파일이 없습니다")
    return None


def arguments_fault(config: RunConfig) -> Text | None:
    """Why the arguments of the dataset would not do."""
    try:
        data.kind(config.dataset)
    except StudioError:
        return None
    try:
        data.check_args(config.dataset, config.dataset_args)
    except StudioError as error:
        return error.text
    return None


def warmup_fault(config: RunConfig) -> Text | None:
    """Why there are no rows for the warm-up. Asked for one row only."""
    picked = config.model_dump(include={*DATA_FIELDS, "model", "sft_args"})
    return _warmup_fault(json.dumps(picked, sort_keys=True, default=str))


@lru_cache(maxsize=256)
def _warmup_fault(picked: str) -> Text | None:
    try:
        data.warmup_rows(RunConfig(**json.loads(picked), sft_rows=1))
    except StudioError as error:
        return error.text
    return None


def model_arguments_fault(config: RunConfig) -> Text | None:
    """Why the arguments of the model would not do."""
    try:
        models.facts(config.model, None, config.model_args)
    except StudioError as error:
        return error.text
    return None
