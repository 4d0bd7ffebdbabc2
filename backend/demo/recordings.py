"""Runs that were recorded from real training and come with the program (configs/recordings)."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from backend.errors import NotFound
from backend.settings import PROJECT
from backend.text import Text
from storage import portable
from storage.db import Database
from storage.reader import Reader
from storage.results import put_result

log = logging.getLogger(__name__)
FOLDER = PROJECT / "configs" / "recordings"
RESULT = "recording"  # the name under which a run says that it was recorded


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded run: a file `<name>.jsonl.gz`, and `<name>.yaml` with what is said of it."""

    name: str
    title: Text
    about: Text
    path: Path
    order: int

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title.to_json(), "about": self.about.to_json()}


def found(folder: Path = FOLDER) -> list[Recording]:
    """All that are whole, in the order that they ask for."""
    paths = [path for path in folder.glob("*.yaml") if path.with_name(f"{path.stem}.jsonl.gz").is_file()]
    return sorted((_read(path, path.stat().st_mtime_ns) for path in paths), key=lambda one: one.order)


@functools.lru_cache(maxsize=64)
def _read(path: Path, _changed: int) -> Recording:
    said = yaml.safe_load(path.read_text(encoding="utf-8"))
    title, about = (Text(en=said[name]["en"].strip(), ko=said[name]["ko"].strip()) for name in ("title", "about"))
    return Recording(path.stem, title, about, path.with_name(f"{path.stem}.jsonl.gz"), said["order"])


@functools.cache
def run_of(path: Path) -> str:
    """The id of the run in a file."""
    return str(portable.peek(path)["run"]["id"])


def take_in(db: Database, recording: Recording) -> str:
    """Load one (once) and mark it as recorded; its run's id."""
    run_id = portable.load(db, recording.path)
    if RESULT not in Reader(db).results(run_id):
        thinned = portable.peek(recording.path)["groups_every"]
        put_result(db, run_id, RESULT, {**recording.to_json(), "groups_every": thinned})
    return run_id


def take_in_all(db: Database, folder: Path = FOLDER) -> dict[str, str]:
    """Load every recording; name -> run id. One that is damaged is logged and left out: the others are there."""
    ids: dict[str, str] = {}
    for recording in found(folder):
        try:
            ids[recording.name] = take_in(db, recording)
        except portable.NotARun as error:
            log.error("recording %s: %s", recording.name, error)
    return ids


def named(names: Iterable[str], folder: Path = FOLDER) -> list[Recording]:
    """Each of them once. NotFound for the first one that is not there."""
    there = {recording.name: recording for recording in found(folder)}
    wanted = dict.fromkeys(names)
    unknown = next((name for name in wanted if name not in there), None)
    if unknown is not None:
        raise NotFound(Text(en=f"There is no recording {unknown[:80]!r}.", ko=f"{unknown[:80]!r} 기록이 없습니다."))
    return [there[name] for name in wanted]
