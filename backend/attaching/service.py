"""The door to it: a folder in, the id of a run out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.attaching import document, samples
from backend.attaching.folder import Folder, look, read_json
from backend.attaching.history import History, of_log, of_state
from backend.attaching.samples import Sampling
from backend.attaching.settings import reward_names, reward_weights, settings
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


class AttachService:
    """Takes in runs that plain TRL made. Nothing of the folder is changed, executed or unpickled."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def attach(self, path: str, name: str = "", given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Take in an output_dir with trainer_state.json and completions/*.parquet, or a log in JSON lines.

        `given`: settings that the files do not tell (temperature, loss_type, ...), as fields of RunConfig; they count
        before what the files say. The same folder taken in again is a run of its own. Returns {"run", "name", "steps",
        "groups", "completions", "told", "guessed"}: `told` and `guessed` are texts. Raises NotFound and Refused.
        """
        where = Path(path).expanduser().resolve()
        found = look(where)
        known = _sound(given or {})
        history, state = _history(found)
        columns = samples.columns(found.completions)
        names = reward_names(history, columns)
        adapter = read_json(found.adapter) if found.adapter else {}
        config = settings(state, adapter, history, names, None) | known
        config = {**config, "attached": str(where), "name": name or where.name or "attached"}
        weights, borne_out = reward_weights(history, names)
        weights = tuple(config.get("reward_weights") or weights)
        if len(weights) != len(names):
            raise Refused(
                Text(
                    en=f"reward_weights: {len(weights)} values for {len(names)} rewards ({', '.join(names)})",
                    ko=f"reward_weights: 보상 {len(names)}개({', '.join(names)})에 값이 {len(weights)}개입니다",
                )
            )
        count = _tokenizer(found.tokenizer)
        sampling = Sampling(names, weights, history, count, config.get("num_generations"))
        counted = Counted()
        told = {
            "path": str(where),
            "weights_fit": borne_out,
            "tokens": "tokenizer" if count else "estimated" if found.completions else "none",
            "state": found.state is not None,
            "skipped_lines": history.skipped,
        }
        with tempfile.TemporaryDirectory(prefix="attach-", dir=self._services.settings.home) as scratch:
            file = Path(scratch) / "run.jsonl.gz"
            # The groups come first in the file, so that what they tell (G) can stand in the head.
            generations = list(counted.over(samples.generations(found.completions, sampling)))
            if counted.size and "num_generations" not in config:
                config["num_generations"] = counted.size
            run_id, row = self._row(found, config, history, names, counted)
            document.write(file, row, history, generations, {RESULT: told}, row["created_at"])
            try:
                portable.load(self._services.db, file)
            except portable.NotARun as error:
                raise Refused(
                    Text(en=f"{where}: it cannot be taken in ({error})", ko=f"{where}: 가져올 수 없습니다({error})")
                ) from error
        self._services.settings.run_dir(run_id).mkdir(parents=True, exist_ok=True)
        return {
            "run": run_id,
            "name": row["name"],
            "steps": row["last_step"],
            "groups": counted.groups,
            "completions": counted.completions,
            "notes": [note.to_json() for note in _notes(told, found, names)],
        }

    def _row(
        self, found: Folder, config: dict[str, Any], history: History, names: Sequence[str], counted: Counted
    ) -> tuple[str, dict[str, Any]]:
        from backend.config import schema

        known = schema.RunConfig.model_fields
        unknown = sorted(set(config) - set(known))
        if unknown:
            raise Refused(Text(en=f"{unknown[0]}: no such setting", ko=f"{unknown[0]}: 그런 설정이 없습니다"))
        changed = (found.state or found.path).stat().st_mtime
        last = max(history.last_step, counted.last_step)
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
            "stage": "grpo", "stage_step": last, "stage_total": total, "last_step": last,
            "total_steps": total if isinstance(total, int) and total > 0 else last, "step_at": changed, "eta_s": None,
            "stop_requested": None, "log_tail": None, "reward_names": list(names),
        }  # fmt: skip
        return run_id, row


def _sound(given: Mapping[str, Any]) -> dict[str, Any]:
    """Given settings as their fields' types, old names of TRL's as today's. Refused, with every one that is wrong."""
    values, _, problems = translate(given)
    known = {}
    for name, value in values.items():
        known[name], problem = coerce(name, value)
        problems += [problem] if problem else []
    if problems:
        require_ok(Check(None, problems, [], None))
    return known


class Counted:
    """Counts what passes."""

    def __init__(self) -> None:
        self.groups = self.completions = self.last_step = self.size = 0

    def over(self, generations: Iterator[Generation]) -> Iterator[Generation]:
        for one in generations:
            self.groups += len(one.groups)
            self.completions += sum(len(group.completions) for group in one.groups)
            self.last_step = max(self.last_step, one.step)
            self.size = self.size or len(one.groups[0].completions)
            yield one


def _history(found: Folder) -> tuple[History, Mapping[str, Any]]:
    """The log: of trainer_state.json, else of the first log in JSON lines that is one."""
    if found.state is not None:
        state = read_json(found.state)
        return of_state(state), state
    refused: Refused | None = None
    for path in found.logs:
        try:
            return of_log(path), {}
        except Refused as error:
            refused = error
    if refused is not None and not found.completions:
        raise refused
    return History(), {}


def _tokenizer(path: Path | None) -> Callable[[Sequence[str]], list[int]] | None:
    """Counts tokens as the model did; None without a tokenizer that can be read."""
    if path is None:
        return None
    try:
        from tokenizers import Tokenizer

        made = Tokenizer.from_file(str(path))
    except Exception:  # the library raises bare Exceptions
        return None
    return lambda texts: [len(found.ids) for found in made.encode_batch(list(texts), add_special_tokens=False)]


def _notes(told: Mapping[str, Any], found: Folder, names: Sequence[str]) -> Iterator[Text]:
    if told["tokens"] == "estimated":
        yield Text(
            en="token counts are estimated from the texts: there is no tokenizer.json in the folder",
            ko="폴더에 tokenizer.json이 없어 토큰 수를 글자 수로 추정했습니다",
        )
    if not found.completions:
        yield Text(
            en="no completions: TRL writes them with log_completions=True; without them dead groups and what the "
            "rewards paid for cannot be told",
            ko="생성 답이 없습니다. TRL은 log_completions=True일 때만 기록합니다. 없으면 죽은 그룹이나 보상이 무엇에 "
            "점수를 주었는지 알 수 없습니다",
        )
    elif not told["weights_fit"] and len(names) > 1:
        yield Text(
            en="reward_weights are taken as 1 each: the log does not tell them",
            ko="로그로 reward_weights를 알 수 없어 모두 1로 보았습니다",
        )
    if told["skipped_lines"]:
        yield Text(
            en=f"{told['skipped_lines']} lines of the log are no entries and were left out",
            ko=f"로그에서 항목이 아닌 {told['skipped_lines']}줄은 제외했습니다",
        )
