"""The time of a step as an earlier run of the same shape measured it."""

from __future__ import annotations

from typing import Any, cast

from backend.config import defaults
from backend.measured import step_seconds
from storage.reader import Reader
from tests.unit.test_process_parts import RUN


class Past:
    """A reader with one run: its settings, its last step, its step times."""

    def __init__(self, last_step: int, times: list[float], **config: Any) -> None:
        self.times = times
        settings = {**defaults(), **config}
        self.run = type(RUN)(
            **{n: getattr(RUN, n) for n in RUN.__dataclass_fields__} | {"config": settings, "last_step": last_step}
        )

    def runs(self) -> list[Any]:
        return [self.run]

    def history(self, _run_id: str, _points: int, names: list[str]) -> Any:
        assert names == ["step_time"]
        return 0, {("train", "step_time"): (list(range(len(self.times))), self.times)}


def seconds(past: Past, **values: Any) -> float | None:
    return step_seconds(cast(Reader, past), values)


def test_the_median_of_a_run_of_the_same_shape() -> None:
    past = Past(50, [9.0, 0.5, 0.5, 0.6, 0.4], model="embedded", num_generations=4)
    assert seconds(past, model="embedded", num_generations="4", learning_rate=1.0) == 0.5
    assert seconds(past, model="embedded", num_generations=8) is None
    assert seconds(past, model="other", num_generations=4) is None


def test_a_run_that_has_hardly_begun_says_nothing() -> None:
    assert seconds(Past(2, [1.0, 1.0, 1.0], model="embedded"), model="embedded") is None
    assert seconds(Past(50, [], model="embedded"), model="embedded") is None
