"""Tasks of reasoning-gym: listed, drawn and balanced in a child; refused in words where the package is absent."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend import rewards
from backend.data import reasoning
from backend.data.service import DataService
from backend.errors import NotFound, Refused
from backend.services import Services
from backend.settings import Settings

installed = pytest.mark.skipif(
    importlib.util.find_spec("reasoning_gym") is None, reason="reasoning-gym is not installed (requirements-extra.txt)"
)


@pytest.fixture
def sets(tmp_path: Path) -> Iterator[DataService]:
    services = Services(Settings(tmp_path / "home"))
    yield services.data
    services.close()


def test_without_the_package_all_is_refused_with_the_command(
    sets: DataService, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "reasoning_gym" else real(name))
    for ask in (
        lambda: sets.tasks("syllogism-of-nobody"),
        lambda: sets.make("syllogism", "x"),
        lambda: sets.make("reasoning_gym", "x", {"task": "chain_sum"}),
    ):
        with pytest.raises(Refused, match=r"pip install -r requirements-extra\.txt"):
            ask()
    by_name = {each["name"]: each for each in sets.generators()}
    assert by_name["arithmetic"]["available"]
    assert not by_name["syllogism"]["available"]
    assert "requirements-extra.txt" in by_name["syllogism"]["why"]["ko"]


@installed
def test_syllogisms_are_balanced_and_the_baseline_is_told(sets: DataService) -> None:
    meta = sets.make("syllogism", "s", {"n": 101, "seed": 7})
    assert meta["labels"] == {"Yes": 51, "No": 50}
    assert meta["majority_baseline"] == pytest.approx(51 / 101, abs=1e-3)
    assert 0.55 < meta["majority_before_balancing"] < 0.85
    assert (meta["rows"], meta["different"]) == (101, 101)
    assert "always giving the commonest answer" in meta["notes"][0]["en"]
    plain = sets.make("syllogism", "p", {"n": 101, "seed": 7, "balance": False})
    assert plain["labels"]["Yes"] > 60


@installed
def test_items_are_json_text_that_the_tasks_own_scorer_takes(sets: DataService) -> None:
    sets.make("syllogism", "s", {"n": 4})
    sets.make("propositional_logic", "p", {"n": 4})
    for name, answered in (("s", True), ("p", False)):
        for row in sets.rows(name):
            item = json.loads(row["item"])
            assert item["question"] in row["prompt"][0]["content"]
            assert (row["ground_truth"] is not None) == answered
            right = row["ground_truth"] or item["metadata"]["example_answer"]
            scored = {"completion": f"<answer>{right}</answer>", **row}
            (verdict,) = rewards.score_rows(rewards.get("reasoning_gym"), [scored])
            assert verdict.score == 1.0
    assert "<answer>" in sets.rows("s")[0]["prompt"][0]["content"]


@installed
def test_the_same_seed_gives_the_same_rows(sets: DataService) -> None:
    args = {"task": "chain_sum", "n": 20, "seed": 3, "min_terms": 2, "max_terms": 3}
    first, second = sets.make("reasoning_gym", "a", args), sets.make("reasoning_gym", "b", args)
    assert first["sha256"] == second["sha256"]
    assert sets.make("reasoning_gym", "c", {**args, "seed": 4})["sha256"] != first["sha256"]


@installed
@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"task": "chain_summ"}, "there is no task 'chain_summ'; the tasks are .*chain_sum"),
        ({}, "name a task"),
        ({"task": "chain_sum", "min_term": 2}, "chain_sum has no setting 'min_term'; its settings: min_terms"),
        ({"task": "chain_sum", "min_terms": "two"}, r"min_terms is 'two'; expected int \(by default 2\)"),
        ({"task": "chain_sum", "min_terms": 5, "max_terms": 2}, "chain_sum refuses these settings"),
        ({"task": "chain_sum", "balance": True}, "balance: the answers of chain_sum"),
        ({"task": "chain_sum", "n": 0}, "n is 0; a whole number from 1"),
        ({"task": "chain_sum", "style": "fr"}, "style is 'fr'; one of en, ko, bare"),
    ],
)
def test_what_a_task_does_not_take_is_refused_in_words(sets: DataService, args: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        sets.make("reasoning_gym", "x", args)
    assert sets.sets() == []


@installed
def test_tasks_are_listed_with_their_settings() -> None:
    names = {task["name"]: task for task in reasoning.tasks()}
    assert len(names) > 90
    assert {"syllogism", "propositional_logic", "chain_sum"} <= set(names)
    (one,) = reasoning.tasks("chain_sum")
    assert {"name": "min_terms", "kind": "int", "default": 2} in one["settings"]
    assert one["example"]["question"]


@installed
def test_the_package_stays_out_of_this_process(sets: DataService) -> None:
    before = "reasoning_gym" in sys.modules
    sets.make("syllogism", "s", {"n": 2})
    assert ("reasoning_gym" in sys.modules) == before


def test_arithmetic_is_made_by_the_same_door(sets: DataService) -> None:
    meta = sets.make("arithmetic", "a", {"n": 300, "seed": 7, "digits": 3, "style": "ko"})
    assert (meta["rows"], meta["generator"], meta["args"]["digits"]) == (300, "arithmetic", 3)
    assert "값을 구하세요" in sets.rows("a", 1)[0]["prompt"][0]["content"]
    few = sets.make("arithmetic", "few", {"n": 5000, "digits": 1, "difficulty": "easy"})
    assert few["rows"] < 100
    assert "such problems, 5000 were asked for" in few["notes"][0]["en"]
    with pytest.raises(Refused, match="there is no argument 'digit'"):
        sets.make("arithmetic", "x", {"digit": 3})
    with pytest.raises(NotFound, match="there is no generator 'sudoku'"):
        sets.make("sudoku", "x")
