"""What lies on the disk: of each run by part, with what a part is for and what removing it costs; and the models."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.exporting.parts import BY_ID, PARTS, Part
from backend.models import embedded
from backend.text import Text
from storage.records import Run
from storage.retention import text_bytes
from storage.usage import rows_bytes

if TYPE_CHECKING:
    from backend.services import Services


def files(folder: Path) -> Iterator[tuple[tuple[str, ...], int]]:
    """(parts of the path below `folder`, bytes) of every plain file; links are not followed and count nothing.

    Bytes of the content. A file that vanishes meanwhile is left out.
    """
    for parent, _, names in os.walk(folder, followlinks=False):
        below = Path(parent).relative_to(folder).parts
        for name in names:
            path = Path(parent) / name
            with contextlib.suppress(OSError):
                if not path.is_symlink():
                    yield (*below, name), path.lstat().st_size


def size(folder: Path) -> tuple[int, int]:
    """(bytes, files) under a folder."""
    found = [size for _, size in files(folder)]
    return sum(found), len(found)


def part_of(parts: tuple[str, ...]) -> Part:
    """The first part that a file belongs to; `other` takes what none does."""
    return next(part for part in PARTS if part.holds(parts))


def measure(run_dir: Path) -> dict[str, tuple[int, int]]:
    """(bytes, files) by part, every part named."""
    found = {part.id: [0, 0] for part in PARTS}
    for parts, count in files(run_dir):
        entry = found[part_of(parts).id]
        entry[0] += count
        entry[1] += 1
    return {name: (entry[0], entry[1]) for name, entry in found.items()}


def of_run(services: Services, run: Run) -> dict[str, Any]:
    """{"run", "name", "state", "total", "bytes": {part: bytes, "database", "total"}, "parts": [{"id", "bytes", "files",
    "words", "costs", "removable", "why_not"?}], "free"}."""
    from backend.exporting import cleaning

    run_dir = services.settings.run_dir(run.id)
    measured = measure(run_dir) | {"database": (rows_bytes(services.db, run.id).get(run.id, 0), 0)}
    listed = []
    for name, (count, number) in measured.items():
        part = BY_ID[name]
        why = cleaning.why_not(services, run, name) if part.removable and number else None
        entry: dict[str, Any] = {
            "id": name,
            "bytes": count,
            "files": number,
            "words": part.words.to_json(),
            "costs": part.costs.to_json(),
            "removable": part.removable and number > 0 and why is None,
        }
        if why is not None:
            entry["why_not"] = why.to_json()
        listed.append(entry)
    total = sum(count for count, _ in measured.values())
    return {
        "run": run.id,
        "name": run.name,
        "state": run.state.value,
        "total": total,
        "bytes": {name: count for name, (count, _) in measured.items()} | {"total": total},
        "parts": listed,
        "free": shutil.disk_usage(there(run_dir)).free,
    }


def of_all(services: Services) -> dict[str, Any]:
    """{"runs": [{"run", "name", "state", "bytes", "parts": [{"id", "bytes", "words"}]}], the largest first,
    "other": [{"id", "bytes", "words", "used_by"?}], "used", "free", "total"} of the home folder's disk, "samples":
    {"bytes", "budget"}: what the texts of completions take in the database, and what they may (None: all)."""
    settings = services.settings
    rows = rows_bytes(services.db)
    listed = []
    for run in services.reader.runs():
        measured = {name: count for name, (count, _) in measure(settings.run_dir(run.id)).items()}
        measured["database"] = rows.get(run.id, 0)
        parts = [
            {"id": name, "bytes": count, "words": BY_ID[name].words.to_json()}
            for name, count in measured.items()
            if count
        ]
        listed.append(
            {
                "run": run.id,
                "name": run.name,
                "state": run.state.value,
                "bytes": sum(measured.values()),
                "parts": parts,
            }
        )
    listed.sort(key=lambda entry: -entry["bytes"])
    other = [*_models(services), *_rest(settings.home)]
    usage = shutil.disk_usage(there(settings.home))
    in_files = sum(
        part["bytes"] for run in listed for part in run["parts"] if part["id"] != "database"
    )  # the database is a file of its own
    used = in_files + sum(entry["bytes"] for entry in other)
    budget = settings.keep_samples_mb
    samples = {
        "bytes": sum(text_bytes(services.db).values()),
        "budget": None if budget is None else int(budget * 2**20),
    }
    return {
        "runs": listed, "other": other, "used": used, "free": usage.free, "total": usage.total, "samples": samples,
    }  # fmt: skip


def _models(services: Services) -> list[dict[str, Any]]:
    """Each folder of models/, with the runs that use it."""
    folder = services.settings.models_dir
    if not folder.is_dir():
        return []
    default = embedded.folder(folder).name
    found = []
    for path in sorted(folder.iterdir()):
        if not path.is_dir() or path.is_symlink() or path.name.startswith("."):
            continue
        built = path.name.startswith("embedded-")
        words = (
            Text(
                "The embedded model" if path.name == default else "An embedded model with other settings",
                "내장 모델" if path.name == default else "설정이 다른 내장 모델",
            )
            if built
            else Text(f"A fetched model: {path.name}", f"받아 둔 모델: {path.name}")
        )
        found.append({"id": f"models/{path.name}", "bytes": size(path)[0], "words": words.to_json()})
    return found


def _rest(home: Path) -> list[dict[str, Any]]:
    """What lies in the home beside runs and models: the database with its log, data sets, rewards."""
    base = sum(path.stat().st_size for path in home.glob("studio.db*") if path.is_file())
    found = [
        {
            "id": "database",
            "bytes": base,
            "words": Text("The database of all runs, with its log", "모든 실행의 DB와 그 로그").to_json(),
        }
    ]
    known = {"runs", "models"}
    for path in sorted(home.iterdir()) if home.is_dir() else ():
        if path.is_dir() and not path.is_symlink() and path.name not in known:
            words = Text(f"The folder {path.name}", f"{path.name} 폴더")
            found.append({"id": path.name, "bytes": size(path)[0], "words": words.to_json()})
    return found


def there(path: Path) -> Path:
    """The nearest folder above that exists: what a disk's room can be asked of."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path
