"""The door to it: a folder in, the id of a run out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.attaching import document, samples
from backend.attaching.folder import Folder, step_of
from backend.attaching.history import History
from backend.attaching.notes import Found, notes
from backend.attaching.reading import read_folder
from backend.attaching.refusals import name_of, path_of, too_large, unreadable
from backend.attaching.samples import Sampling
from backend.attaching.settings import reward_names, reward_weights, settings
from backend.attaching.waiting import within
from backend.config.coerce import coerce
from backend.config.legacy import translate
from backend.config.report import Check
from backend.errors import Refused
from backend.runs import new_id, require_ok
from backend.text import Text
from storage import portable
from storage.records import Generation, RunState

if TYPE_CHECKING:
    from backend.services import Services

RESULT = "attached"
MOST_EVERY = 1_000_000
# What says what a run is, and whom it tells. An attached one is what it is, and the address of alerts stands in no row
# (backend.alerting).
NOT_TAKEN = frozenset(
    {"alert_webhook", "stop_on", "attached", "name", "stages", "evaluation", "control_of", "shuffle_rewards"}
)
READING = Text(en="reading the folder", ko="폴더를 읽는 중")
STORING = Text(en="storing", ko="저장하는 중")
Progress = Callable[[int, int, Text], None]


class AttachService:
    """Takes in runs that plain TRL made. Nothing of the folder is changed, executed or unpickled."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def attach(
        self,
        path: str,
        name: str = "",
        given: Mapping[str, Any] | None = None,
        *,
        groups_every: int = 1,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Take in an output_dir with trainer_state.json and completions/*.parquet, or a log in JSON lines.

        `given`: settings that the files do not tell (temperature, loss_type, ...), as fields of RunConfig; they count
        before what the files say. `groups_every`: only the groups of every n-th step, and of the first and last one,
        are kept. `progress(done, of, what)` is called between files; what it raises ends the work and leaves nothing.
        The same folder taken in again is a run of its own. Returns {"run", "name", "steps", "groups", "completions",
        "notes"}; notes are texts. Raises NotFound and Refused.
        """
        if type(groups_every) is not int or not 1 <= groups_every <= MOST_EVERY:
            raise Refused(
                Text(
                    en=f"groups_every={groups_every!r:.80} must be a whole number from 1 to {MOST_EVERY:,}",
                    ko=f"groups_every={groups_every!r:.80}: 1에서 {MOST_EVERY:,} 사이의 정수여야 합니다",
                )
            )
        heard = progress or (lambda *_: None)
        where = within(path, lambda: path_of(path), lambda: heard(0, 0, READING))
        named = name_of(name, where)
        try:
            return self._attach(where, named, given or {}, groups_every, heard)
        except (OSError, RecursionError) as error:  # no right to read it, a disk that is gone, a loop of links
            raise unreadable(where, self._services.settings.home, error) from error

    def _attach(
        self, where: Path, name: str, given: Mapping[str, Any], groups_every: int, progress: Progress
    ) -> dict[str, Any]:
        progress(0, 0, READING)
        known, dropped = _sound(given)
        read = within(str(where), lambda: read_folder(where), lambda: progress(0, 0, READING))
        found, history = read.folder, read.history
        files = samples.Reading(found.completions)
        first = samples.first_files(files, history)
        names = reward_names(history, samples.columns(first))
        config = settings(found.said, read.adapter, history, names, None) | known
        config = {**config, "attached": str(where), "name": name}
        weights, borne_out = reward_weights(history, names)
        weights = tuple(config.get("reward_weights") or weights)
        if len(weights) != len(names):
            raise Refused(
                Text(
                    en=f"reward_weights: {len(weights)} values for {len(names)} rewards ({', '.join(names)})",
                    ko=f"reward_weights: 보상 {len(names)}개({', '.join(names)})에 값이 {len(weights)}개입니다",
                )
            )
        guessed = None
        if "num_generations" not in config and (guessed := samples.group_size(first, names, weights)):
            config["num_generations"] = guessed
        common = samples.together(first)
        del first
        count = read.count
        sampling = Sampling(names, weights, history, count, config.get("num_generations"))
        told = {
            "path": str(where),
            "weights_fit": borne_out,
            "tokens": "tokenizer" if count else "estimated" if found.completions else "none",
            "state": found.state is not None,
            "skipped_lines": history.skipped,
            "guessed_num_generations": guessed,
            "groups_every": groups_every,
        }
        steps = [step_of(file) for file in found.completions]
        keep = document.Keep(groups_every, tuple(steps[:1] + steps[-1:]))
        counted = Counted(keep)
        before = [run.name for run in self._services.reader.runs() if run.config.get("attached") == str(where)]
        run_id, row = self._row(found, config, history, names, max(steps, default=0))
        with tempfile.TemporaryDirectory(prefix="attach-", dir=self._services.settings.home) as scratch:
            file = Path(scratch) / "run.jsonl.gz"
            generations = samples.generations(files, sampling, lambda i, n: progress(i, n, READING))
            try:
                document.write(
                    file, row, history, counted.over(generations), {RESULT: told}, row["created_at"], keep
                )  # fmt: skip
            except document.TooLarge as error:
                raise too_large(where, groups_every, counted.files, len(steps)) from error
            n = len(steps)
            try:
                portable.load(
                    self._services.db, file, largest=2 * document.LARGEST, tick=lambda: progress(n, n, STORING)
                )
            except portable.NotARun as error:
                raise Refused(
                    Text(en=f"{where}: it cannot be taken in ({error})", ko=f"{where}: 가져올 수 없습니다({error})")
                ) from error
        self._services.settings.run_dir(run_id).mkdir(parents=True, exist_ok=True)
        total = row["config"].get("max_steps")
        said = Found(
            told, found, history, names, dropped, (*read.broken, *([files.cut] if files.cut else ())), read.unread,
            read.later, max(steps, default=0), common, config.get("num_generations"),
            total if isinstance(total, int) else None, before,
        )  # fmt: skip
        return {
            "run": run_id,
            "name": row["name"],
            "steps": row["last_step"],
            "groups": counted.groups,
            "completions": counted.completions,
            "notes": [note.to_json() for note in notes(said)],
        }

    def _row(
        self, found: Folder, config: dict[str, Any], history: History, names: Sequence[str], last: int
    ) -> tuple[str, dict[str, Any]]:
        from backend.config import schema

        known = schema.RunConfig.model_fields
        unknown = sorted(set(config) - set(known))
        if unknown:
            raise Refused(Text(en=f"{unknown[0]:.80}: no such setting", ko=f"{unknown[0]:.80}: 그런 설정이 없습니다"))
        changed = (found.state or found.path).stat().st_mtime
        last = max(history.last_step, last)
        run_id = new_id()
        taken = {run.name for run in self._services.reader.runs()}
        name, number = str(config["name"]), 2
        while name in taken:
            name, number = f"{config['name']}-{number}", number + 1
        total = config.get("max_steps")
        row = {
            "id": run_id, "name": name, "state": str(RunState.SUCCEEDED), "reason": None,
            "config": {**config, "name": name}, "preset": None, "created_at": changed,
            "started_at": changed - history.took_s, "ended_at": changed, "attempt": 1, "revision": 1,
            "stage": "grpo", "stage_step": last, "stage_total": total if isinstance(total, int) else None,
            "last_step": last, "total_steps": total if isinstance(total, int) and total > 0 else last,
            "step_at": changed, "eta_s": None, "stop_requested": None, "log_tail": None, "reward_names": list(names),
        }  # fmt: skip
        return run_id, row


def _sound(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """(given settings as their fields' types, old names of TRL's as today's; names of those that no attached run has).

    Refused, with every one that is wrong."""
    values, _, problems = translate(given)
    dropped = sorted(name for name, value in values.items() if name in NOT_TAKEN and value)
    known = {}
    for name, value in values.items():
        if name in NOT_TAKEN:
            continue
        known[name], problem = coerce(name, value)
        problems += [problem] if problem else []
    if problems:
        require_ok(Check(None, problems, [], None))
    return known, dropped


class Counted:
    """Counts the files that pass, and what is kept of them."""

    def __init__(self, keep: document.Keep) -> None:
        self._keep = keep
        self.groups = self.completions = self.files = 0

    def over(self, generations: Iterator[Generation]) -> Iterator[Generation]:
        for one in generations:
            self.files += 1
            if self._keep.has(one.step):
                self.groups += len(one.groups)
                self.completions += sum(len(group.completions) for group in one.groups)
            yield one
