"""What the page and the command line may do with a run's files: weights for elsewhere, the report, the card, the disk.

Whatever takes long blocks and calls `progress(done, total, Text)`, which may raise to stop it; `done` is -1 where only
the stage is known. Every answer is JSON.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.errors import Refused
from backend.exporting import cleaning, disk, listing, making, places, planning, push, sources, zipping
from backend.exporting.making import Progress
from backend.settings import on_space
from backend.text import Lang, Text
from backend.workers import checkpoints
from storage.records import Run

if TYPE_CHECKING:
    from backend.services import Services

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

        A source is {"checkpoint", "step", "kind": "adapter"|"full", "bytes"}; an export what
        listing.about says of it.
        """
        run = self.services.get(run_id)
        why = planning.not_ended(run)
        found = sources.available(self.settings, run)
        return {
            "run": run.id,
            "state": run.state.value,
            "sources": [source.to_json() for source in found],
            "exports": listing.every(self.settings, run),
            "can": {"export": why is None and bool(found), "push": not on_space()},
            "why": why.to_json() if why else None,
            "free": shutil.disk_usage(disk.there(self.settings.run_dir(run.id))).free,
        }

    def about(self, run_id: str, name: str) -> dict[str, Any]:
        """An export, in listing.about's shape; NotFound where there is none of this name."""
        run = self.services.get(run_id)
        return self._about(run, self._folder(run, name))

    def _about(self, run: Run, folder: Path) -> dict[str, Any]:
        return listing.about(self.settings, run, folder)

    def _folder(self, run: Run, name: str) -> Path:
        return listing.folder(self.settings, run, name)

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
        with places.in_words(target):  # a name that is too long, a folder that may not be read
            there = target.exists()
        if there and out is not None:
            raise places.exists(target)
        if there:
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
            raise Refused(listing.changed(why))
        if listing.stale(self.settings, run, checkpoints.read_manifest(folder) or {}):
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
            raise Refused(listing.changed(why))
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
