"""An evaluation from words to a queued run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backend import config, runs
from backend.data import reasoning
from backend.data.store import BUILT_IN, Store
from backend.errors import Refused, StudioError
from backend.evaluation.request import HELD_OUT, SET, Request, faults
from backend.text import Text
from storage.records import Run

if TYPE_CHECKING:
    from backend.services import Services

# Of the evaluated run's settings, those that would mean something else, or nothing, for an evaluation.
NOT_TAKEN = ("shuffle_rewards", "control_of", "attached", "sft_dataset", "sft_args", "eval_strategy", "eval_on_start",
             "load_best_model_at_end", "metric_for_best_model", "save_strategy", "report_to", "use_vllm",
             "evaluate_steps", "evaluate_rows", "keep_best", "dataset_sha256")  # fmt: skip


TASK = re.compile(r"[a-z][a-z0-9_]{1,60}")
DEFAULT_MODEL = "embedded"


def start(
    services: Services,
    run_words: str | None,
    asked: Request,
    data: str | None,
    dataset_args: Mapping[str, Any] | None,
    values: Mapping[str, Any] | None,
    preset: str | None,
    name: str | None,
) -> Run:
    """See EvaluationService.start."""
    for key in ("evaluation", "stages"):
        if key in (values or {}):
            raise refused(
                key,
                Text(
                    en=f"{key}: is made from what is asked here (n, k, checkpoint ...) and cannot be set besides",
                    ko=f"{key}: 여기서 지정한 값(n, k, checkpoint 등)으로 만들어지며 따로 설정할 수 없습니다",
                ),
            )
    run = services.find(run_words) if run_words else None
    if run is not None:
        _require_trained(run)
        own = {key: value for key, value in run.config.items() if key not in NOT_TAKEN}
    else:
        own = _of_preset(preset)
    raw = config.merge(own, None, dict(values or {}))
    set_name = None if data in (None, "", HELD_OUT) else data
    if run is None:
        set_name = set_name or str(raw.get("dataset") or "") or None
        asked = replace(asked, base=asked.base or str(raw.get("model") or DEFAULT_MODEL))
        raw["model"] = asked.base
    asked = replace(asked, run=run.id if run else "", data=HELD_OUT if set_name is None else SET)
    _refuse(asked, services)
    if set_name is not None:
        raw |= _rows(services, set_name, dataset_args, asked, raw)
    elif run is not None and run.config.get("dataset_sha256"):
        raw["dataset_sha256"] = run.config["dataset_sha256"]
    raw |= {
        "stages": ["evaluate"],
        "evaluation": asked.to_dict(),
        "name": name or _name(services, run, asked),
        "eval_size": 0 if set_name is not None else raw.get("eval_size", 0),
    }
    # Held-out rows are those in the run's folder, whatever has become of their source.
    run_dir = services.settings.run_dir(run.id) if run is not None and set_name is None else None
    checked = services.check(raw, None, run_dir)
    _as_field(checked)
    runs.require_ok(checked)
    run_id = runs.create(services.settings, services.db, checked, preset if run is None else None)
    services.reconcile()
    return services.get(run_id)


def _require_trained(run: Run) -> None:
    kind = (run.config.get("stages") or ["grpo"])[0]
    if kind in ("evaluate", "probe"):
        what = Text("an evaluation", "평가") if kind == "evaluate" else Text("a probe", "탐색")
        raise refused(
            "run",
            Text(
                en=f"run {run.id} is {what.en} and has trained nothing; name the run that was trained",
                ko=f"실행 {run.id}은(는) {what.ko}라서 학습한 것이 없습니다. 학습한 실행을 지정하세요",
            ),
        )


def _of_preset(preset: str | None) -> dict[str, Any]:
    return dict(config.load_preset(preset).values) if preset else {}


def refused(field: str, text: Text, suggest: tuple[Any, ...] = ()) -> Refused:
    """A refusal that says which argument is wrong, and what would do."""
    error = Refused(text)
    error.field, error.suggest = field, list(suggest)  # type: ignore[attr-defined]
    return error


def _refuse(asked: Request, services: Services) -> None:
    """Before anything is made: the first thing that stands against it."""
    for fault in faults(asked.to_dict(), services.settings.home):
        some = ", ".join(map(str, fault.suggest))
        en, ko = (f" (would do: {some})", f" (가능한 값: {some})") if some else ("", "")
        words = Text(
            en=f"{fault.key}={fault.value!r}: {fault.text.en}{en}",
            ko=f"{fault.key}={fault.value!r}: {fault.text.ko}{ko}",
        )
        raise refused(fault.key, words, fault.suggest)


def _as_field(checked: Any) -> None:
    """What the configuration's rules say of the rows is said of `data`, which is the argument here."""
    for problem in checked.errors:
        if problem.field in ("dataset", "dataset_args"):
            words = Text(en=f"data: {problem.rule.en}", ko=f"data: {problem.rule.ko}")
            raise refused("data", words, tuple(problem.suggest))


def _rows(
    services: Services, name: str, args: Mapping[str, Any] | None, asked: Request, own: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings that name the rows; a task of reasoning-gym is made and stored first."""
    home = services.settings.home
    if name not in BUILT_IN and name not in Store(home).names() and _is_task(name):
        return {"dataset": _made(services, name, args, asked), "dataset_args": {}}
    if args is not None:
        return {"dataset": name, "dataset_args": dict(args)}
    # The very set of the run keeps its arguments; another one has its own defaults.
    same = name == own.get("dataset")
    return {"dataset": name, "dataset_args": dict(own.get("dataset_args") or {}) if same else {}}


def _is_task(name: str) -> bool:
    """Whether reasoning-gym has a task of this name. It is asked only about names that could be one."""
    if not TASK.fullmatch(name):
        return False
    try:
        return any(each["name"] == name for each in reasoning.tasks())
    except StudioError:  # the optional package is not installed
        return False


def _made(services: Services, task: str, args: Mapping[str, Any] | None, asked: Request) -> str:
    """The stored set of a task's rows, made where it is not there yet: the same name holds the same rows."""
    more = "".join(f"-{key}-{value}" for key, value in sorted((args or {}).items()))
    stored = f"eval-{task}-{asked.n}-{asked.seed}{more}"[:60]
    if stored not in Store(services.settings.home).names():
        services.data.make("reasoning_gym", stored, {"task": task, "n": asked.n, "seed": asked.seed, **(args or {})})
    return stored


def _name(services: Services, run: Run | None, asked: Request) -> str:
    """ "eval of NAME", with the next free number where there is one already."""
    what = run.name if run else (asked.trained or asked.base).rstrip("/").rsplit("/", 1)[-1]
    stem = f"eval of {what}"
    taken = {each.name for each in services.reader.runs()}
    number = 1
    while (stem if number == 1 else f"{stem} {number}") in taken:
        number += 1
    return stem if number == 1 else f"{stem} {number}"
