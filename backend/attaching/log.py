"""A log as a file: JSON lines, the dicts that transformers prints, or a JSON list of entries."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backend.attaching.folder import LARGEST_JSON
from backend.attaching.history import History, of_entries
from backend.errors import Refused
from backend.text import Text

LONGEST_LINE = 1_000_000
LONGEST_PRINTED = 100_000
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
BAR = re.compile(r"^[^{]{0,300}?\d+/\d+ \[[^\]{]{0,100}\]\s*(?=\{)")  # tqdm's, on the line of the entry
NO_NUMBER = re.compile(r"(?<=: )(-?)(nan|inf)(?=[,}])")  # as Python prints them


def of_log(path: Path) -> History:
    """Raises Refused where not one line is an entry."""
    found = of_entries(_entries(path))
    if not found.rows:
        raise Refused(
            Text(
                en=f"{path}: no line of it is a log entry with a step: TRL's logs are JSON objects such as "
                '{"step": 1, "reward": 0.5, "loss": 0.01}',
                ko=f"{path}: 스텝이 있는 로그 줄이 없습니다. TRL 로그는 "
                '{"step": 1, "reward": 0.5, "loss": 0.01} 같은 JSON 객체입니다',
            )
        )
    return found


def _entries(path: Path) -> Iterator[Any]:
    size = path.stat().st_size
    if size > LARGEST_JSON:
        raise Refused(
            Text(
                en=f"{path}: {size:,} bytes; at most {LARGEST_JSON:,} are read. Copy every n-th line of it to another "
                "file and take that in.",
                ko=f"{path}: {size:,}바이트입니다. 최대 {LARGEST_JSON:,}바이트까지 읽습니다. n번째 줄만 다른 파일로 "
                "복사해 가져오세요.",
            )
        )
    with path.open("rb") as file:
        wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")  # what PowerShell's > writes
    with path.open(encoding="utf-16" if wide else "utf-8-sig", errors="replace") as lines:
        begun = False
        for line in lines:
            if not (text := line.strip()):
                continue
            if not begun and text.startswith("["):
                yield from _list(text + lines.read())
                return
            begun = True
            yield _entry(text)


def _list(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def _entry(text: str) -> Any:
    """What is no entry comes back as None."""
    if len(text) > LONGEST_LINE:
        return None
    if not text.startswith("{"):
        text = BAR.sub("", COLOURS.sub("", text).strip())
    if not text.startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if len(text) > LONGEST_PRINTED:
        return None
    try:
        return ast.literal_eval(NO_NUMBER.sub(r"'\1\2'", text))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
