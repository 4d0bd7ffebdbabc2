"""What a training left in its output folder, as far as it is of use here. Nothing in it is executed or unpickled."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend.errors import NotFound, Refused
from backend.text import Text

LARGEST_JSON = 256_000_000  # bytes of a trainer_state.json or of a log
MOST_FILES = 100_000
LARGEST_STEP = 2**53
COMPLETIONS = re.compile(r"completions_([0-9]{1,15})\.parquet")
CHECKPOINT = re.compile(r"checkpoint-([0-9]{1,15})")
STATE = "trainer_state.json"


@dataclass(frozen=True, slots=True)
class Folder:
    """`state`: the newest trainer_state.json, and `said` what it holds; `broken`: those that cannot be read, with why;
    `logs`: logs in JSON lines; `completions`: TRL's Parquet files in the order of their steps; `others`: how many
    Parquet files have another name; `adapter`: adapter_config.json; `tokenizer`: tokenizer.json."""

    path: Path
    state: Path | None = None
    said: Mapping[str, Any] = field(default_factory=dict)
    broken: tuple[Refused, ...] = ()
    logs: tuple[Path, ...] = ()
    completions: tuple[Path, ...] = ()
    others: int = 0
    adapter: Path | None = None
    tokenizer: Path | None = None


def look(path: Path) -> Folder:
    """Raises NotFound where there is nothing, Refused where nothing in it is TRL's. Only regular files count: opening
    a pipe waits for whoever writes to it."""
    if not path.exists():
        raise NotFound(Text(en=f"{path}: no such folder or file", ko=f"{path}: 폴더나 파일이 없습니다"))
    if path.is_file():
        return _one(path)
    if not path.is_dir():
        raise Refused(
            Text(en=f"{path}: neither a folder nor a regular file", ko=f"{path}: 폴더도 일반 파일도 아닙니다")
        )
    names = sorted(each.name for each in path.iterdir())
    checkpoints = _checkpoints(path, names)
    state, said, broken = _state([path, *checkpoints])
    # The files of a repository of completions lie at its top.
    completions, others = _completions(path / "completions") if "completions" in names else ([], 0)
    completions = completions or _completions(path)[0]
    found = Folder(
        path,
        state,
        said,
        tuple(broken),
        tuple(path / name for name in names if name.endswith(".jsonl") and (path / name).is_file()),
        tuple(completions),
        others,
        _first(path / "adapter_config.json", *(each / "adapter_config.json" for each in checkpoints)),
        _first(path / "tokenizer.json", *(each / "tokenizer.json" for each in checkpoints)),
    )
    if found.state is None and not found.logs and not found.completions:
        raise broken[0] if broken else _nothing(path)
    return found


def _one(path: Path) -> Folder:
    """A file: a trainer_state.json, else a log."""
    if path.suffix.lower() == ".parquet":
        raise Refused(
            Text(
                en=f"{path}: one file of completions. Give the output_dir of the training, the folder that holds "
                "completions/.",
                ko=f"{path}: 생성 답 파일 하나입니다. completions/가 들어 있는 학습의 output_dir를 지정하세요.",
            )
        )
    if path.name == STATE:
        return Folder(path, path, read_json(path))
    try:  # one under another name
        said = read_json(path) if path.suffix.lower() == ".json" else {}
    except Refused:
        said = {}
    return Folder(path, path, said) if isinstance(said.get("log_history"), list) else Folder(path, logs=(path,))


def _nothing(path: Path) -> Refused:
    inside = path.name == "completions" or CHECKPOINT.fullmatch(path.name)
    more = f"{path.parent}" if inside else ""
    return Refused(
        Text(
            en=f"{path}: neither trainer_state.json (here or in a checkpoint-N), nor completions/*.parquet "
            "(log_completions=True writes them), nor a log in JSON lines (*.jsonl). Give the output_dir of a "
            f"training with TRL{f', here {more}' if more else ''}.",
            ko=f"{path}: trainer_state.json(이 폴더 또는 checkpoint-N 안), completions/*.parquet"
            "(log_completions=True일 때 기록), JSON Lines 로그(*.jsonl) 중 아무것도 없습니다. TRL 학습의 "
            f"output_dir{f'({more})' if more else ''}를 지정하세요.",
        )
    )


def _checkpoints(path: Path, names: list[str]) -> list[Path]:
    """The newest first."""
    found = [(int(match[1]), name) for name in names if (match := CHECKPOINT.fullmatch(name))]
    return [path / name for _, name in sorted(found, reverse=True)]


def _state(folders: list[Path]) -> tuple[Path | None, Mapping[str, Any], list[Refused]]:
    """(the state of the most steps, what it holds, those that are broken) of the folder itself and its checkpoints, the
    newest first: older ones than the first sound one are not read. One without a step counts where no other is."""
    best: tuple[int, Path, dict[str, Any]] | None = None
    broken: list[Refused] = []
    for folder in folders:
        file = folder / STATE
        if not file.is_file():
            continue
        try:
            said = read_json(file)
        except Refused as error:
            broken.append(error)
            continue
        step = said.get("global_step")
        at = int(step) if step is not None and whole(step) else -1
        if best is None or at > best[0]:
            best = (at, file, said)
        if at >= 0 and folder != folders[0]:
            break
    return (best[1], best[2], broken) if best else (None, {}, broken)


def _completions(path: Path) -> tuple[list[Path], int]:
    """(TRL's files in the order of their steps, how many Parquet files have another name)."""
    names = [each.name for each in path.iterdir() if each.suffix == ".parquet"] if path.is_dir() else []
    found = [path / name for name in names if COMPLETIONS.fullmatch(name) and (path / name).is_file()]
    if len(found) > MOST_FILES:
        raise Refused(
            Text(
                en=f"{path}: {len(found):,} files; at most {MOST_FILES:,} are read. Copy every n-th of them to another "
                "folder and take that in.",
                ko=f"{path}: 파일이 {len(found):,}개입니다. 최대 {MOST_FILES:,}개까지 읽습니다. n번째 파일만 "
                "다른 폴더로 복사해 가져오세요.",
            )
        )
    others = sum(not COMPLETIONS.fullmatch(name) for name in names)
    return sorted(found, key=lambda p: (step_of(p), p.name)), others


def _first(*paths: Path) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


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
        raise Refused(
            Text(
                en=f"{path}: cannot be read ({error}). Copy it again from where the training ran, or move it away so "
                "that what else is in the folder is taken in.",
                ko=f"{path}: 읽을 수 없습니다({error}). 학습한 곳에서 다시 복사하거나, 다른 곳으로 옮겨 폴더의 "
                "나머지만 가져오세요.",
            )
        ) from error
    return value
