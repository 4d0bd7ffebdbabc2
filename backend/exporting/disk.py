"""What lies on the disk: of each run by part, with what a part is for and what removing it costs; and the models."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.models import embedded
from backend.text import Text
from storage.records import Run
from storage.usage import rows_bytes

if TYPE_CHECKING:
    from backend.services import Services

# Of a checkpoint: what only going on with the training needs.
OPTIMIZER = ("optimizer", "scheduler", "rng_state", "scaler", "generation.safetensors", "reference.safetensors")


@dataclass(frozen=True, slots=True)
class Part:
    """`holds(path)`: whether a file of the run's folder, by its parts below it, belongs here."""

    id: str
    words: Text
    costs: Text
    removable: bool
    holds: Callable[[tuple[str, ...]], bool]


def _under(*folders: str) -> Callable[[tuple[str, ...]], bool]:
    return lambda parts: len(parts) > 1 and parts[0] in folders


def is_optimizer(parts: tuple[str, ...]) -> bool:
    return parts[0] in ("checkpoints", "sft-checkpoints") and len(parts) > 2 and parts[-1].startswith(OPTIMIZER)


PARTS = (
    Part(
        "optimizer",
        Text("Optimizer and random states in the checkpoints", "체크포인트의 옵티마이저와 난수 상태"),
        Text(
            "A resume would begin anew at step 0. The checkpoints can still be evaluated, chatted with and exported.",
            "이어서 하면 0스텝부터 다시 시작합니다. 체크포인트로 평가, 대화, 내보내기는 계속할 수 있습니다.",
        ),
        True,
        is_optimizer,
    ),
    Part(
        "checkpoints",
        Text("Checkpoints of the training, without the optimizer", "학습 중 체크포인트(옵티마이저 제외)"),
        Text(
            "A resume would begin anew at step 0, and the states along the way cannot be evaluated, chatted with or "
            "exported. The final and the best weights stay.",
            "이어서 하면 0스텝부터 다시 시작하고, 중간 상태로 평가, 대화, 내보내기를 할 수 없습니다. 최종 가중치와 "
            "최고 가중치는 남습니다.",
        ),
        True,
        _under("checkpoints", "sft-checkpoints"),
    ),
    Part(
        "final",
        Text("The trained weights", "학습된 최종 가중치"),
        Text(
            "The trained model is gone: no evaluation, chat or export of it. Its curves and texts stay.",
            "학습된 모델이 없어져 평가, 대화, 내보내기를 할 수 없습니다. 곡선과 기록은 남습니다.",
        ),
        True,
        _under("final"),
    ),
    Part(
        "best",
        Text("The best weights by held-out accuracy", "평가 정확도가 가장 높았던 가중치"),
        Text("The best weights are gone; the final ones stay.", "최고 가중치가 없어집니다. 최종 가중치는 남습니다."),
        True,
        _under("best", "best.before", "best.part", "best.gone"),
    ),
    Part(
        "exports",
        Text("Exports that were made", "만들어 둔 내보내기"),
        Text("They can be made again from the weights.", "가중치에서 다시 만들 수 있습니다."),
        True,
        _under("exports"),
    ),
    Part(
        "sft",
        Text("The warm-up's model", "워밍업 모델"),
        Text(
            "An adapter on top of it cannot be used any more, and a resume would do the warm-up again.",
            "그 위에서 학습한 어댑터를 쓸 수 없고, 이어서 할 때 워밍업부터 다시 합니다.",
        ),
        True,
        _under("sft", "sft-adapter"),
    ),
    Part(
        "logs",
        Text("The worker's log", "학습 프로세스 로그"),
        Text("The log can be read no more.", "로그를 더 볼 수 없습니다."),
        True,
        _under("logs"),
    ),
    Part(
        "data",
        Text("The rows it trained and was evaluated on", "학습과 평가에 쓴 행"),
        Text(
            "Only deleting the run removes them: evaluations and a resume need these very rows.",
            "실행을 삭제해야만 지워집니다. 평가와 이어서 학습에 이 행이 필요합니다.",
        ),
        False,
        _under("data"),
    ),
    Part(
        "other",
        Text("Small files of the run", "그 밖의 작은 파일"),
        Text("Only deleting the run removes them.", "실행을 삭제해야만 지워집니다."),
        False,
        lambda parts: True,
    ),
)
DATABASE = Part(
    "database",
    Text("Curves, completions and evaluations in the database (estimated)", "DB의 곡선, 답변, 평가 기록(추정)"),
    Text("Only deleting the run removes them.", "실행을 삭제해야만 지워집니다."),
    False,
    lambda parts: False,
)
BY_ID = {part.id: part for part in (*PARTS, DATABASE)}


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
    "other": [{"id", "bytes", "words", "used_by"?}], "used", "free", "total"} of the home folder's disk."""
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
    return {"runs": listed, "other": other, "used": used, "free": usage.free, "total": usage.total}


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
