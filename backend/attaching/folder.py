"""What a training left in its output folder, as far as it is of use here. Nothing in it is executed or unpickled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.errors import NotFound, Refused
from backend.text import Text

LARGEST_JSON = 256_000_000  # bytes of a trainer_state.json or of a log
MOST_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Folder:
    """`state`: the newest trainer_state.json; `logs`: logs in JSON lines; `completions`: TRL's Parquet files in the
    order of their steps; `adapter`: adapter_config.json; `tokenizer`: tokenizer.json."""

    path: Path
    state: Path | None
    logs: tuple[Path, ...]
    completions: tuple[Path, ...]
    adapter: Path | None
    tokenizer: Path | None


def look(path: Path) -> Folder:
    """Raises NotFound where there is nothing, Refused where nothing in it is TRL's."""
    if not path.exists():
        raise NotFound(Text(en=f"{path}: no such folder or file", ko=f"{path}: 폴더나 파일이 없습니다"))
    if path.is_file():
        return Folder(path, None, (path,), (), None, None)
    states = [path / "trainer_state.json", *_checkpoints(path, "trainer_state.json")]
    found = Folder(
        path,
        max((s for s in states if s.is_file()), key=_steps_in, default=None),
        tuple(sorted(p for p in path.glob("*.jsonl") if p.is_file())),
        tuple(sorted((path / "completions").glob("completions_*.parquet"), key=step_of)),
        _first([path / "adapter_config.json", *_checkpoints(path, "adapter_config.json")]),
        _first([path / "tokenizer.json", *_checkpoints(path, "tokenizer.json")]),
    )
    if found.state is None and not found.logs and not found.completions:
        raise Refused(
            Text(
                en=f"{path}: neither trainer_state.json (here or in a checkpoint-N), nor completions/*.parquet "
                "(log_completions=True writes them), nor a log in JSON lines (*.jsonl). Give the output_dir of a "
                "training with TRL.",
                ko=f"{path}: trainer_state.json(이 폴더 또는 checkpoint-N 안), completions/*.parquet"
                "(log_completions=True일 때 기록), JSON Lines 로그(*.jsonl) 중 아무것도 없습니다. TRL 학습의 "
                "output_dir를 지정하세요.",
            )
        )
    return found


def _checkpoints(path: Path, name: str) -> list[Path]:
    """A file of each checkpoint, the newest first."""
    folders = [p for p in path.glob("checkpoint-*") if p.name[11:].isdigit()]
    return [p / name for p in sorted(folders, key=lambda p: -int(p.name[11:]))]


def _first(paths: list[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _steps_in(state: Path) -> int:
    try:
        return int(read_json(state).get("global_step") or 0)
    except Refused:
        return -1


def step_of(path: Path) -> int:
    """The step in the name of completions_00012.parquet; -1 where there is none."""
    digits = path.stem.rpartition("_")[2]
    return int(digits) if digits.isdigit() else -1


def read_json(path: Path) -> dict[str, Any]:
    """An object of a JSON file; NaN and infinities as Python writes them. Raises Refused."""
    try:
        if path.stat().st_size > LARGEST_JSON:
            raise ValueError(f"more than {LARGEST_JSON:,} bytes")
        value = json.loads(path.read_text(encoding="utf-8-sig"))
        if not isinstance(value, dict):
            raise ValueError("it holds no object")
    except (OSError, ValueError, RecursionError) as error:
        raise Refused(Text(en=f"{path}: cannot be read ({error})", ko=f"{path}: 읽을 수 없습니다({error})")) from error
    return value
