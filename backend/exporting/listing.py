"""The exports that a run has, and what is known of each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from backend.errors import NotFound
from backend.exporting import places, planning, sources
from backend.settings import Settings
from backend.text import Text
from backend.workers import checkpoints
from storage.records import Run

NAME = re.compile(r"(adapter|merged|model)-(final|best|checkpoint-(0|[1-9][0-9]{0,17}))")


def every(settings: Settings, run: Run) -> list[dict[str, Any]]:
    """All of them, by name, in `about`'s shape."""
    folder = places.exports_dir(settings, run.id)
    there = sorted(p for p in folder.iterdir() if NAME.fullmatch(p.name)) if folder.is_dir() else []
    return [about(settings, run, path) for path in there if (path / checkpoints.MANIFEST).is_file()]


def folder(settings: Settings, run: Run, name: str) -> Path:
    """The folder of an export; NotFound for a name of another form and for one that is not there."""
    path = places.exports_dir(settings, run.id) / name if NAME.fullmatch(name) else None
    if path is None or path.is_symlink() or not (path / checkpoints.MANIFEST).is_file():
        raise NotFound(
            Text(en=f"run {run.id} has no export {name!r}", ko=f"실행 {run.id}에 내보내기 {name!r}이(가) 없습니다")
        )
    return path


def about(settings: Settings, run: Run, folder: Path) -> dict[str, Any]:
    """{"name", "what", "checkpoint", "step", "bytes", "made_at", "dtype", "files": [{"name", "bytes"}], "verified":
    bool, "proof": {"prompts", "same_tokens", "tokens", "ties", "max_logit_difference", "device"}, "verified_words",
    "notes", "stale": the run has other weights by now, "load": how to load it, "base", "base_shared", "source"}."""
    manifest = checkpoints.read_manifest(folder) or {"files": {}}
    files = [{"name": name, "bytes": fact["size"]} for name, fact in manifest["files"].items()]
    why = checkpoints.problem(folder, hashes=False)
    proof = manifest.get("verified") or {}
    keys = ("what", "checkpoint", "step", "made_at", "dtype", "base", "base_shared", "notes", "source")
    return {
        "name": folder.name,
        **{key: manifest.get(key) for key in keys},
        "bytes": sum(file["bytes"] for file in files),
        "files": files,
        "verified": bool(proof) and why is None,
        "proof": proof,
        "verified_words": (changed(why) if why else proved(proof)).to_json(),
        "stale": stale(settings, run, manifest),
        "load": planning.how_to_load(manifest, f"PATH/{folder.name}"),
    }


def stale(settings: Settings, run: Run, manifest: dict[str, Any]) -> bool:
    """Whether the run's weights of this name are others than those an export was made of."""
    if not sources.CHECKPOINT.fullmatch(str(manifest.get("checkpoint"))):
        return False  # a manifest that somebody has written
    stages = list(run.config.get("stages") or ())
    source = sources.folder_of(settings.run_dir(run.id), str(manifest.get("checkpoint")), stages)
    if not (source / checkpoints.MANIFEST).is_file():
        return False
    found = sources.Source("", source, None, False, sources.taken(source))
    return planning.source_hash(found) != manifest.get("source")


def changed(why: str) -> Text:
    return Text(
        en=f"this export was changed since it was made: {why}. Remove it and make it again.",
        ko=f"만든 뒤에 바뀐 내보내기입니다({why}). 지우고 다시 만드세요.",
    )


def proved(proof: dict[str, Any]) -> Text:
    if not proof:
        return Text(en="not compared with the trained weights", ko="학습된 가중치와 비교하지 않았습니다")
    ties = proof.get("ties") or 0
    en = f"{proof['same_tokens']} of {proof['prompts']} prompts answered with the same tokens by a fresh process"
    ko = f"새 프로세스에서 불러와 프롬프트 {proof['prompts']}개 중 {proof['same_tokens']}개에 같은 토큰으로 답했습니다"
    if ties:
        en += f", {ties} with another one where rounding decides"
        ko += f"(나머지 {ties}개는 반올림으로 갈리는 곳에서만 다름)"
    apart = proof["max_logit_difference"]
    return Text(en=f"{en}; logits differ by at most {apart:.2g}", ko=f"{ko}. 로짓 차이는 최대 {apart:.2g}")
