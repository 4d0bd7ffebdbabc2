"""The rows and the settings that an audit works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import Refused, StudioError
from backend.settings import Settings
from backend.text import Text
from storage.reader import Reader

Row = dict[str, Any]
FEWER = 4


def with_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with what was left out filled in."""
    from backend.config import defaults

    return {**defaults(), **{name: value for name, value in values.items() if value is not None}}


def sample(settings: Settings, reader: Reader | None, values: Mapping[str, Any], count: int) -> list[Row]:
    """`count` training rows of the dataset that `values` mean. StudioError, in words, where there are none."""
    if reader is None:
        raise ValueError("a reader is needed to find the rows of a configuration")
    from backend.data.service import DataService

    args = dict(values.get("dataset_args") or {})
    if values.get("dataset") == "arithmetic":
        # Problems of the same kind, without generating thousands to look at a few.
        known = args.get("rows", FEWER * count)
        args["rows"] = min(known, FEWER * count) if isinstance(known, int) else known
    return DataService(settings, reader).sample({**values, "dataset_args": args}, count)


def checked(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The rows as they were given. Refused for a row that is no object or has no prompt."""
    for at, row in enumerate(rows):
        if not isinstance(row, Mapping) or not isinstance(row.get("prompt"), str | list):
            raise Refused(
                Text(
                    en=f"rows: row {at + 1} has no prompt (a text, or a list of messages)",
                    ko=f"rows: {at + 1}번 행에 prompt(문자열 또는 메시지 목록)가 없습니다",
                )
            )
    return [dict(row) for row in rows]


def per_step(values: Mapping[str, Any]) -> int:
    """Completions that one optimizer step is made of, as far as the settings say."""
    batch = values.get("per_device_train_batch_size") or 8
    return int(batch) * int(values.get("gradient_accumulation_steps") or 1)


def step_seconds(reader: Reader | None, values: Mapping[str, Any]) -> float | None:
    """Seconds a step, from an earlier run of the same shape; None where there was none."""
    if reader is None:
        return None
    from backend.measured import step_seconds as measured

    try:
        return measured(reader, values)
    except StudioError:
        return None
