"""Custom rewards in a configuration: the check, the form's choices, and what a run pins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend import runs, sandbox
from backend.config import as_change, check, form_schema
from backend.config.schema import RunConfig
from backend.custom import Library, resolve
from backend.sandbox import Report, SandboxUnavailable
from backend.services import Services
from backend.settings import Settings
from backend.text import Text

SOURCE = "def judge(completions, solution, bonus=1.0, **kwargs):\n    return [bonus] * len(completions)\n"
FREE = "def judge(completions, **kwargs):\n    return [1.0] * len(completions)\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    Library(tmp_path).save("mine", FREE, "trusted", confirmed=True)
    Library(tmp_path).save("mine", SOURCE, "trusted", confirmed=True)
    return tmp_path


def problems(home: Path | None, **values: Any) -> dict[str, Any]:
    return {p.code: p for p in check({"rewards": ["mine"], **values}, home=home).errors}


def test_a_saved_reward_is_known_where_its_home_is(home: Path) -> None:
    assert problems(home) == {}
    (unknown,) = problems(None).values()
    assert unknown.code == "unknown_reward"
    assert "mine" in check({"rewards": ["mien"]}, home=home).errors[0].suggest[0]


def test_arguments_and_versions_are_checked(home: Path) -> None:
    args = {"bonus": 2, "limit_s": 5, "columns": {"solution": "ground_truth"}}
    assert problems(home, reward_args={"mine": args}) == {}
    assert "no argument 'malus'" in problems(home, reward_args={"mine": {"malus": 1}})["reward_args_mine"].rule.en
    assert "limit_s" in problems(home, reward_args={"mine": {"limit_s": 0}})["reward_args_mine"].rule.en
    # Version 1 has no such argument.
    old = problems(home, reward_args={"mine": {"bonus": 2}}, reward_versions={"mine": 1})
    assert set(old) == {"reward_args_mine"}
    missing = problems(home, reward_versions={"mine": 9})["reward_version_mine"]
    assert "there are: 1, 2" in missing.rule.en
    assert missing.suggest == [{"mine": 2}]


def test_a_column_that_the_file_lacks_is_offered_as_a_mapping(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(json.dumps({"prompt": f"{n}?", "answer": str(n)}) for n in range(40)))
    data = {"dataset": str(file), "eval_size": 4, "stages": ["grpo"]}
    problem = problems(home, **data)["column_mine"]
    assert "needs the column solution" in problem.rule.en
    name, value = as_change(problem, problem.suggest[0])
    assert (name, value) == ("reward_args", {"mine": {"columns": {"solution": "answer"}}})
    assert "column_mine" not in problems(home, **data, reward_args=value)


def test_without_a_sandbox_a_sandboxed_reward_is_refused_by_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Library(home).save("mine", FREE)
    words = Text(en="no Landlock, no seccomp", ko="Landlock과 seccomp가 없습니다")
    monkeypatch.setattr(sandbox, "report", lambda: Report("none", "6.1", 0, "x86_64", words))
    problem = problems(home, rewards=["mine"])["reward_sandbox_mine"]
    assert "mine" in problem.rule.en
    assert "no Landlock, no seccomp" in problem.rule.en
    both = problems(home, rewards=["accuracy", "mine"])["reward_sandbox_mine"]
    assert both.suggest == [["accuracy"]]


def test_on_a_public_space_it_is_unknown_and_why_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_ID", "me/studio")
    assert "public Space" in problems(home)["unknown_reward"].rule.en
    assert all(choice["custom"] is None for choice in choices(home).values())


def choices(home: Path | None) -> dict[str, Any]:
    (field,) = [each for each in form_schema(home)["fields"] if each["name"] == "rewards"]
    return {choice["value"]: choice for choice in field["choices"]}


def test_the_form_offers_it_with_its_version(home: Path) -> None:
    assert choices(home)["mine"]["custom"] == {"level": "trusted", "version": 2}
    assert choices(home)["accuracy"]["custom"] is None
    assert "mine" not in choices(None)


def test_a_run_pins_the_version_and_keeps_the_source(home: Path) -> None:
    services = Services(Settings(home))
    try:
        checked = services.check({"rewards": ["accuracy", "mine"], "reward_versions": {"mine": 1}}, "quickstart")
        run_id = runs.create(services.settings, services.db, checked, "quickstart")
        newest = services.check({"rewards": ["accuracy", "mine"], "reward_weights": None}, "quickstart")
        second = runs.create(services.settings, services.db, newest, "quickstart")
        assert services.get(run_id).config["reward_versions"] == {"mine": 1}
        assert services.get(second).config["reward_versions"] == {"mine": 2}
        assert Library(services.settings.run_dir(run_id)).get("mine", 1).source == FREE
        # What is deleted later stays usable for the run itself.
        Library(home).delete("mine")
        kept = services.get(run_id).config
        assert not services.check(kept).ok
        assert services.check(kept, run_dir=services.settings.run_dir(run_id)).ok
        RunConfig(**kept)
    finally:
        services.close()


@pytest.mark.parametrize("late", [False, True])
def test_a_sandbox_that_fails_is_told_with_the_rewards_name(
    home: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Also when it is lost in the middle of a run: the run stops in words, and nothing is scored 0."""
    lost = SandboxUnavailable(Text(en="seccomp is gone", ko="seccomp를 쓸 수 없습니다"))

    class Session:
        def call(self, request: Any, limit_s: float) -> Any:
            raise lost

        def close(self) -> None:
            return

    def open_session(source: str, **more: Any) -> Session:
        if late:
            return Session()
        raise lost

    monkeypatch.setattr(sandbox, "open_session", open_session)
    Library(home).save("boxed", FREE)
    with pytest.raises(SandboxUnavailable, match=r"the reward boxed is sandboxed .*: seccomp is gone"):
        resolve(home, "boxed")(["p"], ["a"])
