"""What a check asks of the data and the models: how many rows, how large a model. Unknown is None."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backend.config.report import Problem
from backend.config.schema import RunConfig
from backend.errors import StudioError


def data_facts(config: RunConfig) -> tuple[int | None, int | None, Problem | None]:
    """Training rows, held-out rows, and the problem when the dataset cannot be read."""
    try:
        from backend.data import rows
    except ImportError:
        return None, None, None
    try:
        count = rows(config)
    except StudioError as error:
        return None, None, Problem("dataset", config.dataset, error.text, [], "dataset")
    return count, (config.eval_size if count is not None else None), None


def model_facts(config: RunConfig, home: Path | None) -> Any:
    """The sizes of the model where they can be had without loading it."""
    try:
        from backend.models import facts
    except ImportError:
        return None
    try:
        return facts(config.model, home / "models" if home else None)
    except StudioError:
        return None
