"""What a view says of a run beside its row."""

from __future__ import annotations

from typing import Any

import pytest

from backend import views


@pytest.mark.parametrize(
    ("config", "kind", "subject"),
    [
        ({}, "train", None),
        ({"stages": ["sft", "grpo"]}, "train", None),
        ({"shuffle_rewards": True, "control_of": "r-1"}, "control", "r-1"),
        ({"stages": ["evaluate"], "evaluation": {"run": "r-2", "checkpoint": "final"}}, "evaluate", "r-2"),
        ({"stages": ["evaluate"], "evaluation": {"run": "", "base": "a", "trained": "b"}}, "evaluate", None),
        ({"stages": ["probe"]}, "probe", None),
        # What a training run carries of an evaluation is none of its own.
        ({"stages": ["grpo"], "evaluation": {"run": "r-3"}}, "train", None),
    ],
)
def test_what_a_run_is_and_of_which(config: dict[str, Any], kind: str, subject: str | None) -> None:
    assert views.kind_of_run(config) == kind
    assert views.subject_of(config) == subject
