"""Removing parts of an ended run from the disk: never what something else stands on."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.errors import Refused, WrongState
from backend.exporting import disk, places, sources
from backend.exporting.parts import OPTIMIZER
from backend.processes.locks import held
from backend.report.words import TEXTS as WORDS
from backend.settings import on_space
from backend.text import Text
from backend.workers import checkpoints
from storage.records import Run

if TYPE_CHECKING:
    from backend.services import Services

FOLDERS = {
    "checkpoints": ("checkpoints", "sft-checkpoints"),
    "final": ("final",),
    "best": ("best", "best.before", "best.part", "best.gone"),
    "exports": ("exports",),
    "sft": ("sft", "sft-adapter"),
    "logs": ("logs",),
}
REMOVABLE = (*FOLDERS, "optimizer")


def clean(services: Services, run: Run, parts: Sequence[str], dry_run: bool = False) -> dict[str, Any]:
    """{"run", "parts": [{"id", "bytes", "files"}], "freed": bytes (that would be freed, in a dry run), "dry_run"}.

    Refused for a part of no such name or that something else stands on; WrongState for a run that has not ended or
    that somebody works with.
    """
    wanted = list(dict.fromkeys(parts))
    for part in wanted:
        if part not in REMOVABLE:
            raise Refused(_no_such_part(part))
    if not wanted:
        raise Refused(_no_such_part(""))
    for part in wanted:
        if (why := why_not(services, run, part, wanted)) is not None:
            raise (Refused if run.state.ended else WrongState)(why)
    run_dir = services.settings.run_dir(run.id)
    measured = disk.measure(run_dir)
    if "checkpoints" in wanted and "optimizer" not in wanted:
        wanted.append("optimizer")  # it lies within
    freed = [{"id": part, "bytes": measured[part][0], "files": measured[part][1]} for part in wanted]
    if not dry_run:
        with places.locked(services.settings, run):
            current = services.get(run.id)
            if not current.state.ended:
                raise WrongState(_not_ended(current))
            for part in wanted:
                remove(run_dir, part)
    return {"run": run.id, "parts": freed, "freed": sum(entry["bytes"] for entry in freed), "dry_run": dry_run}


def remove(run_dir: Path, part: str) -> None:
    """Take a part away. A manifest goes before its files, so that a kill in the middle leaves nothing that counts."""
    if part == "optimizer":
        for parent in FOLDERS["checkpoints"]:
            if not (run_dir / parent).is_symlink():
                for _, folder in checkpoints.numbered(run_dir / parent):
                    strip(folder)
        return
    for name in FOLDERS[part]:
        folder = run_dir / name
        if folder.is_symlink() or not folder.is_dir():
            continue
        for manifest in folder.rglob(checkpoints.MANIFEST):
            manifest.unlink()
        if part == "exports":
            for path in folder.iterdir():
                if path.name != ".lock":  # it is held at this moment
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        else:
            shutil.rmtree(folder)


def strip(folder: Path) -> None:
    """A checkpoint without what only the training needs. Its manifest says so: no run goes on from it."""
    manifest = checkpoints.read_manifest(folder)
    if manifest is None or checkpoints.problem(folder, hashes=False) is not None:
        return
    kept = {name: fact for name, fact in manifest["files"].items() if not name.startswith(OPTIMIZER)}
    gone = sorted(set(manifest["files"]) - set(kept))
    if not gone:
        return
    checkpoints.forget_manifest(folder)
    for name in gone:
        (folder / name).unlink(missing_ok=True)
    facts = {key: value for key, value in manifest.items() if key not in {"version", "files"}}
    checkpoints.write_manifest(folder, **facts, **{checkpoints.WEIGHTS_ONLY: True})


def why_not(services: Services, run: Run, part: str, together: Collection[str] = ()) -> Text | None:
    """Why this part cannot be removed now; None where it can. `together`: what goes with it in the same call."""
    if on_space():
        return Text(
            en="on a public Space nobody removes what others look at", ko="공개 Space에서는 파일을 지울 수 없습니다"
        )
    if not run.state.ended:
        return _not_ended(run)
    settings = services.settings
    run_dir = settings.run_dir(run.id)
    if held(run_dir / "run.lock") or held(places.exports_dir(settings, run.id) / ".lock"):
        return Text(
            en=f"something still works with run {run.id} (it is ending, or an export is being made); try again later",
            ko=f"실행 {run.id}을(를) 아직 쓰는 작업이 있습니다(끝나는 중이거나 내보내는 중). 나중에 다시 시도하세요",
        )
    if part == "sft" and (user := _own_adapter(run_dir, together)) is not None:
        return Text(
            en=f"the adapter in {user} stands on the warm-up's model; export it merged and remove {user} too, or keep "
            "both",
            ko=f"{user}의 어댑터가 워밍업 모델 위에서 학습되었습니다. merged로 내보내고 {user}도 함께 지우거나 둘 다 "
            "남기세요",
        )
    return _used_by_another(services, run, part)


def _own_adapter(run_dir: Path, together: Collection[str]) -> str | None:
    """The part with an adapter that stands on this run's warm-up, and that would be left behind."""
    sft = checkpoints.sft_dir(run_dir)
    places_of = [("final", run_dir / "final"), ("best", run_dir / "best")]
    places_of += [("checkpoints", path) for _, path in checkpoints.numbered(checkpoints.checkpoints_dir(run_dir))]
    for part, folder in places_of:
        if part in together:
            continue
        with contextlib.suppress(OSError, ValueError, AttributeError):
            about = json.loads((folder / sources.ADAPTER_CONFIG).read_text(encoding="utf-8"))
            base = Path(str(about.get("base_model_name_or_path") or ""))
            if base == sft or (base.parent.name, base.name) == (run_dir.name, sft.name):
                return part
    return None


def _used_by_another(services: Services, run: Run, part: str) -> Text | None:
    """A run that began from a folder of this part, or a live evaluation of this run."""
    run_dir = services.settings.run_dir(run.id).resolve()
    folders = [run_dir / name for name in FOLDERS.get(part, ())]
    for other in services.reader.runs():
        if other.id == run.id:
            continue
        wanted = [str(other.config.get("model") or "")]
        evaluation = other.config.get("evaluation") or {}
        if isinstance(evaluation, dict) and not other.state.ended:
            wanted += [str(evaluation.get(key) or "") for key in ("base", "trained")]
            if evaluation.get("run") == run.id and part in ("checkpoints", "final", "best", "sft", "optimizer"):
                return _used(other)
        for text in wanted:
            if "/" not in text:
                continue
            path = Path(text).expanduser()
            if path.is_absolute() and any(path.resolve().is_relative_to(folder) for folder in folders):
                return _used(other)
    return None


def _used(other: Run) -> Text:
    return Text(
        en=f"run {other.id} ({other.name}) uses it", ko=f"실행 {other.id}({other.name})이(가) 사용하고 있습니다"
    )


def _not_ended(run: Run) -> Text:
    state = WORDS[f"state.{run.state.value}"]
    return Text(
        en=f"run {run.name or run.id} is {state.en}: stop it or wait for its end before removing any of its files",
        ko=f"{run.name or run.id}: 아직 {state.ko} 상태입니다. 끝난 뒤에 파일을 지우세요",
    )


def _no_such_part(part: str) -> Text:
    return Text(
        en=f"parts={part!r}: must be some of {', '.join(REMOVABLE)}; the rest goes with the run itself",
        ko=f"parts={part!r}: {', '.join(REMOVABLE)} 중에서 고르세요. 나머지는 실행을 삭제할 때 지워집니다",
    )
