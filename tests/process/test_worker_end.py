"""How a worker process ends: stopped in every stage, failed in words, and the exit codes that go with it."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from backend.workers import checkpoints
from storage.records import Run, RunState
from storage.runs import begin_attempt
from tests.support import wait_for
from tests.worker_runs import Home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("ends"))


def stop_in(home: Home, run_id: str, stage: str, step: int = 1, presses: int = 1) -> Run:
    """Send SIGTERM when the run has done `step` steps of `stage`; the run as it ended, with exit code 0."""
    with home.worker(run_id) as process:

        def there() -> bool:
            assert process.poll() is None, home.log(run_id)
            run = home.run(run_id)
            return run.stage == stage and run.stage_step >= step

        wait_for(there, 120, what=f"{stage} {step}")
        for press in range(presses):
            process.send_signal(signal.SIGTERM)
            said = "asked to stop" if press == 0 else "asked to end at once"
            wait_for(lambda: said in home.log(run_id), what=said)  # noqa: B023
        assert process.wait(120) == 0, home.log(run_id)
    return home.run(run_id)


def test_a_stop_ends_within_a_step_with_a_checkpoint_and_goes_on_from_it(home: Home) -> None:
    run_id = home.create(max_steps=300, save_steps=1000)
    run = stop_in(home, run_id, "grpo", 2)
    assert run.state is RunState.STOPPED
    assert run.reason is None
    found = checkpoints.last_complete(home.dir(run_id))
    assert found is not None
    assert found[1] == run.last_step == max(home.values(run_id, "train", "loss"))
    assert run.last_step < 300
    assert [e.message for e in home.reader.events(run_id) if e.kind == "state"][-2:] == [
        "running -> stopping",
        "stopping -> stopped",
    ]


def test_a_second_press_ends_at_once_inside_a_generation(home: Home) -> None:
    # Each generation takes seconds, less than the patience for which a first press waits.
    run_id = home.create(max_steps=300, per_device_train_batch_size=256, max_completion_length=100)
    run = stop_in(home, run_id, "grpo", 0, presses=2)
    assert run.state is RunState.STOPPED
    assert run.reason == "ended at once, without a last checkpoint"
    assert checkpoints.last_complete(home.dir(run_id)) is None


def test_too_long_prompts_are_left_out_and_counted(home: Home) -> None:
    run_id = home.create(max_prompt_tokens=10)
    with home.worker(run_id) as process:
        assert process.wait(120) == 1
    reason = home.run(run_id).reason
    assert reason
    assert "left out because their prompts are too long" in reason
    assert any(e.kind == "rows_dropped" and e.data["limit"] == 10 for e in home.reader.events(run_id))


def test_a_stop_in_the_warm_up_keeps_its_steps(home: Home) -> None:
    warm_up: dict[str, Any] = {
        "stages": ["sft", "grpo"], "max_steps": 1, "sft_max_steps": 40, "sft_rows": 64, "sft_max_length": 220,
        "sft_per_device_train_batch_size": 4, "sft_learning_rate": 1e-3,
    }  # fmt: skip
    run_id = home.create(**warm_up)
    run = stop_in(home, run_id, "sft", 2)
    assert run.state is RunState.STOPPED
    point = checkpoints.resume_point(home.dir(run_id))
    assert point.phase == "sft"
    assert point.step == max(home.values(run_id, "sft", "loss"))
    begin_attempt(home.db, run_id, point.step, {}, phase=point.phase)
    with home.worker(run_id) as process:
        assert process.wait(120) == 0, home.log(run_id)
    assert home.run(run_id).state is RunState.SUCCEEDED
    assert list(home.values(run_id, "sft", "loss")) == list(range(1, 41))
    assert (home.dir(run_id) / "sft" / "model.safetensors").is_file()
    assert not (home.dir(run_id) / "sft-checkpoints").exists()


def test_a_stop_in_an_evaluation_ends_soon(home: Home) -> None:
    run_id = home.create(max_steps=2, eval_size=150, evaluate_batch_size=1, evaluate_before=True)
    run = stop_in(home, run_id, "evaluate_before", 3)
    assert run.state is RunState.STOPPED
    assert home.reader.evaluations(run_id) == []


def test_a_stop_before_it_began(home: Home) -> None:
    from storage.runs import transition

    run_id = home.create()
    assert transition(home.db, run_id, RunState.QUEUED, RunState.STARTING)
    assert transition(home.db, run_id, RunState.STARTING, RunState.STOPPING)
    with home.worker(run_id) as process:
        assert process.wait(120) == 0
    assert home.run(run_id).state is RunState.STOPPED


def test_a_failure_says_why_and_keeps_the_last_lines(home: Home) -> None:
    run_id = home.create(max_completion_length=8, num_train_epochs=1, max_steps=-1, dataset="no/such.jsonl")
    with home.worker(run_id) as process:
        assert process.wait(120) == 1
    run = home.run(run_id)
    assert run.state is RunState.FAILED
    assert run.reason
    assert "no/such.jsonl" in run.reason
    assert run.log_tail
    assert "Traceback" in run.log_tail


def test_a_run_that_is_not_there_is_no_traceback(home: Home) -> None:
    with home.worker("20261129-000000-zzzz") as process:
        assert process.wait(120) == 1
    assert "there is no run" in home.log("20261129-000000-zzzz")
    assert "Traceback" not in home.log("20261129-000000-zzzz")


def test_a_configuration_that_cannot_be_read_is_a_failure_too(home: Home) -> None:
    from storage.runs import create_run

    run_id = "20261129-000000-bbbb"
    create_run(home.db, run_id, "old", {"max_steps": -7, "no_such_setting": 1}, None)
    assert home.train_here(run_id) == 1
    run = home.run(run_id)
    assert run.state is RunState.FAILED
    assert run.reason
    assert "no_such_setting" in (run.log_tail or "")
