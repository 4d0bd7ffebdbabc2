"""What can happen to a run: made, found, stopped, resumed, deleted. Each rule in one place, each refusal in words."""

from __future__ import annotations

import base64
import contextlib
import logging
import math
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from backend import alerting, custom, data
from backend.errors import NotFound, Refused, StudioError, WrongState
from backend.processes import launcher
from backend.processes.locks import held
from backend.processes.reasons import STOPPED_EARLY
from backend.processes.reconcile import settle
from backend.settings import Settings
from backend.text import Text
from backend.views import kind_of_run
from backend.workers import checkpoints
from storage.db import Database
from storage.reader import Reader
from storage.records import Run, RunState
from storage.runs import begin_attempt, create_run, delete_run, request_stop, transition

log = logging.getLogger(__name__)
RESUMABLE = (RunState.STOPPED, RunState.FAILED, RunState.LOST)
# A checkpoint fits only the model and the adapter that it was saved with; other data would make it another experiment.
STRUCTURAL = (
    "model", "model_args", "model_revision", "peft", "lora_r", "lora_alpha", "lora_target_modules",
    "lora_modules_to_save", "use_rslora", "use_dora", "lora_use_rslora", "lora_use_dora", "dataset", "dataset_args",
    "dataset_sha256",
    "eval_size", "stages", "seed", "data_seed", "evaluation",
    "shuffle_rewards",  # half a control is none
)  # fmt: skip
GRACE_S = 60.0
GRACE_VARIABLE = "GRPO_STUDIO_STOP_GRACE_S"
END_S = 5.0  # how long stop(now) waits to see the end


