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

PREFIX = re.compile(
    r"^(dataset(_args|_sha256)?|sft_(args|dataset)|model(_args)?|eval_size|stages|rewards|reward_args): "
)
DATA_FIELDS = frozenset({"dataset", "dataset_args", "dataset_sha256", "eval_size", "seed", "data_seed"})


def row_count(config: RunConfig, home: Path | None = None) -> int | None:
    """Training rows; None when only loading would tell, or when the data rules refuse the dataset anyway."""
    found = _rows(config, home)
    return None if isinstance(found, StudioError) else found


def _rows(config: RunConfig, home: Path | None) -> int | StudioError | None:
    """Kept while the settings, and of a file or a stored set its size and time, stay the same: the form asks at every
    keystroke."""
    picked = config.model_dump(include=set(DATA_FIELDS))
    return _counted(json.dumps(picked, sort_keys=True, default=str), home, _version(config.dataset, home))


def _version(dataset: str, home: Path | None) -> tuple[int, int] | None:
    """What changes when the file or the stored set of this name does."""
    path = data.meta_file(dataset, home) or file_named(dataset)
    try:
        stat = path.stat() if path is not None else None
    except OSError:  # gone meanwhile
        return None
    return (stat.st_mtime_ns, stat.st_size) if stat is not None else None


@lru_cache(maxsize=256)
def _counted(picked: str, home: Path | None, version: tuple[int, int] | None) -> int | StudioError | None:
    try:
        return data.rows(RunConfig(**json.loads(picked)), home)
    except StudioError as error:
        return error
    except (OSError, ValueError):
        return None


def own_rows(run_dir: Path | None) -> int | None:
    """How many training rows a run has copied into its folder; None where it has not yet."""
    if run_dir is None:
        return None
    try:
        with (run_dir / "data" / "train.jsonl").open("rb") as file:
            return sum(1 for _ in file)
    except OSError:
        return None


def has_own_warmup(run_dir: Path | None) -> bool:
    """Whether a run has copied the rows of its warm-up into its folder."""
    return run_dir is not None and (run_dir / "data" / "warmup.jsonl").is_file()


def model_facts(config: RunConfig, home: Path | None) -> models.ModelFacts | None:
    """The sizes of the model, where they can be had without loading it."""
    try:
        return models.facts(config.model, home / "models" if home else None, config.model_args)
    except StudioError:
        return None


def bare(text: Text) -> Text:
    """Without the setting's name before it: a problem stands beside its field."""
    return Text(PREFIX.sub("", text.en), PREFIX.sub("", text.ko))


def rows_fault(config: RunConfig, home: Path | None = None) -> Text | None:
    """Why this dataset, whose name and arguments are in order, has no rows to train on. What is held out of them is
    not looked at."""
    found = _rows(config.model_copy(update={"eval_size": 0}), home)
    return bare(found.text) if isinstance(found, StudioError) else None


def held_out_fault(config: RunConfig, home: Path | None = None) -> Text | None:
    """Why `eval_size` rows cannot be held out of a dataset that has rows."""
    found = _rows(config, home)
    return bare(found.text) if isinstance(found, StudioError) and rows_fault(config, home) is None else None


def file_look(config: RunConfig, home: Path | None = None) -> data.FileLook | None:
    """What a readable local file or a stored set holds."""
    try:
        return data.look(config, home)
    except StudioError:
        return None


def dataset_fault(config: RunConfig, home: Path | None = None) -> Text | None:
    """Why there is no such dataset."""
    try:
        kind = data.kind(config.dataset, home, config.dataset_sha256)
    except StudioError as error:
        return bare(error.text)
    if kind == "file" and file_named(config.dataset) is None:
        return Text(f"there is no file {config.dataset}", f"{config.dataset} 파일이 없습니다")
    return None


def arguments_fault(config: RunConfig, home: Path | None = None) -> Text | None:
    """Why the arguments of the dataset would not do."""
    try:
        data.kind(config.dataset, home, config.dataset_sha256)
    except StudioError:
        return None
    try:
        data.check_args(config.dataset, config.dataset_args, home, config.dataset_sha256)
    except StudioError as error:
        return bare(error.text)
    return None


def warmup_fault(config: RunConfig, home: Path | None = None) -> Text | None:
    """Why there are no rows for the warm-up. Asked for one row only."""
    picked = config.model_dump(include={*DATA_FIELDS, "model", "sft_args", "sft_dataset"})
    version = _version(config.sft_dataset, home) if config.sft_dataset else None
    return _warmup_fault(json.dumps(picked, sort_keys=True, default=str), home, version)


@lru_cache(maxsize=256)
def _warmup_fault(picked: str, home: Path | None, version: tuple[int, int] | None) -> Text | None:
    try:
        data.warmup_rows(RunConfig(**json.loads(picked), sft_rows=1), home)
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
