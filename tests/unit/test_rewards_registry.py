"""The registry, bound arguments, failures of a reward, and the source for an exported script."""

from __future__ import annotations

import os
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
    files = {path.stem for path in folder.glob("*.py") if not path.name.startswith("_")} - NOT_REWARDS
    assert set(rewards.names()) == files >= {"accuracy", "format"}
    for name in rewards.names():
        found = rewards.spec(name)
        assert found.label.en
        assert found.label.ko
        assert found.help.en
        assert found.help.ko != found.help.en
        assert found.name == name
        assert found.bounds is None or found.bounds[0] < found.bounds[1]


def test_columns_and_arguments_come_from_the_signature() -> None:
    assert rewards.spec("accuracy").columns == ("ground_truth",)
    template, content, prefilled, *_ = rewards.spec("format").arguments
    assert (template.name, template.default, template.choices[:2]) == ("template", "answer", ("answer", "think_answer"))
    assert (content.name, content.default, content.choices) == ("content", None, ("number", "text"))
    assert (prefilled.name, prefilled.kind, prefilled.default) == ("prefilled", "bool", False)


def test_unknown_names_and_arguments_are_refused_with_what_would_do() -> None:
    with pytest.raises(NotFound, match=r"'acuracy'.*accuracy, .*format"):
        rewards.get("acuracy")
    with pytest.raises(Refused, match=r"no argument 'tempalte'.*template, content, prefilled"):
        rewards.get("format", {"tempalte": "answer"})
    with pytest.raises(
        Refused, match=r"format.template is 'x'; expected 'answer', 'think_answer', 'thinking_boxed', 'pattern'"
    ):
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


def test_optional_columns_are_filled_where_there_are_any() -> None:
    def judge(completion: str, *, tokens: int | None = None) -> Verdict:
        return Verdict(None if tokens is None else float(tokens))

    described = RewardSpec("made", Text("", ""), Text("", ""), (), (), None, judge, optional_columns=("tokens",))
    reward = Reward(described, {})
    assert reward(["", ""], ["a", "b"], tokens=[3, None]) == [3.0, None]
    assert reward(["", ""], ["a", "b"], other=[3, None]) == [None, None]


def test_the_prompt_is_a_column_too() -> None:
    reward = made(lambda completion, *, prompt: Verdict(float(len(prompt))), ("prompt",))
    assert reward(["abc", "d"], ["", ""]) == [3.0, 1.0]


def test_one_call_a_batch() -> None:
    calls: list[int] = []

    def judge(completions: list[str], *, gold: list[int], offset: int = 0) -> list[Verdict | Exception]:
        calls.append(len(completions))
        return [
            ValueError(f"bad {c}") if g < 0 else Verdict(float(g + offset))
            for c, g in zip(completions, gold, strict=True)
        ]

    described = RewardSpec("made", Text("", ""), Text("", ""), ("gold",), (), None, judge, many=True)
    reward = Reward(described, {"offset": 1})
    assert reward([""] * 3, ["a", "b", "c"], gold=[1, -1, 2]) == [2.0, None, 3.0]
    assert calls == [3]
    (failure,) = reward.take_failures()
    assert (failure.row, failure.completion, failure.error) == (1, "b", "ValueError('bad b')")
    assert "bad b" in failure.traceback


def test_a_batch_that_raises_or_is_short() -> None:
    def raises(completions: list[str]) -> list[Verdict]:
        raise OSError("gone")

    def short(completions: list[str]) -> list[Verdict]:
        return [Verdict(1.0)]

    def of(judge: Any) -> Reward:
        return Reward(RewardSpec("made", Text("", ""), Text("", ""), (), (), None, judge, many=True), {})

    broken = of(raises)
    assert broken(["", ""], ["a", "b"]) == [None, None]
    assert [f.completion for f in broken.take_failures()] == ["a", "b"]
    with pytest.raises(StudioError, match="gave 1 verdicts for 2 completions"):
        of(short)(["", ""], ["a", "b"])


