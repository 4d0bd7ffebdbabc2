"""What the page and the command line may do with data sets: look at files, keep them, make them, take rows of them.

A `mapping` says how a file's columns are meant; every key may be left out:
    prompt, ground_truth, system, completion, messages   names of columns; ground_truth null: none of them
    template          the prompt as text with {column} fields (a literal brace is doubled)
    system_prompt     one system message for every row
    chat              true: plain prompts become a conversation
    kind              "prompts" (default) or "sft" (rows for the supervised warm-up)
    encoding          utf-8, utf-16-le, cp949, ...; found out where it is left out
    delimiter         of a CSV; found out where it is left out
    last_assistant    "refuse" (default), "drop" or "ground_truth": for conversations that end in an answer
    bad_rows          "refuse" (default) or "drop": leave rows out that cannot be used, and count them
    bool_ground_truth "refuse" (default) or "text": Boolean ground truths become "true" and "false"
    rewards           names of rewards that the ground truths are tried with
    subset, split, revision   of a hub set
Report (of `check`): {"ok", "rows", "columns", "encoding", "delimiter",
"problems": [{"row", "column", "what": {en, ko},
"level": "error"|"warn"|"info", "code"}], "counts": {name: number}, "preview": [{column: clipped cell}] (50 rows as they
stand in the file), "rendered": [row as the trainer gets it] (3), "mapping": what was used, "offers": [{"mapping": keys
to set, "words": {en, ko}}], "notes": [{en, ko}], "kind", "bytes", "filled": {column: rows that hold something}}. `row`
is the number of the row in the file, from 1, or None. At most 200 problems are listed; the counts are whole. "info" is
no fault: what is read otherwise than it stands there (a renamed column), which the notes say too.
Meta (of a stored set): {"name", "kind", "rows", "different", "columns", "filled", "sha256", "bytes", "source",
"encoding", "mapping", "counts", "notes", "created_at"} and for generated sets {"generator", "args", "rewards", ...}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.data import clip, derive, making, pinning, sampling, sources, taking
from backend.data.store import Store, valid_name
from backend.data.uploads import ID, Uploads
from backend.settings import Settings
from storage.reader import Reader


class DataService:
    """Thread-safe. Every refusal is a StudioError in words; `Refused.report` is the report where there is one."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self.settings = settings
        self.reader = reader
        self.uploads = Uploads(settings.home)
        self._store = Store(settings.home)

    # --- files ---

    def upload(self, filename: str, chunks: Iterable[bytes]) -> str:
        """Keep what a browser sends; its id ("upload-..."), which `check` and `store` take in place of a path.

        `filename` is only text, shown as the source; its ending says what kind of file it is. Refused above 2 GB (on
        a public Space 50 MB), where all uploads together have too much, and for an ending that is not read. Uploads
        are removed after `store` or after a day.
        """
        return self.uploads.add(filename, chunks)

    def check(self, source: str | Path, mapping: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The report of a file, an upload id or a hub name under `mapping`; nothing is kept.

        NotFound where there is no such file; a file that cannot be read is a report with "ok": False.
        """
        return taking.check(source, mapping, self.uploads)

    def store(
        self, source: str | Path, name: str, mapping: Mapping[str, Any] | None = None, *, replace: bool = True
    ) -> dict[str, Any]:
        """Import a file, an upload or a hub set as `name`; its meta. A name that is taken moves to the new rows.

        Refused, with `.report`, where `check` finds a problem, and for a name that cannot be one.
        """
        name = valid_name(name)
        made = taking.store(self._store, source, name, mapping, self.uploads, replace=replace, needed=self._needed())
        if ID.fullmatch(str(source)):
            self.uploads.remove(str(source))
        return made

    # --- generated and derived sets ---

    def generators(self) -> list[dict[str, Any]]:
        """[{"name", "label": {en, ko}, "help": {en, ko}, "available": bool, "why": {en, ko} | None, "args": [{"name",
        "kind": "int"|"float"|"bool"|"text"|"choice"|"list", "default", "choices", "help": {en, ko}}], "rewards"}]."""
        return making.generators()

    def tasks(self, task: str | None = None) -> list[dict[str, Any]]:
        """Tasks of reasoning-gym: [{"name", "category", "settings": [{"name", "kind", "default"}], "example"}].

        With `task` only that one, with an example. Refused, with the command to install it, where it is not there.
        """
        return making.tasks(task)

    def make(self, generator: str, name: str, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Generate a set and keep it as `name`; its meta. Args: n, seed, and the generator's own."""
        return making.make(self._store, generator, valid_name(name), args or {}, self._needed())

    def filter(self, name: str | Mapping[str, Any], new_name: str, prompt_ids: Sequence[str]) -> dict[str, Any]:
        """The rows whose prompt_id is one of `prompt_ids`, kept as `new_name`; its meta.

        `name`: a stored set, or config values, whose training rows are meant.
        """
        new_name, found = valid_name(new_name), self.rows(name)
        kind = self._store.meta(name)["kind"] if isinstance(name, str) and self._store.has(name) else "prompts"
        source = derive.Source(_called(name), kind)
        return derive.chosen(self._store, found, new_name, prompt_ids, source, self._needed())

    def best_of(self, run_id: str, name: str, min_reward: float | None = None, per_prompt: int = 1) -> dict[str, Any]:
        """A warm-up set from a run's best completions, at most `per_prompt` a prompt; its meta."""
        limits = derive.Limits(min_reward, per_prompt)
        return derive.best_of(self._store, self.reader, run_id, valid_name(name), limits, self._needed())

    # --- stored sets ---

    def sets(self) -> list[dict[str, Any]]:
        """The metas of all stored sets, the newest first, each with "used_by": ids of runs that name it."""
        self.uploads.clean()
        self._store.tidy()
        users = self._users()
        return [{**meta, "used_by": users.get(meta["name"], [])} for meta in self._store.metas()]

    def show(self, name: str, limit: int = 50) -> dict[str, Any]:
        """The meta with "used_by" and "preview", the first `limit` rows with clipped cells.

        NotFound with the names there are.
        """
        meta = self._store.meta(name)
        rows = sampling.first(self._store, meta["sha256"], limit)
        used_by = self._users().get(meta["name"], [])
        return {**meta, "used_by": used_by, "preview": [clip.shown(row) for row in rows]}

    def rows(self, name: str | Mapping[str, Any], limit: int | None = None) -> list[dict[str, Any]]:
        """The first `limit` rows, whole: of a stored set by name, or the training rows that config values mean."""
        if isinstance(name, str) and self._store.has(name):
            return sampling.first(self._store, self._store.meta(name)["sha256"], limit)
        if isinstance(name, str) and "/" not in name and name not in sources.BUILT_IN and not Path(name).suffix:
            self._store.meta(name)  # NotFound, with the sets there are
        values = {"dataset": name} if isinstance(name, str) else name
        return sampling.training(values, self.settings.home, limit)

    def sample(self, values: Mapping[str, Any], n: int = 32) -> list[dict[str, Any]]:
        """`n` training rows of whatever the config `values` (dataset, dataset_args, seed, ...) mean, drawn by seed.

        Of a hub set and of a large local file only the first rows are drawn from (see sampling.FIRST).
        """
        return sampling.sample(values, self.settings.home, n)

    def delete(self, name: str) -> None:
        """Remove a stored set. Its rows stay as long as there are runs that were made with them."""
        self._store.delete(name, self._needed())

    def _users(self) -> dict[str, list[str]]:
        users: dict[str, list[str]] = {}
        for run in self.reader.runs():
            for field in ("dataset", "sft_dataset"):
                users.setdefault(str(run.config.get(field) or ""), []).append(run.id)
        return users

    def _needed(self) -> set[str]:
        return pinning.needed(self.reader.runs())


def _called(name: str | Mapping[str, Any]) -> str:
    return name if isinstance(name, str) else str(name.get("dataset") or "arithmetic")
