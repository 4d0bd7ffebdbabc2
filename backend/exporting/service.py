"""What the page and the command line may do with a run's files: weights for elsewhere, the report, the card, the disk.

Whatever takes long blocks and calls `progress(done, total, Text)`, which may raise to stop it; `done` is -1 where only
the stage is known. Every answer is JSON.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.errors import NotFound, Refused
from backend.exporting import cleaning, disk, making, places, planning, push, sources, zipping
from backend.exporting.making import Progress
from backend.settings import on_space
from backend.text import Lang, Text
from backend.workers import checkpoints
from storage.records import Run

if TYPE_CHECKING:
    from backend.services import Services

NAME = re.compile(r"(adapter|merged|model)-(final|best|checkpoint-(0|[1-9][0-9]{0,17}))")
DOCUMENTS = {"report": ("html", "text/html"), "card": ("md", "text/markdown")}


def quiet(done: int, total: int, what: Text) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Archive:
    """A ZIP on its way: its file name, its length in bytes and its pieces."""

    filename: str
    length: int
    pieces: Iterator[bytes]


class ExportService:
    """Weights, the report, the card, and the disk."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.settings = services.settings

    # --- what there is ---

    def overview(self, run_id: str) -> dict[str, Any]:
        """{"run", "sources", "exports", "can": {"export", "push"}, "why": Text or None, "free"}.

        A source is {"checkpoint", "step", "kind": "adapter"|"full", "bytes"}; an export what `about` says of it.
        """
        run = self.services.get(run_id)
        why = planning.not_ended(run)
        found = sources.available(self.settings, run)
        return {
            "run": run.id,
            "state": run.state.value,
            "sources": [source.to_json() for source in found],
            "exports": self._exports(run),
            "can": {"export": why is None and bool(found), "push": not on_space()},
            "why": why.to_json() if why else None,
            "free": shutil.disk_usage(disk.there(self.settings.run_dir(run.id))).free,
        }

    def _exports(self, run: Run) -> list[dict[str, Any]]:
        folder = places.exports_dir(self.settings, run.id)
        there = sorted(p for p in folder.iterdir() if NAME.fullmatch(p.name)) if folder.is_dir() else []
        return [self._about(run, path) for path in there if (path / checkpoints.MANIFEST).is_file()]

    def about(self, run_id: str, name: str) -> dict[str, Any]:
        """An export: {"name", "what", "checkpoint", "step", "bytes", "made_at", "dtype", "files": [{"name", "bytes"}],
        "verified": bool, "proof": {"prompts", "same_tokens", "ties", "max_logit_difference"}, "verified_words",
        "notes", "stale": the run has other weights by now, "load": how to load it, "base"}."""
        run = self.services.get(run_id)
        return self._about(run, self._folder(run, name))

    def _about(self, run: Run, folder: Path) -> dict[str, Any]:
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
            "verified_words": (_changed(why) if why else _proved(proof)).to_json(),
            "stale": self._stale(run, manifest),
            "load": planning.how_to_load(manifest, f"PATH/{folder.name}"),
        }

    def _stale(self, run: Run, manifest: dict[str, Any]) -> bool:
        stages = list(run.config.get("stages") or ())
        source = sources.folder_of(self.settings.run_dir(run.id), str(manifest.get("checkpoint")), stages)
        if not (source / checkpoints.MANIFEST).is_file():
            return False
        found = sources.Source("", source, None, False, sources.taken(source))
        return planning.source_hash(found) != manifest.get("source")

    def _folder(self, run: Run, name: str) -> Path:
        """The folder of an export; NotFound for a name of another form and for one that is not there."""
        parent = places.exports_dir(self.settings, run.id)
        folder = parent / name if NAME.fullmatch(name) else None
        if folder is None or folder.is_symlink() or not (folder / checkpoints.MANIFEST).is_file():
            raise NotFound(
                Text(en=f"run {run.id} has no export {name!r}", ko=f"실행 {run.id}에 내보내기 {name!r}이(가) 없습니다")
            )
        return folder

    # --- making ---

    def require(self, run_id: str, what: str, checkpoint: str = "final") -> None:
        """Refused, NotFound or WrongState where `make` would be, as far as it can be told at once."""
        run = self.services.get(run_id)
        planned = planning.plan(self.settings, run, what, checkpoint, hashes=False)
        planning.require_room(planned, disk.there(places.exports_dir(self.settings, run.id)))

    def make(
        self,
        run_id: str,
        what: str,
        checkpoint: str = "final",
        *,
        out: Path | None = None,
        progress: Progress = quiet,
    ) -> dict[str, Any]:
        """Make and prove an export, in the run's own folder or at `out`; what `about` says of it, with its "path".

        An export that is there already, is whole and was made of these very weights is taken as it is. Refused,
        NotFound, WrongState and StudioError in words.
        """
        run = self.services.get(run_id)
        progress(-1, 0, making.STAGES["check"])
        planned = planning.plan(self.settings, run, what, checkpoint)
        target = out if out is not None else places.exports_dir(self.settings, run.id) / planned.name
        if target.exists() and out is not None:
            raise places.exists(target)
        if target.exists():
            manifest = checkpoints.read_manifest(target) or {}
            if checkpoints.problem(target) is None and manifest.get("source") == planning.source_hash(planned.source):
                return self._about(run, target) | {"path": str(target), "made": False}
            with places.locked(self.settings, run):
                places.remove(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        card = self.card(run_id, planned.merged)
        made = making.make(planned, target, card, planning.prompts(self.settings, run), progress)
        return self._about(run, made) | {"path": str(made), "made": True}

    def verify(self, run_id: str, name: str, progress: Progress = quiet) -> dict[str, Any]:
        """Prove an export anew, from the weights it was made of; what `about` says of it then.

        Its bytes are compared with its manifest first. One that answers otherwise is removed.
        """
        run = self.services.get(run_id)
        folder = self._folder(run, name)
        what, _, checkpoint = name.partition("-")
        why = checkpoints.problem(folder)
        if why is not None:
            raise Refused(_changed(why))
        if self._stale(run, checkpoints.read_manifest(folder) or {}):
            raise Refused(
                Text(
                    en=f"{name} was made of earlier weights, which this run no longer has, so there is nothing to "
                    "compare it with. Make it again.",
                    ko=f"{name}은(는) 이전 가중치로 만든 것이라 비교할 대상이 없습니다. 다시 만드세요.",
                )
            )
        planned = planning.plan(self.settings, run, what, checkpoint)
        making.prove(planned, folder, planning.prompts(self.settings, run), progress)
        return self._about(run, folder)

    def remove(self, run_id: str, name: str) -> dict[str, Any]:
        """{"freed": bytes}."""
        run = self.services.get(run_id)
        folder = self._folder(run, name)
        size = disk.size(folder)[0]
        with places.locked(self.settings, run):
            places.remove(folder)
        return {"removed": name, "freed": size}

    # --- downloading ---

    def archive(self, run_id: str, name: str) -> Archive:
        """An export as a ZIP that is streamed from the disk. Refused where a file was changed since it was made."""
        run = self.services.get(run_id)
        folder = self._folder(run, name)
        why = checkpoints.problem(folder, hashes=False)
        if why is not None:
            raise Refused(_changed(why))
        manifest = checkpoints.read_manifest(folder) or {}
        listed = zipping.entries(folder, f"{run.id}-{name}", manifest.get("crc32"))
        return Archive(f"{run.name}-{name}.zip", zipping.length(listed), zipping.stream(listed))

    def document(self, run_id: str, what: str, lang: Lang = "en") -> tuple[str, str, str]:
        """(file name, text, media type) of the report (HTML) or the card (Markdown)."""
        from backend import report

        run = self.services.get(run_id)
        ending, media = DOCUMENTS[what]
        text = report.html(self.services, run.id, lang) if what == "report" else self.card(run.id)
        return f"{run.name}-{what}.{ending}", text, media

    def card(self, run_id: str, merged: bool = False) -> str:
        """The model card in Markdown; `merged`: of base and adapter as one model."""
        from backend import report

        return report.card(self.services, run_id, merged)

    # --- the hub ---

    def push_plan(
        self, run_id: str, repo: str, what: str | None = None, checkpoint: str = "final", public: bool = False
    ) -> dict[str, Any]:
        """The dry run: {"repo", "url", "private", "what", "checkpoint", "files": [{"name", "bytes"}], "bytes",
        "exact": whether the sizes are those of files that exist, "card", "token": bool, "why": Text or None}."""
        run = self.services.get(run_id)
        return push.plan(self, run, repo, what, checkpoint, public)

    def require_push(self, run_id: str, repo: str, what: str | None, checkpoint: str, public: bool) -> dict[str, Any]:
        """The plan of an upload that may begin. Refused, in words, where it may not."""
        planned = self.push_plan(run_id, repo, what, checkpoint, public)
        if planned["why"] is not None:
            raise Refused(Text(**planned["why"]))
        return planned

    def push(
        self,
        run_id: str,
        repo: str,
        what: str | None = None,
        checkpoint: str = "final",
        *,
        public: bool = False,
        progress: Progress = quiet,
    ) -> dict[str, Any]:
        """Make the export where it is not there yet, then upload it; {"repo", "url", "private", "commit", "files"}."""
        planned = self.require_push(run_id, repo, what, checkpoint, public)
        made = self.make(run_id, planned["what"], checkpoint, progress=progress)
        return push.upload(self, Path(made["path"]), planned, progress)

    # --- the disk ---

    def disk(self, run_id: str | None = None) -> dict[str, Any]:
        """What lies on the disk: of one run by part, or of all runs and models. Shapes in backend.exporting.disk."""
        if run_id is not None:
            return disk.of_run(self.services, self.services.get(run_id))
        return disk.of_all(self.services)

    def clean(self, run_id: str, parts: Sequence[str], dry_run: bool = False) -> dict[str, Any]:
        """{"run", "parts": [{"id", "bytes", "files"}], "freed": bytes, "dry_run"}. Refused or WrongState in words."""
        return cleaning.clean(self.services, self.services.get(run_id), parts, dry_run)

    def write_archive(self, run_id: str, name: str, out: Path) -> Path:
        """The ZIP as a file: a temporary one beside it, then a rename."""
        from backend.export import write_bytes

        archive = self.archive(run_id, name)
        free = shutil.disk_usage(disk.there(out.absolute().parent)).free
        if archive.length + planning.SPARE > free:
            raise Refused(planning.no_room(archive.length + planning.SPARE, free))
        return write_bytes(out, archive.pieces)


def _changed(why: str) -> Text:
    return Text(
        en=f"this export was changed since it was made: {why}. Remove it and make it again.",
        ko=f"만든 뒤에 바뀐 내보내기입니다({why}). 지우고 다시 만드세요.",
    )


def _proved(proof: dict[str, Any]) -> Text:
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
