"""What a sweep's runs measured goes to the page as JSON, without what only the arithmetic needs."""

from __future__ import annotations

import numpy as np

from backend.sweeps import result
from ui.wire import encode


def test_a_setting_holds_no_measures_of_its_runs() -> None:
    side = {"accuracy": 0.5, "low": 0.2, "high": 0.8, "right": 1, "n": 2}
    measures = {
        "before": None, "after": side, "gain": None, "reward": 1.0, "length": 3.0, "step_s": 1.0, "reward_spread": None,
        "grad_spread": None, "not_finite": 0, "seconds": 2.0, "finding": None, "rows": np.array([1, 2]),
    }  # fmt: skip
    rows = [
        {"position": i, "values": {"beta": 0.1, "seed": i}, "state": "succeeded", "measures": measures} for i in (1, 2)
    ]
    found = result.settings(rows)
    encode(found)
    assert "of" not in found[0]
    assert (found[0]["done"], found[0]["accuracy"]["n"]) == (2, 2)
