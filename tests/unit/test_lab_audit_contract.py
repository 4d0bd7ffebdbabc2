"""The audit on rewards that break the contract, depend on more than the text, or take too long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.lab_audit import failing, runner, verdicts, words


@pytest.fixture
def run(tmp_path: Path) -> Any:
    return runner(tmp_path)


RIGHT = (
    "def f(completions, ground_truth, **kwargs):\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(last(c) == str(g)))"
)

BROKEN = {
    "no kwargs": ("def f(prompts, completions):\n    return [1.0 for c in completions]", "f.signature", "kwargs"),
    "another column": (
        "def f(completions, solution, **kwargs):\n    return [1.0 for c in completions]",
        "f.columns",
        '--arg \'columns={"solution": "ground_truth"}\'',
    ),
    "one number": ("def f(completions, **kwargs):\n    return 1.0", "f.contract", "f"),
    "too few": ("def f(completions, **kwargs):\n    return [1.0]", "f.contract", "expected"),
    "texts": ("def f(completions, **kwargs):\n    return ['1' for c in completions]", "f.contract", "'1'"),
    "infinity": ("def f(completions, **kwargs):\n    return [float('inf') for c in completions]", "f.contract", "inf"),
    "raises": ("def f(completions, **kwargs):\n    raise ValueError('no luck')", "f.raises", "no luck"),
    "the other shape": (
        "def f(completions, **kwargs):\n    return [len(c[0]['content']) for c in completions]",
        "f.raises",
        "is a text",
    ),
    "only None": (
        "def f(completions, ground_truth, **kwargs):\n    return [None for c in completions]",
        "f.gold",
        "no score",
    ),
    "only nought": (
        "def f(completions, ground_truth, **kwargs):\n    return [0.0 for c in completions]",
        "f.gold",
        "the least score",
    ),
    "syntax": ("def f(completions, **kwargs)\n    return 1", "mine.signature", "syntax"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_contract_stops(run: Any, name: str) -> None:
    body, id, said = BROKEN[name]
    found = run(body)
    assert id in failing(found)
    assert said in words(found, id)
    assert next(check for check in found["checks"] if check["id"] == id)["stops"]


def test_a_mapped_column_passes(run: Any, tmp_path: Path) -> None:
    body = (
        "def f(completions, solution, **kwargs):\n"
        "    return by_row(completions, solution, lambda c, g: float(last(c) == g))"
    )
    args = {str(tmp_path / "mine.py"): {"columns": {"solution": "ground_truth"}}}
    assert run(body, values={"reward_args": args})["verdict"] == "pass"


def test_state_inputs_and_errors_on_some_texts_warn(run: Any) -> None:
    body = (
        "calls = 0\n"
        "def f(completions, ground_truth, **kwargs):\n"
        "    global calls\n"
        "    calls += 1\n"
        "    completions.append('x'); completions.pop()\n"
        "    return by_row(completions, ground_truth, lambda c, g: float(re.findall(r'[0-9]+', text(c))[-1] == g))"
    )
    found = run(body)
    assert failing(found) <= {"f.outside", "f.several"}
    assert {verdicts(found)[id] for id in ("f.state", "f.inputs", "f.errors")} == {"warn"}


def test_a_score_that_depends_on_the_batch_warns(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n"
        "    return [float(last(c) == g) / len(completions) for c, g in zip(completions, ground_truth)]"
    )
    assert verdicts(run(body))["f.order"] == "warn"


def test_time_that_runs_out_is_said(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n    time.sleep(0.4)\n"
        "    return by_row(completions, ground_truth, lambda c, g: float(last(c) == g))"
    )
    found = run(body, budget_s=2.0)
    assert verdicts(found)["config.time"] == "skip"
    assert found["seconds"] < 60


def test_progress_names_what_is_looked_at(run: Any) -> None:
    seen: list[tuple[int, int, str]] = []
    run(RIGHT, progress=lambda done, total, what: seen.append((done, total, what.en)))
    assert [done for done, _, _ in seen] == list(range(seen[0][1]))
    assert seen[-1][2].startswith("f: ")
