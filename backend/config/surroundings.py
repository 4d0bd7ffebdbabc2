"""What a check asks of the data and the models: how many rows, how large a model. Unknown is None."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path

from backend import data, models
from backend.config.schema import RunConfig
from backend.errors import StudioError
from backend.paths import file_named
from backend.text import Text

PREFIX = re.compile(r"^(dataset|dataset_args|sft_args|model|model_args|eval_size|stages|rewards|reward_args): ")
DATA_FIELDS = frozenset({"dataset", "dataset_args", "eval_size", "seed", "data_seed"})


def row_count(config: RunConfig) -> int | None:
    """Training rows; None when only loading would tell, or when the data rules refuse the dataset anyway."""
    found = _rows(config)
    return None if isinstance(found, StudioError) else found


def _rows(config: RunConfig) -> int | StudioError | None:
    """Kept while the settings, and for a file its size and time, stay the same: the form asks at every keystroke."""
    picked = config.model_dump(include=set(DATA_FIELDS))
    path = file_named(config.dataset)
    try:
        version = (path.stat().st_mtime_ns, path.stat().st_size) if path is not None else None
    except OSError:  # gone meanwhile
        version = None
    return _counted(json.dumps(picked, sort_keys=True, default=str), version)


@lru_cache(maxsize=256)
def _counted(picked: str, version: tuple[int, int] | None) -> int | StudioError | None:
    try:
        return data.rows(RunConfig(**json.loads(picked)))
    except StudioError as error:
        return error
    except (OSError, ValueError):
        return None


def model_facts(config: RunConfig, home: Path | None) -> models.ModelFacts | None:
    """The sizes of the model, where they can be had without loading it."""
    try:
        return models.facts(config.model, home / "models" if home else None, config.model_args)
    except StudioError:
        return None


def bare(text: Text) -> Text:
    """Without the setting's name before it: a problem stands beside its field."""
    return Text(PREFIX.sub("", text.en), PREFIX.sub("", text.ko))


def rows_fault(config: RunConfig) -> Text | None:
    """Why this dataset, whose name and arguments are in order, has no rows to train on. What is held out of them is
    not looked at."""
    found = _rows(config.model_copy(update={"eval_size": 0}))
    return bare(found.text) if isinstance(found, StudioError) else None


def held_out_fault(config: RunConfig) -> Text | None:
    """Why `eval_size` rows cannot be held out of a dataset that has rows."""
    found = _rows(config)
    return bare(found.text) if isinstance(found, StudioError) and rows_fault(config) is None else None


def file_look(config: RunConfig) -> data.FileLook | None:
    """What a readable local file holds."""
    try:
        return data.look(config.dataset, config.dataset_args) if data.kind(config.dataset) == "file" else None
    except StudioError:
        return None


def dataset_fault(config: RunConfig) -> Text | None:
    """Why there is no such dataset."""
    try:
        kind = data.kind(config.dataset)
    except StudioError as error:
        return bare(error.text)
    if kind == "file" and file_named(config.dataset) is None:
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
        return bare(error.text)
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
        return bare(error.text)
    return None


def model_fault(config: RunConfig) -> Text | None:
    """Why there is no such model. The ones of the catalogue are built or fetched when they are needed."""
    if config.model in {entry.name for entry in models.entries()}:
        return None
    try:
        models.resolve(config.model, Path())
    except StudioError as error:
        return bare(error.text)
    except (OSError, ValueError) as error:
        return Text(f"is no name of a model: {error}", f"모델 이름이 아닙니다: {error}")
    return None


def model_arguments_fault(config: RunConfig) -> Text | None:
    """Why the arguments of the model would not do."""
    try:
        models.facts(config.model, None, config.model_args)
    except StudioError as error:
        return bare(error.text)
    return None
