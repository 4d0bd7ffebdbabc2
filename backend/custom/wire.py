"""A call of a reward as JSON text: what TRL would give, for a process of its own."""

from __future__ import annotations

import datetime
import decimal
import json
import re
import zlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from backend.custom.inside.values import TAG
from backend.errors import StudioError
from backend.rewards.verdict import completion_text
from backend.text import Text

PIECES = re.compile(r"\w+|[^\w\s]")
CALLABLES = ("log_extra", "log_metric", "environments")
KEPT_HISTORY = 50  # entries of trainer_state.log_history, the newest
OUTSIDE = {
    "epoch": 0.0, "global_step": 0, "max_steps": 100, "logging_steps": 10, "eval_steps": 500, "save_steps": 500,
    "train_batch_size": None, "num_train_epochs": 1, "num_input_tokens_seen": 0, "total_flos": 0.0, "log_history": [],
    "best_metric": None, "best_global_step": None, "best_model_checkpoint": None, "is_local_process_zero": True,
    "is_world_process_zero": True, "is_hyper_param_search": False, "trial_name": None, "trial_params": None,
}  # fmt: skip
"""The state that a reward sees outside of a run (dry run, bench): transformers' defaults, at step 0 of 100."""


def call_text(values: Mapping[str, Any], count: int, state: Any) -> str:
    """One call: `values` by name (prompts, completions, columns), for `count` completions. StudioError, naming the
    column, where a value cannot leave this process."""
    parts = []
    for name, value in values.items():
        try:
            parts.append(f"{json.dumps(str(name))}: {json.dumps(value, default=_tagged)}")
        except (TypeError, ValueError, RecursionError) as error:
            raise StudioError(
                Text(
                    en=f"the column {name} cannot be handed to a reward in a process of its own: {error}",
                    ko=f"{name} 열의 값은 별도 프로세스에서 실행되는 보상에 넘길 수 없습니다: {error}",
                )
            ) from error
    return f'{{"count": {count}, "state": {json.dumps(state_values(state))}, "values": {{{", ".join(parts)}}}}}'


def one_row(values: Mapping[str, Any], row: int, count: int, whole: Collection[str] = ()) -> dict[str, Any]:
    """The call for one completion alone: of each list with one entry a completion, that entry; `whole` stays as it "
    "is."""
    return {name: value if name in whole else _entry(value, row, count) for name, value in values.items()}


def _entry(value: Any, row: int, count: int) -> Any:
    return [value[row]] if isinstance(value, list | tuple) and len(value) == count else value


def state_values(state: Any) -> dict[str, Any]:
    """What of a TrainerState is JSON, under its own names; the stand-in where there is none."""
    if state is None:
        return dict(OUTSIDE)
    values: dict[str, Any] = {}
    for name, value in vars(state).items():
        if name.startswith("_") or name == "stateful_callbacks":
            continue
        kept = value[-KEPT_HISTORY:] if name == "log_history" and isinstance(value, list) else value
        try:
            values[name] = json.loads(json.dumps(kept, default=_number))
        except (TypeError, ValueError, RecursionError):
            continue
    return values


def _number(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__}")


def _tagged(value: Any) -> Any:
    if isinstance(value, bytes | bytearray):
        return {TAG: "bytes", "text": bytes(value).hex()}
    if isinstance(value, decimal.Decimal):
        return {TAG: "decimal", "text": str(value)}
    for kind, known in (("datetime", datetime.datetime), ("date", datetime.date), ("time", datetime.time)):
        if isinstance(value, known):
            return {TAG: kind, "text": value.isoformat()}
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"it holds a {type(value).__name__}")


def stand_in_ids(completions: Sequence[Any]) -> list[list[int]]:
    """Token ids for where there is no tokenizer: one for each word and each sign, so that their number means "
    "something."""
    return [[zlib.crc32(piece.encode()) for piece in PIECES.findall(completion_text(c))] for c in completions]
