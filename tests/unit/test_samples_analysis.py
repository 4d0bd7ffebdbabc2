"""What SampleService says of a whole run, asked as the page asks it."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.errors import Refused
from backend.samples.service import SampleService
from storage.records import Completion, Generation, Group, RunState
from storage.runs import begin_attempt, create_run, transition
from tests.storage_support import OTHER, RUN, Store, open_store


def service(store: Store) -> Any:
    return SampleService(SimpleNamespace(db=store.db, reader=store.reader, get=store.reader.run))  # type: ignore[arg-type]


def put(store: Store, run: str, names: tuple[str, ...], rows: list[tuple[float, ...]], **more: Any) -> None:
    """One group of completions with these scores; total is the first."""
    made = tuple(
        Completion("x" * (i + 1), i + 1, False, row, row[0], row[0], correct=i % 2 == 0) for i, row in enumerate(rows)
    )
    writer = store.writer(run_id=run, **more)
    writer.generation(Generation(1, "train", names, (Group("a", "1+1", "text", "2", made),)))
    assert writer.close()


def test_a_reward_may_have_the_name_of_something_else(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    names = ("tokens", "correct", "reward:x", "a<b")
    create_run(store.db, OTHER, "attached", {}, None, names)
    put(store, OTHER, names, [(10.0 + i, 0.5, -1.0, 3.0) for i in range(12)])
    asked = service(store)
    choices = asked.scatter(OTHER)["choices"]
    keys = [one["x"] for one in choices]
    assert keys == ["tokens", "correct", "reward:tokens", "reward:correct", "reward:reward:x", "a<b"]
    assert [one["name"] for one in choices] == ["tokens", "correct", *names]
    first = {x: asked.scatter(OTHER, x=x)["points"]["x"][0] for x in keys}
    assert first == dict(zip(keys, (1, 1, 10, 0.5, -1, 3), strict=True))
    assert asked.scatter(OTHER, x="reward:tokens")["name"] == "tokens"
    store.db.close()


def test_a_reward_that_runs_away_can_be_looked_at(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    create_run(store.db, OTHER, "diverged", {}, None, ("r",))
    totals = [1e308, -1e308, 5e307, -5e307, 1e200, -1e200, 1.0, 0.0, 2.0, 3.0, 4.0, math.inf, math.nan]
    put(store, OTHER, ("r",), [(total,) for total in totals])
    asked = service(store)
    found = asked.scatter(OTHER, x="r")
    assert found["within"]["r"] == pytest.approx(1, abs=1e-5)
    assert found["n"] == 11
    drawn = asked.histogram(OTHER)
    assert all(math.isfinite(one) for one in drawn["centres"])
    assert drawn["left_out"] == 2
    store.db.close()


@pytest.mark.parametrize(
    "cursor",
    ["1", "-5", "-99999999999", " 7 ", "１", "7\n", "x", "9" * 19, "forgotten-up-7ff8000000000000-1-1",
     "first-up-3ff0000000000000-1-1", "forgotten-down-3ff0000000000000-1-1", "forgotten-up-3ff0000000000000-1-1\n",
     "forgotten-up-3ff0000000000000-1-" + "9" * 19, "3.-1", "x" * 10_000, "\ud800", "forgotten-up-zz-1-1"],
)  # fmt: skip
def test_a_place_in_the_prompts_is_one_that_a_page_gave(tmp_path: Path, cursor: str) -> None:
    store = open_store(tmp_path)
    put(store, RUN, ("r",), [(1.0,), (0.0,)])
    with pytest.raises(Refused, match="no place in this list"):
        service(store).prompts(RUN, cursor=cursor)
    assert service(store).prompts(RUN, cursor="forgotten-up-7ff0000000000000-1-1")["prompts"] == []
    assert len(service(store).prompts(RUN, cursor="forgotten-up-fff0000000000000-1-1")["prompts"]) == 1
    store.db.close()


def test_a_resume_leaves_a_part_of_a_generation_unused(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    config = {"per_device_train_batch_size": 4, "num_generations": 4, "steps_per_generation": 4}
    config |= {"gradient_accumulation_steps": 1}
    create_run(store.db, OTHER, "resumed", config, None, ("r",))
    put(store, OTHER, ("r",), [(1.0,), (0.0,), (1.0,), (0.0,)])
    before = service(store).budget(OTHER)["total"]
    assert before["tokens"]["unused"] == 0, "it still goes on"
    transition(store.db, OTHER, list(RunState), RunState.LOST)
    begin_attempt(store.db, OTHER, 2, {}, phase="train")
    after = service(store).budget(OTHER)["total"]
    assert after["tokens"]["unused"] == pytest.approx(0.5 * after["all_tokens"])
    store.db.close()
