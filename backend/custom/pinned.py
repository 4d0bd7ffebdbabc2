"""Which version a run uses: chosen when it is made, kept in its folder, found there by its worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from backend.custom.library import Library
from backend.custom.resolving import resolve
from backend.custom.reward import CustomReward


def pin(home: Path, run_dir: Path, rewards: Iterable[str], wanted: Mapping[str, int]) -> dict[str, int]:
    """Copy into the run's folder the version of each custom reward that it uses; {name: version} for its settings.

    `wanted`: versions that are chosen already; the newest of the others. A version that the folder holds is kept, also
    when the library has none any more. NotFound for one that is nowhere.
    """
    own, shelf = Library(run_dir), Library(home)
    versions: dict[str, int] = {}
    for name in rewards:
        version = wanted.get(name)
        if version is None and not shelf.versions(name):
            continue  # built in
        found = own.get(name, version) if version in own.versions(name) else shelf.get(name, version)
        own.keep(found)
        versions[name] = found.version
    return versions


def home_of(run_dir: Path, home: Path, name: str, version: int | None) -> Path:
    """Where a run's reward is read from: its own folder, where it has this version, else the home's library."""
    return run_dir if version in Library(run_dir).versions(name) else home


def of_run(run_dir: Path, home: Path, config: Any, name: str) -> Any:
    """The reward `name` as a run uses it (`config` has reward_args and reward_versions); what it prints goes to the
    run's folder."""
    version = config.reward_versions.get(name)
    reward = resolve(home_of(run_dir, home, name, version), name, config.reward_args.get(name), version)
    if isinstance(reward, CustomReward):
        reward.gives_up = True
        reward.print_to(run_dir / "rewards" / name / "prints.log")
    return reward
