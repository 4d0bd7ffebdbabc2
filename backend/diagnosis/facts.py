"""What the rules know of a run before its first step, from its settings alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from backend import models, views
from backend import rewards as registry
from backend.config.batch import batch_plan
from backend.config.schema import FIELDS, RunConfig
from backend.diagnosis.records import Facts
from backend.errors import StudioError
from backend.rewards.task import full_score, task_index

NO_WARMUP = frozenset({"constant", "reduce_lr_on_plateau", "greedy"})  # schedules that know no warm-up


def facts_of(
    config: Mapping[str, Any],
    reward_names: Sequence[str] = (),
    total_steps: int | None = None,
    models_dir: Path | None = None,
) -> Facts:
    """`config`: RunConfig.to_dict(), or what is known of an attached run's; `reward_names`: as the run calls them,
    empty before its worker has named them. What cannot be known is None, never guessed.

    Custom rewards and reward models have no bounds, in the worker as here: the extremes are learned from the groups.
    """
    known, config = _known(config)
    names = tuple(reward_names) or tuple(str(name) for name in config.get("rewards") or ())
    weights = tuple(float(w) for w in config.get("reward_weights") or ())
    if len(weights) != len(names):
        weights = (1.0,) * len(names)
    cycle = batch_plan(known).cycle if known else 1
    return Facts(
        config=config,
        reward_names=names,
        weights=weights,
        bounds=_bounds(config, names),
        task=task_index(names),
        decides=full_score(names) is not None,
        total_steps=total_steps,
        warmup_steps=warmup_steps(config, total_steps),
        cycle=max(1, math.ceil(cycle)),
        kind=views.kind_of_run(config),
        parameters=_parameters(config, models_dir),
    )


def warmup_steps(config: Mapping[str, Any], total_steps: int | None) -> int:
    """Optimizer steps in which the learning rate rises; below 1 the setting is a share of all steps, as transformers
    takes it (rounded up)."""
    if str(config.get("lr_scheduler_type") or "linear") in NO_WARMUP:
        return 0
    given = float(config.get("warmup_steps") or 0)
    if given >= 1:
        return int(given)
    total = total_steps or int(config.get("max_steps") or 0)
    return math.ceil(given * total) if total > 0 else 0


def _known(config: Mapping[str, Any]) -> tuple[RunConfig | None, Mapping[str, Any]]:
    """The settings as a whole, None where they are of another version or of a run that was not made here; and those
    of their values that have the type of their field: a rule need not doubt a number."""
    try:
        return RunConfig(**config), config
    except ValidationError as error:
        wrong = {str(problem["loc"][0]) for problem in error.errors() if problem["loc"]}
    except (TypeError, ValueError):
        return None, config
    return None, {name: value for name, value in config.items() if name not in wrong or name not in FIELDS}


def _bounds(config: Mapping[str, Any], names: Sequence[str]) -> tuple[tuple[float, float] | None, ...]:
    """Along the rewards of the settings, which stand in the order of `names`."""
    chosen = [str(name) for name in config.get("rewards") or names]
    if len(chosen) != len(names):
        chosen = list(names)
    args = config.get("reward_args") or {}
    return tuple(_bound(name, args.get(name) or {}) for name in chosen)


def _bound(name: str, args: Mapping[str, Any]) -> tuple[float, float] | None:
    if name not in registry.names():
        return None
    try:
        return registry.spec(name).bounds_with(registry.check_args(name, args))
    except (StudioError, TypeError, ValueError, KeyError):
        return None


def _parameters(config: Mapping[str, Any], models_dir: Path | None) -> int | None:
    try:
        found = models.facts(str(config.get("model") or ""), models_dir, config.get("model_args") or {})
    except (StudioError, TypeError, ValueError):
        return None
    return None if found is None else found.params
