"""The recipes that ship name data, models and rewards that exist, with arguments they take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from backend import data, models, rewards
from backend.models import embedded
from backend.settings import PROJECT

PRESETS = sorted((PROJECT / "configs" / "presets").glob("*.yaml"))


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_a_recipe_names_what_exists(path: Path) -> None:
    values: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["values"]
    data.check_args(values["dataset"], values.get("dataset_args", {}))
    assert models.facts(values["model"]) is not None
    embedded.parse(values.get("model_args"))
    for name in values["rewards"]:
        rewards.check_args(name, values.get("reward_args", {}).get(name))


def test_the_quickstart_asks_what_the_embedded_model_was_taught() -> None:
    values = yaml.safe_load((PROJECT / "configs" / "presets" / "quickstart.yaml").read_text(encoding="utf-8"))["values"]
    args = values["dataset_args"]
    assert values["model"] == embedded.NAME
    assert tuple(args["operations"]) == embedded.DEFAULT.operations
    assert args["digits"] == embedded.DEFAULT.digits
    assert values["eval_size"] >= 200
    assert embedded.DEFAULT.carry_error > 0.5, "greedy decoding must make the teacher's mistake"
    # The longest answer: two columns of three terms, the tag and the end: it must not be cut off.
    assert values["max_completion_length"] >= len("9+9=18 9+9+1=19 ") + 6
