"""The small parts of the worker: memory in words, time to the end, rows, stops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend.config import RunConfig
from backend.errors import StudioError
from backend.workers import memory
from backend.workers import rows as run_rows
from backend.workers.callbacks import scalars
from backend.workers.capture import completion_text, generation_record, prompt_text, stable_id
from backend.workers.progress import StageClock
from backend.workers.stop import Stop, StopHere, StopNow

# --- memory ------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (
            RuntimeError("[enforce fail at alloc_cpu.cpp:116] DefaultCPUAllocator: can't allocate memory: you tried"),
            True,
        ),
        (RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"), True),
        (RuntimeError("shape mismatch"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_counts_as_out_of_memory(error: BaseException, is_one: bool) -> None:
    assert memory.is_out_of_memory(error) is is_one


def test_the_torch_class_counts() -> None:
    import torch

    assert memory.is_out_of_memory(torch.OutOfMemoryError("x"))


PARTS = [("weights", "the weights", 8 * 10**9), ("kv_cache", "the KV cache", 3 * 10**9)]


def test_the_failure_names_phase_part_and_change() -> None:
    config = RunConfig(per_device_train_batch_size=16, gradient_accumulation_steps=1, activation_checkpointing=True)
    words = str(memory.explain(config, "update", PARTS, None))
    assert words == (
        "Out of memory during update. The largest part there is the weights (about 8.0 GB). "
        "Set per_device_train_batch_size=8, gradient_accumulation_steps=2."
    )


def test_the_first_change_that_fits_is_the_advice() -> None:
    config = RunConfig(per_device_train_batch_size=16)
    found = memory.explain(config, "update", PARTS, lambda change: "peft" in change)
    assert found.change == {"peft": "lora"}
    found = memory.explain(config, "update", PARTS, lambda change: False)
    assert found.change == {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 2}


@pytest.mark.parametrize("phase", ["generation", "update", "reward", "evaluate_after", "evaluation", "sft", "load"])
def test_every_change_is_a_valid_configuration(phase: str) -> None:
    config = RunConfig(per_device_train_batch_size=8, num_generations=8, steps_per_generation=2)
    for change in memory.changes(config, phase):
        changed = RunConfig(**(config.to_dict() | change))
        assert changed != config
        before = config.per_device_train_batch_size * config.gradient_accumulation_steps
        after = changed.per_device_train_batch_size * changed.gradient_accumulation_steps
        assert before == after


# --- progress ------------------------------------------------------------


def test_the_estimate_waits_for_three_steps_and_forgets_the_first() -> None:
    clock = StageClock(total=103, done=0, now=0.0, after_s=10.0)
    clock.step(1, 60.0)  # compiling
    clock.step(2, 61.0)
    assert clock.eta_s is None
    clock.step(3, 62.0)
    assert clock.eta_s == pytest.approx(100 * 1.0 + 10.0)


def test_the_estimate_follows_slower_steps() -> None:
    clock = StageClock(total=200, done=0, now=0.0)
    now = 0.0
    for done in range(1, 101):
        now += 1.0 if done <= 50 else 3.0
        clock.step(done, now)
    assert clock.eta_s == pytest.approx(300.0, rel=0.05)


def test_after_a_resume_only_what_is_left_counts() -> None:
    clock = StageClock(total=100, done=90, now=0.0)
    for done in range(91, 95):
        clock.step(done, done - 90.0)
    assert clock.eta_s == pytest.approx(6.0)


# --- rows ------------------------------------------------------------


def test_rows_reach_the_reward_as_they_were_written(tmp_path: Path) -> None:
    given: list[dict[str, Any]] = [
        {"prompt": "a", "ground_truth": "007", "tests": [{"in": "1"}, {"out": "2"}], "meta": {"x1": 1}},
        {"prompt": "b", "ground_truth": 7, "tests": [], "meta": {"x2": None}, "extra": "\ud800"},
    ]
    train, held_out = run_rows.snapshot(tmp_path, lambda: (given, given[:1]))
    assert len(held_out) == 1
    dataset = run_rows.as_dataset(train)
    for i, row in enumerate(given):
        found = dict(dataset[i])
        assert found.pop("prompt_id") == stable_id(row["prompt"], row["ground_truth"])
        assert found == {"extra": None} | row
    taken = dataset[0]["tests"]
    taken.append("changed by a reward")
    assert dataset[0]["tests"] == given[0]["tests"]
    assert [r["ground_truth"] for r in dataset.__getitems__([0, 0, 1])] == ["007", "007", 7]


def test_a_snapshot_is_taken_once(tmp_path: Path) -> None:
    first = run_rows.snapshot(tmp_path, lambda: ([{"prompt": "a"}], []))
    assert run_rows.snapshot(tmp_path, lambda: pytest.fail("read again")) == first


def test_too_few_rows_are_refused_in_words() -> None:
    run_rows.require([{}] * 4, 4)
    with pytest.raises(StudioError, match=r"3 usable training rows \(9 were left out.*needs 4"):
        run_rows.require([{}] * 3, 4, dropped=9)


# --- records ------------------------------------------------------------


def test_texts_of_prompts_and_completions() -> None:
    messages = [{"role": "user", "content": "안녕 <b>"}]
    text, kind = prompt_text(messages)
    assert kind == "messages"
    assert json.loads(text) == messages
    assert prompt_text("plain") == ("plain", "text")
    assert completion_text([{"role": "assistant", "content": "hi"}]) == "hi"
    assert json.loads(completion_text([{"role": "assistant", "content": "hi", "tool_calls": []}]))[0]["content"] == "hi"


def test_a_generation_record() -> None:
    record = generation_record(
        step=3, phase="train", group_size=2, reward_names=("a", "b"), weights=[1.0, 0.5],
        rows=[{"prompt": "p", "prompt_id": "x", "ground_truth": [1, 2]}] * 2 + [{"prompt": "q", "prompt_id": "y"}] * 2,
        completions=["1", "2", "3", "4"], completion_ids=[[5, 1], [5], [], [1]], final_ids=frozenset({1}),
        scores=[[1.0, float("nan")], [0.0, 1.0], [float("nan"), float("nan")], [1.0, 1.0]],
        advantages=[0.5, -0.5, 0.0, 0.0],
    )  # fmt: skip
    first, second = record.groups
    assert (first.prompt_id, first.ground_truth, second.prompt_id, second.ground_truth) == ("x", "[1, 2]", "y", None)
    assert [c.rewards for c in first.completions] == [(1.0, None), (0.0, 1.0)]
    assert [c.total for c in (*first.completions, *second.completions)] == [1.0, 0.5, None, 1.5]
    assert [c.truncated for c in (*first.completions, *second.completions)] == [False, True, True, False]
    assert [c.tokens for c in second.completions] == [0, 1]


def test_logs_become_numbers_or_nothing() -> None:
    import math

    import torch

    found = scalars({"a": 1, "n": math.nan, "i": -math.inf, "none": None, "text": "x", "t": torch.tensor(2.0)})
    assert math.isnan(found.pop("n"))
    assert found == {"a": 1.0, "i": -math.inf, "t": 2.0}


# --- stop ------------------------------------------------------------


def test_the_first_press_asks_and_the_second_insists() -> None:
    stop = Stop()
    stop.check()
    stop.ask()
    assert stop.requested
    with pytest.raises(StopHere):
        stop.check()
    with pytest.raises(StopNow):
        stop.ask()
    stop.ask()  # a third press changes nothing: the end is on its way
    assert not issubclass(StopHere, Exception)


def test_how_busy_a_device_is_left_out_where_the_driver_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake device: this test is about what happens when its driver's library is missing, and when it answers."""
    import torch

    from backend.workers.memory import MemoryMeter

    asked: list[int] = []

    def missing() -> int:
        asked.append(1)
        raise ModuleNotFoundError("pynvml")

    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (25, 100))
    for name in ("memory_allocated", "memory_reserved", "max_memory_allocated"):
        monkeypatch.setattr(torch.cuda, name, lambda: 2_000_000_000)
    monkeypatch.setattr(torch.cuda, "utilization", missing)
    meter = MemoryMeter("cuda")
    values = [meter.read() for _ in range(3)][-1]
    assert "device/use_pct" not in values
    assert (values["memory/device_used_pct"], values["memory/device_peak_gb"]) == (75.0, 2.0)
    assert len(asked) == 1, "a driver that does not tell is asked once, not at every step"
    monkeypatch.setattr(torch.cuda, "utilization", lambda: 40)
    assert MemoryMeter("cuda").read()["device/use_pct"] == 40.0
