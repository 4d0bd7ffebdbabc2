"""The arguments that a run's rewards really had: the settings', and what the run found out by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from backend.rewards.base import names, spec

FILE = "reward_args.json"


def with_open_thought(
    rewards: Iterable[str], args: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The arguments for completions that begin inside the reasoning, since the chat template has opened it; and the
    rewards whose arguments that changes. A `prefilled` that the settings give stays as it is."""
    made = {name: dict(given) for name, given in args.items()}
    changed = []
    for name in rewards:
        known = {argument.name for argument in spec(name).arguments} if name in names() else set()
        if "prefilled" in known and "prefilled" not in made.get(name, {}):
            made.setdefault(name, {})["prefilled"] = True
            changed.append(name)
    return made, changed


def write(run_dir: Path, args: Mapping[str, Any]) -> None:
    """Keep the arguments with the run."""
    run_dir.mkdir(parents=True, exist_ok=True)
    (run_dir / FILE).write_text(json.dumps(args, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def of_run(run_dir: Path, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a run's rewards had; `args`, its settings', where it has not got that far."""
    try:
        return json.loads((run_dir / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return dict(args)
