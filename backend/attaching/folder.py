"""What a training left in its output folder, as far as it is of use here. Nothing in it is executed or unpickled."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.errors import NotFound, Refused
from backend.text import Text

LARGEST_JSON = 256_000_000  # bytes of a trainer_state.json or of a log
MOST_FILES = 100_000
LARGEST_STEP = 2**53
COMPLETIONS = re.compile(r"completions_([0-9]{1,15})\.parquet")
CHECKPOINT = re.compile(r"checkpoint-([0-9]{1,15})")


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
    """Raises NotFound where there is nothing, Refused where nothing in it is TRL's. Only regular files count: opening
    a pipe waits for whoever writes to it."""
    if not path.exists():
        raise NotFound(Text(en=f"{path}: no such folder or file", ko=f"{path}: 폴더나 파일이 없습니다"))
    if path.is_file():
        return Folder(path, None, (path,), (), None, None)
    if not path.is_dir():
        raise Refused(
            Text(en=f"{path}: neither a folder nor a regular file", ko=f"{path}: 폴더도 일반 파일도 아닙니다")
        )
    states = [path / "trainer_state.json", *_checkpoints(path, "trainer_state.json")]
    found = Folder(
        path,
        max((s for s in states if s.is_file()), key=_steps_in, default=None),
        tuple(sorted(p for p in path.glob("*.jsonl") if p.is_file())),
        _completions(path / "completions"),
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
    folders = [(int(match[1]), p) for p in path.glob("checkpoint-*") if (match := CHECKPOINT.fullmatch(p.name))]
    return [p / name for _, p in sorted(folders, reverse=True)]


def _completions(path: Path) -> tuple[Path, ...]:
    found = [p for p in path.glob("completions_*.parquet") if COMPLETIONS.fullmatch(p.name) and p.is_file()]
    if len(found) > MOST_FILES:
        raise Refused(
            Text(
                en=f"{path}: {len(found):,} files; at most {MOST_FILES:,} are read. Copy every n-th of them to another "
                "folder and take that in.",
                ko=f"{path}: 파일이 {len(found):,}개입니다. 최대 {MOST_FILES:,}개까지 읽습니다. n번째 파일만 "
                "다른 폴더로 복사해 가져오세요.",
            )
        )
    return tuple(sorted(found, key=lambda p: (step_of(p), p.name)))


def _first(paths: list[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _steps_in(state: Path) -> int:
    try:
        step = read_json(state).get("global_step")
    except Refused:
        return -1
    return int(step) if step is not None and whole(step) else 0


def step_of(path: Path) -> int:
    """The step in the name of completions_00012.parquet: the trainer's global_step, as in the file's own column."""
    match = COMPLETIONS.fullmatch(path.name)
    return int(match[1]) if match else 0


def number(value: Any) -> float | None:
    """A JSON number as a float, infinities and NaN as they are; None of anything else, or too large to be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def whole(value: Any) -> bool:
    """Whether it can be a step."""
    found = number(value)
    return found is not None and math.isfinite(found) and 0 <= found <= LARGEST_STEP


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
