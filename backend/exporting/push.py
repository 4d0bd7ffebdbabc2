"""Sending an export to the hub: what would be sent, why it cannot be, and the upload in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.config.schema import RunConfig
from backend.errors import NotFound, Refused, WrongState
from backend.exporting import child, making, places, planning, sources
from backend.processes.redact import is_secret_name
from backend.settings import on_space
from backend.text import Text
from backend.workers import checkpoints
from storage.records import Run

if TYPE_CHECKING:
    from backend.exporting.service import ExportService

# What the hub takes: letters, digits, - _ and . inside; no -- or .. and no .git at the end.
REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")
TOKEN = "HF_TOKEN"
HUB = "https://huggingface.co"
KEPT_HERE = frozenset({checkpoints.MANIFEST})  # names this machine's run; the card says what others need


def require_repo(repo: str) -> None:
    """Refused unless `repo` is strictly org/name: no address, no path."""
    if not REPO.fullmatch(repo) or "--" in repo or ".." in repo or repo.endswith(".git"):
        raise Refused(
            Text(
                en=f"repository {repo!r}: must be org/name of letters, digits, - _ . (no address), such as me/my-model",
                ko=f"저장소 {repo!r}: 영문자, 숫자, - _ . 로 된 org/name 형식이어야 합니다(주소는 안 됨). 예: "
                "me/my-model",
            )
        )


def token() -> str | None:
    """From the environment only; never shown, stored or written to a log."""
    return os.environ.get(TOKEN, "").strip() or None


def endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or HUB


def plan(
    exports: ExportService, run: Run, repo: str, what: str | None, checkpoint: str, public: bool
) -> dict[str, Any]:
    """The dry run, in ExportService.push_plan's shape. Refused for a name that is no repository's."""
    require_repo(repo)
    source = sources.find(exports.settings, run, checkpoint, hashes=False)
    base = sources.base_of(exports.settings, run) if source.adapter else None
    if what is None:
        what = "model" if base is None else "adapter" if base.shared else "merged"
    with contextlib.suppress(WrongState):  # said in `why`
        what = planning.plan(exports.settings, run, what, checkpoint, hashes=False).what
    card = exports.card(run.id, what == "merged")
    files, exact = _files(exports, run, f"{what}-{checkpoint}", source, base, card, what)
    why = _why_not(run, what, base)
    return {
        "run": run.id,
        "repo": repo,
        "url": f"{endpoint()}/{repo}",
        "private": not public,
        "what": what,
        "checkpoint": checkpoint,
        "files": files,
        "bytes": sum(file["bytes"] or 0 for file in files),
        "exact": exact,
        "card": card,
        "token": token() is not None,
        "why": why.to_json() if why else None,
    }


def _files(
    exports: ExportService, run: Run, name: str, source: sources.Source, base: sources.Base | None, card: str, what: str
) -> tuple[list[dict[str, Any]], bool]:
    """(files with their bytes, whether they exist already). Of a merge that is still to be made, the weights' size is
    computed from the base; None where it cannot be."""
    with contextlib.suppress(NotFound):
        made = exports.about(run.id, name)
        if made["verified"] and not made["stale"]:
            return [file for file in made["files"] if file["name"] not in KEPT_HERE], True
    files = {making.CARD: len(card.encode("utf-8", "replace"))} | {
        file: size for file, size in source.files.items() if what != "merged" or not _replaced(file)
    }
    listed: list[dict[str, Any]] = [{"name": file, "bytes": size} for file, size in sorted(files.items())]
    if what == "merged" and base is not None:
        folder = Path(base.name)
        values = sources.parameters_of(folder) if folder.is_dir() else None
        dtype = planning.dtype_of(RunConfig(**run.config), exports.settings.run_dir(run.id))
        listed += [
            {"name": "config.json", "bytes": None},
            {"name": "generation_config.json", "bytes": None},
            {"name": "model.safetensors", "bytes": None if values is None else values * planning.BYTES[dtype]},
        ]
    return listed, False


def _replaced(name: str) -> bool:
    return name == sources.ADAPTER_CONFIG or sources.WEIGHTS.fullmatch(name) is not None


def _why_not(run: Run, what: str, base: sources.Base | None) -> Text | None:
    if on_space():
        return Text(
            en="nothing is sent to the hub from a public Space: its token would act for every visitor",
            ko="공개 Space에서는 허브에 올릴 수 없습니다. 방문자 누구나 이 토큰을 쓰게 되기 때문입니다",
        )
    if (why := planning.not_ended(run)) is not None:
        return why
    if what == "adapter" and base is not None and not base.shared:
        return Text(
            en=f"what=adapter: it stands on {base.shown}, which is on this machine only, so nobody could load it; "
            "send merged instead",
            ko=f"what=adapter: 기준 모델({base.shown})이 이 컴퓨터에만 있어 아무도 불러올 수 없습니다. merged로 "
            "올리세요",
        )
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return Text(
            en="HF_HUB_OFFLINE is set, so the hub is not to be reached", ko="HF_HUB_OFFLINE이 설정되어 있습니다"
        )
    if token() is None:
        return Text(
            en=f"there is no {TOKEN} in the environment. Make a token with write access on the hub, set it, and start "
            "the studio again.",
            ko=f"환경 변수 {TOKEN}이 없습니다. 허브에서 쓰기 권한 토큰을 만들어 설정한 뒤 스튜디오를 다시 시작하세요.",
        )
    return None


def upload(
    exports: ExportService, folder: Path, planned: Mapping[str, Any], progress: making.Progress
) -> dict[str, Any]:
    """Upload all files of an export in one commit; {"repo", "url", "private", "commit", "files", "bytes"}.

    StudioError, in words, for whatever the hub answers. A stop, or a fault before the end, leaves the repository as
    it was: only the last request makes the commit. A repository that is public already is refused unless asked for.
    """
    about = json.dumps({"run": planned["run"], "checkpoint": planned["checkpoint"]})
    files = [path.name for path in sorted(folder.iterdir()) if path.is_file() and path.name not in KEPT_HERE]
    total = sum((folder / name).stat().st_size for name in files)
    request = {
        "folder": str(folder),
        "files": files,
        "repo": planned["repo"],
        "private": planned["private"],
        "message": f"GRPO Studio: {planned['what']} {planned['checkpoint']}",
        "description": about,
    }
    env = {name: value for name, value in os.environ.items() if name == TOKEN or not is_secret_name(name)}
    env |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    what = Text(en=f"sending to {planned['repo']}", ko=f"{planned['repo']}(으)로 올리는 중")
    done = [0]

    def on_message(message: Mapping[str, Any]) -> None:
        done[0] = int(message.get("done") or 0)
        progress(done[0], total, what)

    run_dir = exports.settings.run_dir(planned["run"])
    with places.scratch(run_dir / "exports" / "push") as part:
        path = part / "work" / "request.json"
        path.write_text(json.dumps(request), encoding="utf-8")
        argv = [sys.executable, "-m", "backend.exporting.push_child", str(path)]
        end = child.talk(
            argv, part / "work" / "log", on_message=on_message, tick=lambda: progress(done[0], total, what), env=env
        )
    return {
        "repo": planned["repo"],
        "url": f"{endpoint()}/{planned['repo']}",
        "private": planned["private"],
        "commit": end["commit"],
        "files": files,
        "bytes": total,
    }
