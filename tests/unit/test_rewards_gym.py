"""reasoning_gym: the task's own scorer, its traps, and what is said without the package."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

import pytest

from backend import rewards
from backend.errors import Refused
from backend.rewards import reasoning_gym as module
from backend.rewards.verdict import Verdict

needs_package = pytest.mark.skipif(
    importlib.util.find_spec("reasoning_gym") is None, reason="reasoning-gym is not installed (requirements-extra.txt)"
)


def made(task: str, seed: int = 1, **settings: Any) -> dict[str, Any]:
    """One item of a task, as the generator stores it: JSON text and back."""
    import reasoning_gym

    return json.loads(json.dumps(reasoning_gym.create_dataset(task, size=1, seed=seed, **settings)[0]))


def judged(item: object, completion: str, args: dict[str, Any] | None = None, **columns: Any) -> Verdict:
    reward = rewards.get("reasoning_gym", args)
    ((verdict, failed),) = reward.verdicts([completion], item=[item], **{k: [v] for k, v in columns.items()})
    assert not failed, verdict
    return verdict


@needs_package
def test_syllogism_is_stripped_and_the_strict_score_stands_beside() -> None:
    item = made("syllogism")
    gold, other = item["answer"], {"Yes": "No", "No": "Yes"}[item["answer"]]
    text = json.dumps(item)
    assert judged(text, f"{gold}\n") == Verdict(1.0, gold, "syllogism gives 1; strictly 1")
    assert judged(text, f"<think>{other}</think>\n<answer> {gold} </answer>").score == 1
    assert judged(item, f"\\boxed{{{gold}}}").score == 1
    assert judged(text, other).score == 0
    both = judged(text, f"{gold} {other}")
    assert both.score is not None
    assert 0 < both.score < 1  # the task's scorer takes a part for the whole
    assert str(both.reason).endswith("; strictly 0")
    assert judged(text, f"{gold} {other}", {"strict": True}).score == 0
    assert judged(text, gold, {"strict": True}).score == 1


@needs_package
@pytest.mark.parametrize("cut", ["<think>Yes", "<answer>Yes", "\\boxed{Yes", ""])
def test_an_answer_that_was_cut_off_is_none(cut: str) -> None:
    assert judged(made("syllogism"), cut).score == 0


@needs_package
def test_the_template_may_have_opened_the_thought() -> None:
    item = made("syllogism")
    assert judged(item, item["answer"], {"prefilled": True}).score == 0
    assert judged(item, f"so</think>{item['answer']}", {"prefilled": True}).score == 1


@needs_package
def test_propositional_logic_has_no_answer_to_be_equal_to() -> None:
    item = made("propositional_logic", seed=3)
    assert item["answer"] is None
    verdict = judged(json.dumps(item), f"<answer>{item['metadata']['example_answer']}</answer>")
    assert verdict.score == 1
    assert verdict.reason == "propositional_logic gives 1; the item has no answer to be equal to"
    echo = judged(json.dumps(item), f"<answer>{item['metadata']['premises'][0]}</answer>")
    assert echo.score is not None
    assert echo.score < 1
    assert judged(json.dumps(item), "P", {"strict": True}) == Verdict(
        None, "P", "the item has no answer to be equal to"
    )


@needs_package
def test_items_that_cannot_be_judged() -> None:
    item = made("syllogism")
    assert judged("{", "Yes") == Verdict(None, None, "the item is no JSON")
    assert judged("[1]", "Yes").reason == "the item is no object with an answer"
    assert judged(None, "Yes").score is None
    assert judged({"answer": "Yes", "metadata": {}}, "Yes").score is None
    assert judged({"answer": "Yes", "metadata": {"source_dataset": "no_such"}}, "Yes").reason == (
        "reasoning-gym has no task 'no_such'"
    )
    assert judged({**item, "metadata": None}, item["answer"], task="syllogism").score == 1
    assert module.unreadable("{") == "the item is no JSON"
    assert module.unreadable(json.dumps(item)) is None


@needs_package
@pytest.mark.parametrize("task", ["chain_sum", "countdown", "word_sorting", "mini_sudoku", "spell_backward"])
def test_the_tasks_answer_gets_its_full_score(task: str) -> None:
    item = made(task)
    assert judged(json.dumps(item), f"<answer>{item['answer']}</answer>").score == pytest.approx(1)


def test_without_the_package_it_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Refused, match=r"pip install -r requirements-extra.txt") as caught:
        rewards.get("reasoning_gym")
    assert "requirements-extra.txt" in caught.value.text.ko
    assert "reasoning_gym" in rewards.names()


def test_the_package_is_not_imported_here() -> None:
    code = (
        "import sys; from backend import rewards; rewards.spec('reasoning_gym'); "
        "assert 'reasoning_gym' not in sys.modules; assert 'jsonschema' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
