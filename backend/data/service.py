"""What the page and the command line may do with data sets: look at files, keep them, make them, take rows of them.

A `mapping` says how a file's columns are meant; every key may be left out:
    prompt, ground_truth, system, completion, messages   names of columns
    template          the prompt as text with {column} fields (a literal brace is doubled)
    system_prompt     one system message for every row
    chat              true: plain prompts become a conversation
    kind              "prompts" (default) or "sft" (rows for the supervised warm-up)
    encoding          utf-8, utf-16, cp949, ...; found out where it is left out
    delimiter         of a CSV; found out where it is left out
    last_assistant    "refuse" (default), "drop" or "ground_truth": what to do with a conversation that ends in an answer
    bad_rows          "refuse" (default) or "drop": leave rows out that cannot be used, and count them
    rewards           names of rewards that the ground truths are tried with
Report (of `check`): {"ok", "rows", "columns", "encoding", "delimiter", "problems": [{"row", "column", "what": {en, ko}}],
"counts": {name: number}, "preview": [{column: clipped text}], "mapping": what was used, "offers": [{"mapping": keys to
set, "words": {en, ko}}], "notes": [{en, ko}], "kind", "bytes"}. `row` is the number of the row in the file, from 1, or None.
Meta (of a stored set): {"name", "kind", "rows", "columns", "filled", "sha256", "bytes", "source", "encoding", "mapping",
"counts", "notes", "created_at"}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.errors import Refused
from backend.settings import Settings
from backend.text import Text
from storage.reader import Reader


class DataService:
    """Thread-safe. Every refusal is a StudioError in words; `Refused.report` is the report where there is one."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self.settings = settings
        self.reader = reader

    # --- files ---

    def upload(self, filename: str, chunks: Iterable[bytes]) -> str:
        """Keep what a browser sends; its id ("upload-..."), which `check` and `store` take in place of a path.

        `filename` is only text, shown as the source; its ending says what kind of file it is. Refused above 2 GB and
        for an ending that is not read. Uploads are removed after `store` or after a day.
        """
        raise _not_yet()

    def check(self, source: str | Path, mapping: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The report of a file, an upload id or a hub name under `mapping`; nothing is kept.

        NotFound where there is no such file; a file that cannot be read is a report with "ok": False.
        """
        from backend.data import files

        rows = files.rows(Path(source), {})
        return {
            "ok": True, "rows": len(rows), "columns": list(rows[0]), "encoding": "utf-8", "delimiter": None,
            "problems": [], "counts": {"rows": len(rows)}, "preview": rows[:50], "mapping": dict(mapping or {}),
            "offers": [], "notes": [], "kind": "prompts", "bytes": Path(source).stat().st_size,
        }  # fmt: skip

    def store(
        self, source: str | Path, name: str, mapping: Mapping[str, Any] | None = None, *, replace: bool = True
    ) -> dict[str, Any]:
        """Import a file, an upload or a hub set as `name`; its meta. A name that is taken moves to the new rows.

        Refused, with `.report`, where `check` finds a problem, and for a name that cannot be one.
        """
        raise _not_yet()

    # --- generated and derived sets ---

    def generators(self) -> list[dict[str, Any]]:
        """[{"name", "label": {en, ko}, "help": {en, ko}, "available": bool, "why": {en, ko} | None, "args": [{"name",
        "kind": "int"|"float"|"bool"|"text"|"choice"|"list", "default", "choices", "help": {en, ko}}], "rewards"}]."""
        return []

    def tasks(self, task: str | None = None) -> list[dict[str, Any]]:
        """Tasks of reasoning-gym: [{"name", "category", "settings": [{"name", "kind", "default"}], "example"}].

        With `task` only that one, with an example. Refused, with the command to install it, where it is not there.
        """
        return []

    def make(self, generator: str, name: str, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Generate a set and keep it as `name`; its meta. Args: n, seed, and the generator's own."""
        raise _not_yet()

    def filter(self, name: str, new_name: str, prompt_ids: Sequence[str]) -> dict[str, Any]:
        """The rows of `name` whose prompt_id is one of `prompt_ids`, kept as `new_name`; its meta."""
        raise _not_yet()

    def best_of(self, run_id: str, name: str, min_reward: float | None = None, per_prompt: int = 1) -> dict[str, Any]:
        """A warm-up set from a run's best completions, at most `per_prompt` a prompt; its meta."""
        raise _not_yet()

    # --- stored sets ---

    def sets(self) -> list[dict[str, Any]]:
        """The metas of all stored sets, the newest first, each with "used_by": ids of runs that name it."""
        return []

    def show(self, name: str, limit: int = 50) -> dict[str, Any]:
        """The meta with "preview": the first `limit` rows with clipped cells. NotFound with the names there are."""
        raise _not_yet()

    def rows(self, name: str | Mapping[str, Any], limit: int | None = None) -> list[dict[str, Any]]:
        """The first `limit` rows, whole: of a stored set by name, or of what the `dataset` of config values means."""
        raise _not_yet()

    def sample(self, values: Mapping[str, Any], n: int = 32) -> list[dict[str, Any]]:
        """`n` training rows of whatever the config `values` (dataset, dataset_args, seed, ...) mean, drawn by seed."""
        raise _not_yet()

    def delete(self, name: str) -> None:
        """Remove a stored set. Its rows stay while a run that has not copied them yet needs them."""
        raise _not_yet()


def _not_yet() -> Refused:
    return Refused(Text(en="not built yet", ko="아직 만들지 않았습니다"))