def test_words_for_people_stop_the_run_instead_of_scoring() -> None:
    def judge(completion: str) -> Verdict:
        raise StudioError(Text("the sandbox is off", "샌드박스 꺼짐"))

    with pytest.raises(StudioError, match="the sandbox is off"):
        made(judge)([""], ["x"])
    with pytest.raises(Refused, match="loaded by the worker"):
        rewards.get("reward_model", {"model": "m"})([""], ["x"])


def test_the_verdicts_of_the_last_call_are_kept_until_taken() -> None:
    reward = rewards.get("accuracy")
    reward([""] * 2, ["<answer>4</answer>", "4"], ground_truth=["4", None])
    assert reward.take_verdicts() == [
        Verdict(1.0, "4", "equal to the ground truth"),
        Verdict(None, None, "no ground truth to compare with"),
    ]
    assert reward.take_verdicts() == []


@pytest.mark.parametrize("name", ["self", "columns", "values", "reward", "name", "args"])
def test_trl_may_pass_a_column_of_any_name(name: str) -> None:
    given: dict[str, Any] = {"prompts": [""], "completions": ["<answer>4</answer>"], "ground_truth": ["4"], name: [1]}
    assert rewards.get("accuracy")(**given) == [1.0]
    assert rewards.get("math")(**given) == [1.0]


def test_rows_by_hand() -> None:
    rows: list[dict[str, Any]] = [
        {"completion": "<answer>4</answer>", "ground_truth": "4", "other": 1},
        {"completion": "<answer>4</answer>"},
        {"ground_truth": "4"},
        {"completion": [{"role": "assistant", "content": "<answer>5</answer>"}], "ground_truth": "4"},
    ]
    found = rewards.score_rows(rewards.get("accuracy"), rows)
    assert [v.score for v in found] == [1.0, None, None, 0.0]
    assert [v.reason for v in found[1:3]] == ["the row has no ground_truth", "the row has no completion"]
    assert rewards.score_rows(rewards.get("format"), []) == []


def run_alone(tmp_path: Path, source: str, *lines: str, env: dict[str, str] | None = None) -> list[str]:
    script = tmp_path / "rewards_alone.py"
    script.write_text("from __future__ import annotations\n" + source + "\n" + "\n".join(lines) + "\n")
    isolated = [] if env else ["-I"]
    done = subprocess.run(
        [sys.executable, *isolated, str(script)],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_inlined_source_scores_alike_without_this_project(tmp_path: Path) -> None:
    completions = ["<answer>4</answer>", "4", "<think>x</think><answer>four</answer>", "<answer>5</answer>", '{"a": 1}']
    args = {
        "format": {"content": "text"},
        "length": {"mode": "soft_overlong", "max_length": 4, "cache": 2},
        "language": {"script": "latin", "part": "whole"},
    }
    names = ["accuracy", "format", "json", "length", "repetition", "language"]
    columns = {"ground_truth": ["4", "4", "four", None, None], "completion_ids": [[0] * n for n in range(1, 6)]}
    lines = [
        f"chat = [[dict(role='assistant', content=c)] for c in {completions!r}]",
        *(
            f"print({rewards.function_name(n)}.__name__, "
            f"{rewards.function_name(n)}([''] * 5, chat, **{columns!r}, trainer_state=None))"
            for n in names
        ),
    ]
    ours = [f"{n} {rewards.get(n, args.get(n))([''] * 5, completions, **columns)}" for n in names]
    source = rewards.source(names, args)
    assert "GRPO Studio" not in source
    assert run_alone(tmp_path, source, *lines) == ours
    assert ours[0] == "accuracy [1.0, 0.0, 1.0, None, None]"
    assert ours[3] == "length [0.0, 0.0, -0.5, -1.0, -1.0]"


def test_what_cannot_be_carried_is_imported_and_says_so(tmp_path: Path) -> None:
    source = rewards.source(["regex", "reward_model"], {"regex": {"pattern": "a+"}, "reward_model": {"model": "m/n"}})
    assert "# regex needs more than can stand in a script" in source
    assert "reward_model = 'm/n'" in source
    project = str(Path(__file__).resolve().parents[2])
    script = "if __name__ == '__main__': print(regex.__name__, regex(['', ''], ['aa', 'b']))"
    assert run_alone(tmp_path, source, script, env=os.environ | {"PYTHONPATH": project}) == ["regex [1.0, 0.0]"]
