"""The audit at Start: what stops a run, and what warns and may be passed over knowingly."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.errors import Refused, StudioError
from backend.lab.audit import audit
from backend.lab.audit.report import Check
from backend.paths import file_named
from backend.settings import Settings
from backend.text import Text
from storage.reader import Reader

ROWS = 12
BUDGET_S = 20.0
KEPT = 32
ALL = "all"
# What the verdict depends on; anything else may change without a new look.
FIELDS = (
    "dataset", "dataset_args", "dataset_sha256", "rewards", "reward_weights", "reward_args", "reward_versions", "seed",
    "data_seed", "eval_size", "model", "per_device_train_batch_size", "gradient_accumulation_steps",
)  # fmt: skip

NO_REWARDS = Text(en="No stage of this run uses rewards.", ko="보상을 쓰는 단계가 없는 실행입니다.")
HUB = Text(
    en="The rows of a hub set are not downloaded for this; audit them in the Reward Lab or with `audit --data`.",
    ko="허브 데이터셋은 이 점검을 위해 내려받지 않습니다. 보상 실험실이나 `audit --data`로 점검하세요.",
)
ROWS_TITLE = Text(en="The rows", ko="데이터")

_lock = threading.Lock()
_known: OrderedDict[str, dict[str, Any]] = OrderedDict()


def preflight(settings: Settings, reader: Reader, values: Mapping[str, Any]) -> dict[str, Any]:
    """See LabService.preflight. Rows that cannot be read here are no reason to stop: the worker says what is wrong.

    A run without GRPO is not looked at, but for a probe, which is stopped by what stops and never warned.
    """
    stages = list(values.get("stages") or ("grpo",))
    if not {"grpo", "probe"} & set(stages):
        return {"stops": [], "warns": [], "audit": _not_looked(NO_REWARDS)}
    found = _kept_or_new(settings, reader, values)
    return found if "grpo" in stages else {**found, "warns": []}


def _kept_or_new(settings: Settings, reader: Reader, values: Mapping[str, Any]) -> dict[str, Any]:
    key = _key(settings, values)
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    found = _look(settings, reader, values)
    passing = any(check["kind"] in ("sandbox", "rows") for check in found["audit"]["checks"])
    if passing:  # what may be otherwise a minute later
        return found
    with _lock:
        _known[key] = found
        while len(_known) > KEPT:
            _known.popitem(last=False)
    return found


def _look(settings: Settings, reader: Reader, values: Mapping[str, Any]) -> dict[str, Any]:
    try:
        if _on_the_hub(settings, values):
            found = _not_looked(HUB)
        else:
            found = audit(settings, values, limit=ROWS, reader=reader, budget_s=BUDGET_S)
    except StudioError as error:
        found = _not_looked(Text(en=f"Not looked at: {error.text.en}", ko=f"살펴보지 않았습니다: {error.text.ko}"))
    stops = [check for check in found["checks"] if check["verdict"] == "fail" and check["stops"]]
    warns = [
        check
        for check in found["checks"]
        if check["verdict"] in ("warn", "fail") and not (check["verdict"] == "fail" and check["stops"])
    ]
    return {"stops": stops, "warns": warns, "audit": found}


def _not_looked(words: Text) -> dict[str, Any]:
    check = Check("rows", None, "skip", ROWS_TITLE, words).to_json()
    return {"ok": True, "verdict": "pass", "checks": [check], "rows": 0, "format": None, "seconds": 0.0}


def _on_the_hub(settings: Settings, values: Mapping[str, Any]) -> bool:
    """Whether the rows would have to be downloaded first, which Start does not wait for."""
    from backend.data.sources import kind

    return kind(str(values.get("dataset") or "arithmetic"), settings.home, values.get("dataset_sha256")) == "hub"


def _key(settings: Settings, values: Mapping[str, Any]) -> str:
    """The settings that matter, and the state of what they name: a file's, a stored set's, the custom rewards'."""
    chosen = {name: values.get(name) for name in FIELDS}
    path = file_named(str(values.get("dataset") or ""))
    state = [_stamp(path)] if path is not None else []
    state += [_stamp(settings.home / "datasets" / f"{values.get('dataset')}.json")]
    for name in values.get("rewards") or ():
        folder = settings.home / "rewards" / str(name)
        state += [sorted(_stamp(each) for each in folder.glob("*.py"))] if folder.is_dir() else []
    text = json.dumps([str(settings.home), chosen, state], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _stamp(path: Path) -> str:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return ""
    return f"{path.name} {found.st_size} {found.st_mtime_ns}"


def require(found: Mapping[str, Any], accept: Sequence[str]) -> None:
    """Refused, with `.preflight`, where a check stops the run or warns without having been accepted.

    `accept`: ids of warnings, or "all" for every warning.
    """
    stops = list(found["stops"])
    warns = [check for check in found["warns"] if ALL not in accept and check["id"] not in accept]
    if not stops and not warns:
        return
    lines = [(check, "stops", "중단") for check in stops] + [(check, "warns", "경고") for check in warns]
    refused = Refused(
        Text(
            en="\n".join(f"{check['id']} {en}: {check['words']['en']}" for check, en, _ in lines),
            ko="\n".join(f"{check['id']} {ko}: {check['words']['ko']}" for check, _, ko in lines),
        )
    )
    refused.preflight = {**found, "warns": warns}  # type: ignore[attr-defined]
    raise refused
