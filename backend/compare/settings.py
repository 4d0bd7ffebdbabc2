"""In what the settings of runs differ, and which runs are one setting under several seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from backend.config.schema import SETTINGS, RunConfig
from backend.views import kind_of_run
from storage.records import Run

SEEDS = ("seed", "data_seed")
# Names, places and what follows from other fields: no setting of the training.
NO_SETTING = frozenset(
    {"name", "control_of", "attached", "evaluation", "reward_versions", "sft_dataset_sha256", "alert_webhook"}
)
UNKNOWN = object()


def value(run: Run, field: str) -> Any:
    """A setting of a run: the default where it was not set, UNKNOWN of a run that was trained elsewhere."""
    if field in run.config:
        return run.config[field]
    return (
        UNKNOWN if run.config.get("attached") else RunConfig.model_fields[field].get_default(call_default_factory=True)
    )


def differences(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Rows {"field", "label", "group", "values": [one a run], "known": [...]}, in the order of the form; only what
    differs. Of a run that was trained elsewhere what its files do not tell is not known, and differs from nothing."""
    rows = []
    for field in RunConfig.model_fields:
        if field in NO_SETTING:
            continue
        values = [value(run, field) for run in runs]
        meta = SETTINGS[field]
        for name, parts in _parts(field, values):
            if len({_key(each) for each in parts if each is not UNKNOWN}) < 2:
                continue
            rows.append(
                {
                    "field": name,
                    "label": meta.label.to_json(),
                    "group": meta.group,
                    "values": [None if each is UNKNOWN else each for each in parts],
                    "known": [each is not UNKNOWN for each in parts],
                }
            )
    return rows


def _parts(field: str, values: Sequence[Any]) -> list[tuple[str, Sequence[Any]]]:
    """(name, values): a setting that holds names and values (dataset_args) one name at a time, dataset_args.rows."""
    if not all(each is UNKNOWN or isinstance(each, Mapping) for each in values):
        return [(field, values)]
    names = dict.fromkeys(name for each in values if isinstance(each, Mapping) for name in each)
    return [
        (f"{field}.{name}", [each.get(name) if isinstance(each, Mapping) else each for each in values])
        for name in names
    ]


def seeds(runs: Sequence[Run]) -> list[list[int]]:
    """Places of the runs that are alike in everything but the seed, each in one list, in the order of the runs. A run
    that repeats the seed of another one is no further seed: it stands alone."""
    groups: dict[str, list[int]] = {}
    seen: set[str] = set()
    for i, run in enumerate(runs):
        settings = {f: value(run, f) for f in RunConfig.model_fields if f not in NO_SETTING and f not in SEEDS}
        # Of a run from elsewhere too little is known; an evaluation or a probe trains nothing.
        alone = "" if kind_of_run(run.config) in ("train", "control") else f"{i}"
        key = alone + _key({f: repr(v) if v is UNKNOWN else v for f, v in settings.items()})
        whole = key + _key([repr(v) if (v := value(run, f)) is UNKNOWN else v for f in SEEDS])
        groups.setdefault(f"{i} {whole}" if whole in seen else key, []).append(i)
        seen.add(whole)
    return list(groups.values())


def _key(each: Any) -> str:
    """Equal for equal values: 1 and 1.0 are, as the settings of a form and of a file."""
    return json.dumps(_plain(each), sort_keys=True, default=repr)


def _plain(each: Any) -> Any:
    if isinstance(each, float) and each.is_integer():
        return int(each)
    if isinstance(each, Mapping):
        return {str(k): _plain(v) for k, v in each.items()}
    if isinstance(each, list | tuple):
        return [_plain(v) for v in each]
    return each
