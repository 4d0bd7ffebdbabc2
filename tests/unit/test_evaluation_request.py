"""What an evaluation is asked to do: every wrong value refused in words, before anything loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.config import check
from backend.evaluation import request
from backend.evaluation.strict import strict
from backend.workers import checkpoints

RUN = "20261129-000000-abcd"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n", 0), ("n", 100_001), ("n", 2.5), ("n", True), ("k", -1), ("k", 65), ("seed", -1), ("seed", "x"),
        ("temperature", 0), ("temperature", float("nan")), ("top_p", 0.0), ("top_p", 1.1), ("batch_size", 0),
        ("checkpoint", "../final"), ("checkpoint", "checkpoint-x"), ("data", "train"), ("run", 3), ("m", 1),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_by_name(key: str, value: Any) -> None:
    found = request.faults({key: value})
    assert [fault.key for fault in found] == [key]
    assert found[0].text.en
    assert found[0].text.ko
    mended = [request.faults({key: good}) for good in found[0].suggest]
    assert all(not again for again in mended), "what is suggested must do"


@given(
    st.integers(1, request.MOST_ROWS), st.integers(0, 64), st.integers(0, request.MOST_SEED),
    st.floats(0.001, 10), st.floats(0.001, 1), st.none() | st.integers(1, 999),
)  # fmt: skip
def test_what_is_in_bounds_goes_there_and_back(
    n: int, k: int, seed: int, temperature: float, top_p: float, batch: int | None
) -> None:
    asked = request.Request(RUN, "checkpoint-7", "", "", "set", n, k, temperature, top_p, seed, batch)
    assert request.faults(asked.to_dict()) == []
    assert request.parse(asked.to_dict()) == asked


def made(home: Path, **manifest: Any) -> Path:
    run_dir = home / "runs" / RUN
    (run_dir / "data").mkdir(parents=True)
    (run_dir / "data" / "eval.jsonl").write_text('{"prompt": "1+1"}\n')
    for name, step in (("final", 40), ("checkpoints/checkpoint-20", 20), ("checkpoints/checkpoint-40", 40)):
        folder = run_dir / name
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(b"x" * step)
        checkpoints.write_manifest(folder, step=step)
    return run_dir


def test_what_it_names_must_be_there(tmp_path: Path) -> None:
    run_dir = made(tmp_path)
    good = request.Request(RUN)
    assert request.faults(good.to_dict(), tmp_path) == []
    assert request.available(run_dir) == [("final", 40), ("checkpoint-40", 40), ("checkpoint-20", 20)]

    def keys(**changes: Any) -> list[str]:
        return [fault.key for fault in request.faults({**good.to_dict(), **changes}, tmp_path)]

    assert keys(run="20261129-000000-zzzz") == ["run"]
    assert keys(run="../../etc") == ["run"]
    assert keys(checkpoint="best") == keys(checkpoint="checkpoint-30") == ["checkpoint"]
    assert keys(checkpoint="checkpoint-20") == []
    assert keys(run="") == ["data"]
    assert keys(run="", data="set", trained="no-such-thing") == ["trained"]
    assert keys(run="", data="set", base="embedded", trained="org/name") == []
    (run_dir / "final" / "model.safetensors").write_bytes(b"y")
    fault = request.faults(good.to_dict(), tmp_path)[0]
    assert fault.key == "checkpoint"
    assert "another size" in fault.text.en
    assert fault.suggest == ("checkpoint-40", "checkpoint-20")
    (run_dir / "data" / "eval.jsonl").write_text("")
    assert keys(checkpoint="checkpoint-20") == ["data"]


def test_no_folder_of_the_machine_on_a_public_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert request.model_problem(str(tmp_path), tmp_path) is None
    monkeypatch.setenv("SPACE_ID", "someone/studio")
    assert request.model_problem(str(tmp_path), tmp_path) is not None


def test_check_refuses_early_and_knows_what_is_not_its_concern(tmp_path: Path) -> None:
    made(tmp_path)
    asked = {"stages": ["evaluate"], "evaluation": {"run": RUN, "checkpoint": "best"}}
    problems = check(asked, home=tmp_path).errors
    assert [p.code for p in problems] == ["evaluation_checkpoint"]
    assert {"run": RUN, "checkpoint": "checkpoint-20"} in problems[0].suggest
    # The rows of a run are in its folder, whatever became of the file; and an evaluation trains no groups.
    fine = {"stages": ["evaluate"], "evaluation": {"run": RUN}, "dataset": "gone.jsonl", "generation_batch_size": 7}
    assert check(fine, home=tmp_path).ok
    for wrong in ({"rewards": ["acuracy"]}, {"evaluation": {"run": RUN, "data": "set"}}):
        assert not check({**fine, **wrong}, home=tmp_path).ok, wrong


@pytest.mark.parametrize(
    ("completion", "truth", "expected"),
    [
        ("<answer> 12 </answer>", "12", True), ("<answer>12.0</answer>", "12", False), ("  12\n", 12, True),
        ("it is 12", "12", False), ("the answer is 12", "12", True), ("<think>12", "12", False),
        ("<think>3</think>12", "12", True), (r"\boxed{12}", ["11", "12"], True), ("x", None, None), ("x", "", None),
        ("<answer>Yes</answer>", "yes", False), ("x", {"tests": []}, None), ("x", [], None),
    ],
)  # fmt: skip
def test_strict_forgives_nothing(completion: str, truth: Any, expected: bool | None) -> None:
    assert strict(completion, truth) is expected
