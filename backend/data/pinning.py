"""Which state of a stored set a run uses, decided when it is made: importing the set again changes nothing for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from backend.data import stored, warmup
from backend.data.store import BUILT_IN


def pin(config: Mapping[str, Any], home: Path) -> dict[str, Any]:
    """What to change in a run's configuration: dataset_sha256, and sft_args.sha256 for stored warm-up rows.

    NotFound where a state that it names is not kept any more.
    """
    changes: dict[str, Any] = {}
    dataset, given = str(config.get("dataset") or ""), config.get("dataset_sha256")
    if dataset not in BUILT_IN and stored.is_stored(dataset, home, given):
        changes["dataset_sha256"] = stored.state(dataset, home, given)[0]
    elif given is not None:
        changes["dataset_sha256"] = None
    imitated, args = config.get("sft_dataset"), dict(config.get("sft_args") or {})
    if imitated and stored.is_stored(imitated, home, args.get(warmup.PIN)):
        sha256, _ = stored.state(imitated, home, args.get(warmup.PIN), "sft")
        changes["sft_args"] = {**args, warmup.PIN: sha256}
    return changes


def needed(runs: Iterable[Any]) -> set[str]:
    """The states that some run was made with: they can be resumed, exported and started again."""
    found: set[str] = set()
    for run in runs:
        states = (run.config.get("dataset_sha256"), (run.config.get("sft_args") or {}).get(warmup.PIN))
        found |= {state for state in states if isinstance(state, str)}
    return found
