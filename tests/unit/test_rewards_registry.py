"""The registry, bound arguments, failures of a reward, and the source for an exported script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend import rewards
from backend.errors import NotFound, Refused, StudioError
from backend.rewards.base import NOT_REWARDS, Reward, RewardSpec
from backend.rewards.verdict import Verdict
from backend.text import Text


def made(judge: Any, columns: tuple[str, ...] = ()) -> Reward:
    return Reward(RewardSpec("made", Text("made", "made"), Text("", ""), columns, (), None, judge), {})


def test_every_file_is_found_and_described() -> None:
    folder = Path(rewards.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", *NOT_REWARDS}
    assert set(rewards.names()) == files >= {"accuracy", "format"}
    for name in rewards.names():
        found = rewards.spec(name)
        assert found.label.en
        assert found.label.ko
        assert found.help.en
        assert found.help.ko != found.help.en
        assert rewards.get(name).__name__ == name
        assert found.bounds is None or found.bounds[0] < found.bounds[1]


def test_columns_and_arguments_come_from_the_signature() -> None:
    assert rewards.spec("accuracy").columns == ("ground_truth",)
    template, content, prefilled = rewards.spec("format").arguments
    assert (template.name, template.default, template.choices) == ("template", "answer", ("answer", "think_answer"))
    assert (content.name, content.default, content.choices) == ("content", None, ("number", "text"))
    assert (prefilled.name, prefilled.kind, prefilled.default) == ("prefilled", "bool", False)


def test_unknown_names_and_arguments_are_refused_with_what_would_do() -> None:
    with pytest.raises(NotFound, match=r"'acuracy'.*accuracy, format"):
        rewards.get("acuracy")
    with pytest.raises(Refused, match=r"no argument 'tempalte'.*template, content, prefilled"):
        rewards.get("format", {"tempalte": "answer"})
    with pytest.raises(Refused, match=r"format.template is 'x'; expected 'answer', 'think_answer'"):
        rewards.get("format", {"template": "x"})
    with pytest.raises(Refused, match=r"format.prefilled is 1; expected bool"):
        rewards.get("format", {"prefilled": 1})


def test_a_reward_that_raises_costs_only_that_completion() -> None:
    def judge(completion: str) -> Verdict:
        if completion == "c2":
            raise ZeroDivisionError("third of eight")
        return Verdict(1.0)

    reward = made(judge)
    logged: dict[str, float] = {}
    scores = reward([""] * 8, [f"c{n}" for n in range(8)], log_metric=logged.__setitem__)
    assert scores == [1.0, 1.0, None, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert logged == {"rewards/made/failed": 1.0}
    (failure,) = reward.take_failures()
    assert (failure.row, failure.completion) == (2, "c2")
    assert "third of eight" in failure.traceback
    assert reward.take_failures() == []
    assert reward.failed == 1


def test_what_is_no_finite_number_is_a_failure_and_nan_means_none() -> None:
    values: dict[str, Any] = {"nan": float("nan"), "inf": float("inf"), "text": "1", "true": True, "none": None}
    reward = made(lambda completion: Verdict(values[completion]))
    logged: dict[str, float] = {}
    scores = reward([""] * 5, list(values), log_metric=logged.__setitem__)
    assert scores == [None, None, None, 1.0, None]
    assert [failure.row for failure in reward.take_failures()] == [1, 2]
    assert logged == {"rewards/made/failed": 2.0, "rewards/made/skipped": 2.0}


def test_a_stop_signal_inside_a_reward_is_not_swallowed() -> None:
    def judge(completion: str) -> Verdict:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(judge)([""], ["x"])


def test_a_missing_column_is_named_with_those_there_are() -> None:
    with pytest.raises(StudioError, match="accuracy needs the column ground_truth; the rows have: answer"):
        rewards.get("accuracy")([""], ["x"], answer=["4"], trainer_state=None)


def test_the_inlined_source_scores_alike_without_this_project(tmp_path: Path) -> None:
    completions = ["<answer>4</answer>", "4", "<think>x</think><answer>four</answer>", "<answer>5</answer>"]
    args = {"format": {"content": "text"}}
    script = tmp_path / "rewards_alone.py"
    script.write_text(
        "from __future__ import annotations\n"
        + rewards.source(["accuracy", "format"], args)
        + f"\nchat = [[dict(role='assistant', content=c)] for c in {completions!r}]"
        + "\nprint(accuracy([''] * 4, chat, ground_truth=['4', '4', 'four', None], trainer_state=None))"
        + "\nprint(format([''] * 4, chat))\n"
    )
    done = subprocess.run([sys.executable, "-I", str(script)], cwd=tmp_path, capture_output=True, text=True, check=True)
    truth = ["4", "4", "four", None]
    ours = [
        rewards.get("accuracy")([""] * 4, completions, ground_truth=truth),
        rewards.get("format", args["format"])([""] * 4, completions),
    ]
    assert done.stdout.splitlines() == [str(scores) for scores in ours]
    assert ours[0] == [1.0, 0.0, 1.0, None]
