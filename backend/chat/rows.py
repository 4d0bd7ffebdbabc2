"""A run's held-out rows as prompts of the chat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backend.errors import NotFound
from backend.text import Text
from backend.workers import rows as run_rows
from backend.workers.capture import PROMPT_ID


def held_out(run_dir: Path) -> list[run_rows.Row]:
    """The rows that the run evaluates on; [] where it has none, or has not got that far."""
    try:
        return run_rows.kept(run_dir / "data")[1]
    except (OSError, ValueError):
        return []


def about(run_dir: Path) -> dict[str, Any]:
    """{"rows": how many, "system": the system prompt that all of them have, or null}."""
    found = held_out(run_dir)
    systems = {system_of(row["prompt"]) for row in found}
    return {"rows": len(found), "system": systems.pop() if len(systems) == 1 else None}


def system_of(prompt: Any) -> str | None:
    if not isinstance(prompt, list) or not prompt or prompt[0].get("role") != "system":
        return None
    content = prompt[0].get("content")
    return content if isinstance(content, str) else None


def row(run_dir: Path, index: int) -> run_rows.Row:
    """NotFound for a place beyond the last row."""
    found = held_out(run_dir)
    if index >= len(found):
        raise NotFound(
            Text(
                en=f"index={index}: the run has {len(found)} held-out rows, counted from 0",
                ko=f"index={index}: 이 실행의 평가 행은 {len(found)}개입니다(0부터 셉니다)",
            )
        )
    return found[index]


def problem(run_dir: Path, index: int) -> dict[str, Any]:
    """{"index", "total", "prompt", "system", "ground_truth", "columns"} of one row."""
    chosen, total = row(run_dir, index), len(held_out(run_dir))
    other = {k: v for k, v in chosen.items() if k not in ("prompt", "ground_truth", PROMPT_ID)}
    truth = chosen.get("ground_truth")
    return {
        "index": index,
        "total": total,
        "prompt": chosen["prompt"],
        "system": system_of(chosen["prompt"]),
        "ground_truth": truth if truth is None or isinstance(truth, str) else json.dumps(truth, ensure_ascii=False),
        "columns": other,
    }