def new_id(now: float | None = None) -> str:
    """20261129-134500-ab2c: sorts by time, says when, and no text of a person is in it."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now if now is not None else time.time()))
    return f"{stamp}-{base64.b32encode(secrets.token_bytes(5)).decode().lower()[:4]}"


def create(settings: Settings, db: Database, checked: Any, preset: str | None, run_id: str | None = None) -> str:
    """A queued run from a check; its id. Refused, with `.check`, when the check found an error.

    The folder comes first: without one there is no row either. Raises StudioError when it cannot be made.
    `run_id`: one from `new_id` that is written down already, where the run must be found again under it.
    """
    require_ok(checked)
    config = checked.config.to_dict()
    name = str(config.get("name") or "") or default_name(Reader(db).runs(), preset, config)
    run_id = run_id or new_id()
    config["name"] = name
    folder = settings.run_dir(run_id)
    with _folder_in_words(folder):
        # One that is there is another run's: two ids made in the same second may be the same.
        folder.mkdir(parents=True, exist_ok=False)
    try:
        config["reward_versions"] = _pinned(settings, run_id, config)
        config.update(data.pin(config, settings.home))
        alerting.keep(folder, config)
        create_run(db, run_id, name, config, preset, config.get("rewards") or ())
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)  # a folder of no run does no harm; the fault itself is told
        raise
    return run_id


def _pinned(settings: Settings, run_id: str, config: Mapping[str, Any]) -> dict[str, int]:
    """The versions of the custom rewards, whose sources the run's folder now holds. An evaluation takes those of the
    run that it evaluates, also when the library has them no more."""
    wanted = config.get("reward_versions") or {}
    evaluated = str((config.get("evaluation") or {}).get("run") or "")
    versions: dict[str, int] = {}
    for name in config.get("rewards") or ():
        shelf = settings.home
        if evaluated:
            shelf = custom.home_of(settings.run_dir(evaluated), settings.home, name, wanted.get(name))
        versions |= custom.pin(shelf, settings.run_dir(run_id), [name], wanted)
    return versions


@contextlib.contextmanager
def _folder_in_words(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise StudioError(
            Text(
                en=f"{folder}: the run's folder cannot be used ({why}). Check the disk and the permissions, or give "
                "another home with --home.",
                ko=f"{folder}: 실행 폴더를 쓸 수 없습니다({why}). 디스크 공간과 권한을 확인하거나 --home으로 다른 "
                "폴더를 지정하세요.",
            )
        ) from error


def require_ok(checked: Any) -> None:
    """Refused with every broken rule in words; the error carries the check for the form."""
    if checked.ok:
        return
    problems = [(p.field, p.value, p.rule, p.suggest) for p in checked.errors]
    refused = Refused(
        Text(
            en="\n".join(problem_words(f, v, rule.en, s, "would do") for f, v, rule, s in problems),
            ko="\n".join(problem_words(f, v, rule.ko, s, "가능한 값") for f, v, rule, s in problems),
        )
    )
    refused.check = checked  # type: ignore[attr-defined]
    raise refused


def problem_words(field: str, value: Any, rule: str, suggest: Sequence[Any], would_do: str) -> str:
    """One broken rule in a line: field, value, rule, what would do."""
    shown = [f"{s['field']}={s['value']}" if isinstance(s, dict) and "field" in s else str(s) for s in suggest]
    return f"{field}={value!r}: {rule}" + (f" ({would_do}: {', '.join(shown)})" if shown else "")


def default_name(known: Sequence[Run], preset: str | None, config: Mapping[str, Any]) -> str:
    """The preset's name (else the data set's) and the next free number."""
    stem = preset or str(config.get("dataset") or "run").rsplit("/", 1)[-1]
    taken = {run.name for run in known}
    number = 1
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"


def not_found(words: str, known: Sequence[Run] = ()) -> NotFound:
    some = ", ".join(run.id for run in known[:5])
    return NotFound(
        Text(
            en=f"there is no run {words!r}" + (f"; the newest are {some}" if some else ""),
            ko=f"{words!r} 실행이 없습니다" + (f". 최근 실행: {some}" if some else ""),
        )
    )


def find(known: Sequence[Run], words: str) -> Run:
    """By id, by `last`, by a unique beginning of an id, by a unique name. `known` has the newest first."""
    if words == "last" and known:
        return known[0]
    for match in (
        lambda run: run.id == words,
        lambda run: run.name == words,
        lambda run: bool(words) and run.id.startswith(words),
    ):
        found = [run for run in known if match(run)]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(run.id for run in found[:5])
            raise Refused(
                Text(
                    en=f"{words!r} means {len(found)} runs: {ids}. Give one id.",
                    ko=f"{words!r}에 해당하는 실행이 {len(found)}개입니다: {ids}. id 하나를 지정하세요.",
                )
            )
    raise not_found(words, known)


def stop(settings: Settings, db: Database, run: Run, now: bool) -> None:
    """The first wish saves and stops; the second one, or `now`, kills the group at once."""
    if run.state is RunState.QUEUED:
        if transition(db, run.id, RunState.QUEUED, RunState.STOPPED, reason=STOPPED_EARLY.en):
            return
        run = Reader(db).run(run.id) or run  # it was started in between
    if run.state.ended:
        raise WrongState(
            Text(
                en=f"run {run.id} has ended already ({run.state.value})",
                ko=f"실행 {run.id}은(는) 이미 끝났습니다({run.state.value})",
            )
        )
    insist = now or run.state is RunState.STOPPING
    mode = "now" if insist else "save"
    patience = grace_s(db, run.id)  # before anything is written: what fails here must leave the run as it is
    request_stop(db, run.id, mode)
    transition(db, run.id, (RunState.STARTING, RunState.RUNNING), RunState.STOPPING)
    launcher.ask_to_stop(settings, run, mode, patience)
    if insist:
        _wait_for_end(settings, db, run.id)


def grace_s(db: Database, run_id: str) -> float:
    """How long a stop may take before it is forced: enough for the longest step seen lately, and for saving."""
    if (chosen := os.environ.get(GRACE_VARIABLE)) and (seconds := _seconds(chosen)) is not None:
        return seconds
    step = Reader(db).latest(run_id).get(("train", "step_time"))
    known = step is not None and math.isfinite(step.value) and step.value > 0
    return GRACE_S + (3 * step.value if step is not None and known else 0.0)


def _seconds(words: str) -> float | None:
    try:
        seconds = float(words)
    except ValueError:
        seconds = math.nan
    if math.isfinite(seconds) and seconds >= 0:
        return seconds
    log.warning("%s=%r is not a number of seconds from 0 up: the default is used", GRACE_VARIABLE, words)
    return None


def _wait_for_end(settings: Settings, db: Database, run_id: str) -> None:
    """A kill takes milliseconds: seeing it through makes the answer true. Settled later should it take longer."""
    deadline = time.monotonic() + END_S
    while time.monotonic() < deadline:
        if not held(settings.run_dir(run_id) / "run.lock"):
            settle(settings, db, run_id)
            return
        time.sleep(0.02)


def resume(
    settings: Settings,
    db: Database,
    run: Run,
    changes: Mapping[str, Any],
    check: Callable[[dict[str, Any]], Any],
) -> int:
    """Queue an ended run again with changed settings; the number of the new attempt."""
    if run.state not in RESUMABLE:
        raise WrongState(
            Text(
                en=f"run {run.id} cannot be resumed: it is {run.state.value}; only stopped, failed and lost runs can",
                ko=f"실행 {run.id}은(는) {run.state.value} 상태라 이어서 할 수 없습니다(중지·실패·유실만 가능)",
            )
        )
    from backend.config import merge

    checked = check(merge(run.config, None, changes))
    require_ok(checked)
    config = checked.config.to_dict()
    config["name"] = str(config.get("name") or "") or run.name
    config["reward_versions"] = _pinned(settings, run.id, config)
    with _folder_in_words(settings.run_dir(run.id)):
        alerting.keep(settings.run_dir(run.id), config, changes)
    changed = {
        field: [run.config.get(field), value] for field, value in config.items() if run.config.get(field) != value
    }
    _refuse_structural(changed)
    with _folder_in_words(settings.run_dir(run.id)), launcher.require_lock(settings, run.id):
        # Hashes are compared as the worker will, so that both come to the same step.
        point = _resume_point(settings, run)
        try:
            return begin_attempt(db, run.id, point.step, changed, config, phase=point.phase)
        except ValueError as error:
            raise WrongState(Text(en=str(error), ko=f"실행 {run.id}을(를) 이어서 할 수 없습니다")) from error


def _resume_point(settings: Settings, run: Run) -> checkpoints.ResumePoint:
    """An evaluation has no steps: what it stored at step 0 holds, and it goes on with the rows that are missing."""
    if kind_of_run(run.config) == "evaluate":
        return checkpoints.ResumePoint("train", 0, None)
    return checkpoints.resume_point(settings.run_dir(run.id))


def _refuse_structural(changed: Mapping[str, list[Any]]) -> None:
    broken = [field for field in STRUCTURAL if field in changed]
    if broken:
        field = broken[0]
        old, new = changed[field]
        raise Refused(
            Text(
                en=f"{field}={new!r}: a resumed run keeps its {field} ({old!r}), since its checkpoint belongs to it. "
                "Start a new run instead.",
                ko=f"{field}={new!r}: 체크포인트가 {old!r}에 맞춰져 있어 이어서 하는 실행에서는 바꿀 수 없습니다. "
                "새 실행을 시작하세요.",
            )
        )


def _refuse_while_evaluated(known: Sequence[Run], run_id: str) -> None:
    """WrongState while an evaluation of these weights waits or runs: it reads them from this run's folder."""
    for other in known:
        evaluation = other.config.get("evaluation")
        if isinstance(evaluation, Mapping) and evaluation.get("run") == run_id and not other.state.ended:
            raise WrongState(
                Text(
                    en=f"run {run_id} is being evaluated by {other.id} ({other.name}): wait for its end, "
                    "or stop it first",
                    ko=f"{other.id}({other.name})이(가) 실행 {run_id}을(를) 평가하고 있습니다. 끝나기를 기다리거나 "
                    "먼저 중지하세요",
                )
            )


def delete(settings: Settings, db: Database, run: Run) -> None:
    """Files first: should it be interrupted, the run is still listed and can be deleted again."""
    if not run.state.ended:
        raise WrongState(
            Text(
                en=f"run {run.id} is {run.state.value}: stop it before deleting it",
                ko=f"실행 {run.id}은(는) {run.state.value} 상태입니다. 먼저 중지한 뒤 삭제하세요",
            )
        )
    with _folder_in_words(settings.run_dir(run.id)), launcher.require_lock(settings, run.id):
        current = Reader(db).run(run.id)
        if current is None or not current.state.ended:
            raise WrongState(Text(en=f"run {run.id} has been resumed", ko=f"실행 {run.id}이(가) 다시 시작되었습니다"))
        _refuse_while_evaluated(Reader(db).runs(), run.id)
        shutil.rmtree(settings.run_dir(run.id))
        delete_run(db, run.id)
