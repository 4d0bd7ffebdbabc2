"""Stored groups of a run as rows for rewards: chosen evenly over the steps, joined with the run's own data snapshot."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from storage.reader import Reader
from storage.records import StoredGroup

SNAPSHOTS = ("data/train.jsonl", "data/eval.jsonl")
NOT_COLUMNS = {"prompt", "prompts", "completion", "completions", "completion_ids"}

Row = dict[str, Any]


def chosen(reader: Reader, run_id: str, steps: Sequence[int] | None, limit: int) -> tuple[list[StoredGroup], int]:
    """At most `limit` groups, whole steps spread evenly over the run, and how many groups there are in all.

    `steps`: only those from the first to the last of them.
    """
    low, high = (min(steps), max(steps)) if steps else (None, None)
    counted: Counter[tuple[str, int]] = Counter()
    for group in reader.completions(run_id):
        if (low is None or group.step >= low) and (high is None or group.step <= high):
            counted[group.phase, group.step] += 1
    total = sum(counted.values())
    if not total:
        return [], 0
    found: list[StoredGroup] = []
    for phase, step in _spread(counted, limit):
        room = limit - len(found)
        if room <= 0:
            break
        found += reader.groups(run_id, step=step, phase=phase, newest_first=False, limit=room)
    return found, total


def _spread(counted: Counter[tuple[str, int]], limit: int) -> list[tuple[str, int]]:
    """Steps at even distances whose groups fit into `limit`."""
    places = list(counted)
    share = min(1.0, limit / sum(counted.values()))
    wanted = max(1, round(len(places) * share))
    return [places[len(places) * at // wanted] for at in range(wanted)]


def columns_of(run_dir: Path, groups: Iterable[StoredGroup]) -> dict[str, Row]:
    """The other columns of the rows that the groups belong to, by prompt_id, from the run's own copy of its data."""
    wanted = {group.prompt_id for group in groups}
    found: dict[str, Row] = {}
    for name in SNAPSHOTS:
        path = run_dir / name
        if not path.is_file() or len(found) == len(wanted):
            continue
        with path.open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                if row.get("prompt_id") in wanted:
                    found.setdefault(row["prompt_id"], row)
    return found


def rows_of(group: StoredGroup, known: dict[str, Row]) -> list[Row]:
    """One row a completion, with the columns that the rewards of the run were given."""
    row = known.get(group.prompt_id)
    chat = group.prompt_format == "messages"
    prompt = json.loads(group.prompt) if chat else group.prompt
    if row is None:
        row = {"prompt_id": group.prompt_id, "ground_truth": group.ground_truth}
    columns = {name: value for name, value in row.items() if name not in NOT_COLUMNS}
    return [
        {
            **columns,
            "prompt": prompt,
            "completion": [{"role": "assistant", "content": each.text}] if chat else each.text,
            "completion_ids": list(range(each.tokens)),
        }
        for each in group.completions
    ]
