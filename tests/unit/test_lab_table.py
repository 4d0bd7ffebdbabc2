"""The table of scores: every completion under every reward, with what was read and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import NotFound, Refused
from backend.lab.table import BINS, histogram, resolve, table, verdicts

ROWS = [
    {"completion": "<answer>4</answer>", "ground_truth": "4", "prompt": "2+2"},
    {"completion": [{"role": "assistant", "content": "<answer>5</answer>"}], "ground_truth": "4", "prompt": "2+2"},
    {"completion": "4", "ground_truth": None, "prompt": "2+2"},
    {"completion": "4", "prompt": "2+2"},
]


def test_cells_and_totals(tmp_path: Path) -> None:
    found = table(tmp_path, ["accuracy", "format"], [1.0, 0.2], {"format": {"content": "number"}}, ROWS)
    cells = [row["cells"] for row in found["rows"]]
    assert [c["accuracy"]["score"] for c in cells] == [1.0, 0.0, None, None]
    assert [c["format"]["score"] for c in cells] == [1.0, 1.0, 0.0, 0.0]
    assert [row["total"] for row in found["rows"]] == pytest.approx([1.2, 0.2, 0.0, 0.0])
    assert cells[1]["accuracy"] == {"score": 0.0, "extracted": "5", "reason": "not the ground truth", "failed": False}
    assert cells[3]["accuracy"]["reason"] == "the row has no ground_truth"
    assert [c["accuracy"]["failed"] for c in cells] == [False, False, False, True]
    assert found["rows"][1]["completion"] == "<answer>5</answer>"
    assert set(found["seconds"]) == {"accuracy", "format"}
    assert found["histograms"]["accuracy"]["missing"] == 2


def test_a_file_is_a_reward_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def f(completions, **kwargs):\n    return [len(c) / 10 for c in completions]\n", encoding="utf-8")
    found = table(tmp_path, [str(path)], None, None, [{"completion": "abcde"}])
    assert found["rows"][0]["total"] == 0.5


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="choose at least one"):
        table(tmp_path, [], None, None, ROWS)
    with pytest.raises(Refused, match="2 numbers"):
        table(tmp_path, ["accuracy", "format"], [1.0], None, ROWS)
    for weight in (float("nan"), float("inf"), 1e308, 10**400):
        with pytest.raises(Refused, match="in size"):
            table(tmp_path, ["accuracy"], [weight], None, ROWS)
    with pytest.raises(Refused, match="twice"):
        table(tmp_path, ["format", "format"], None, None, ROWS)
    with pytest.raises(Refused, match="row 2 has no completion"):
        table(tmp_path, ["format"], None, None, [ROWS[0], {"prompt": "2+2"}])
    with pytest.raises(Refused, match="at most 20000 rows"):
        table(tmp_path, ["format"], None, None, ROWS[:1] * 20_001)
    with pytest.raises(NotFound):
        table(tmp_path, ["nobody"], None, None, ROWS)
    with pytest.raises(Refused, match="no argument"):
        table(tmp_path, ["accuracy"], None, {"accuracy": {"x": 1}}, ROWS)


def test_time_is_bounded(tmp_path: Path) -> None:
    found = verdicts(resolve(tmp_path, "accuracy"), ROWS[:2], budget_s=-1.0)
    assert [verdict.reason for verdict, _ in found] == ["not scored: -1 s were used up"] * 2


scores = st.lists(st.none() | st.floats(-1e6, 1e6), max_size=60)


@given(scores)
def test_a_histogram_holds_every_score_once(values: list[float | None]) -> None:
    found = histogram(values)
    kept = [value for value in values if value is not None]
    assert sum(found["counts"]) == len(kept)
    assert found["missing"] == len(values) - len(kept)
    if kept:
        assert len(found["edges"]) == len(found["counts"]) + 1
        assert len(found["counts"]) in (1, BINS)
        assert found["edges"] == sorted(found["edges"])
        assert found["edges"][0] <= min(kept)
        assert found["edges"][-1] >= max(kept)
