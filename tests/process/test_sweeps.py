"""Sweeps with real shims and the fake worker: queued in order, stopped and resumed as one, members that go wrong."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from backend.errors import NotFound, WrongState
from backend.services import Services
from storage.records import RunState
from tests.process.harness import SETTINGS, Studio
from tests.support import wait_for

OVER = {"succeeded", "failed", "stopped"}


def begin(studio: Studio, sweep: dict[str, Any], **more: Any) -> dict[str, Any]:
    values = {**SETTINGS, **more.pop("values", {})}
    return studio.services.sweeps.start({"values": values, "sweep": sweep, **more}, accept=["all"])


def states(studio: Studio, sweep_id: str) -> list[str]:
    return [row["state"] for row in studio.services.sweeps.show(sweep_id)["rows"]]


def wait_over(studio: Studio, sweep_id: str) -> dict[str, Any]:
    wait_for(lambda: set(states(studio, sweep_id)) <= OVER, 240, 0.1, what="the sweep to end")
    return studio.services.sweeps.show(sweep_id)


def ids(found: dict[str, Any]) -> list[str]:
    return [row["run"]["id"] for row in found["rows"]]


def test_a_grid_runs_in_its_order_with_nobody_watching(studio: Studio) -> None:
    """The services are closed: shims alone take the queue to its end. New services know the sweep as it is."""
    made = begin(studio, {"temperature": [0.8, 1.2], "loss_type": ["grpo", "dapo"]}, values={"max_steps": 6})
    assert [row["values"] for row in made["rows"]] == [
        {"temperature": t, "loss_type": loss} for t in (0.8, 1.2) for loss in ("grpo", "dapo")
    ]
    assert made["counts"]["queued"] == 3
    studio.services.close()
    studio._services = None
    done = wait_over(studio, made["id"])
    assert done["state"] == "succeeded"
    began = [studio.run(run_id).started_at or 0 for run_id in ids(done)]
    assert began == sorted(began)
    for row in done["rows"]:
        config = studio.run(row["run"]["id"]).config
        assert {name: config[name] for name in row["values"]} == row["values"]
        assert "sweep" not in config
        assert row["measures"]["after"]["n"] == 20
    assert done["best"]["words"]["en"].startswith("Not distinguishable")
    assert len(studio.services.sweeps.csv(made["id"]).splitlines()) == 5
    listed = {view["id"]: view["sweep"] for view in studio.services.runs()}
    assert listed[ids(done)[2]] == {"id": made["id"], "name": made["name"], "position": 2, "size": 4}


def test_it_is_stopped_and_resumed_as_one(studio: Studio) -> None:
    studio.set(FAKE_STEP_S="0.5")  # it must not be over before it is stopped
    made = begin(studio, {"temperature": [0.8, 1.0, 1.2]}, values={"max_steps": 40})
    first, *others = ids(made)
    studio.wait_step(first, 7)
    stopped = studio.services.sweeps.stop(made["id"])
    assert [row["state"] for row in stopped["rows"]][1:] == ["stopped", "stopped"]
    done = wait_over(studio, made["id"])
    assert (done["state"], done["counts"]) == ("stopped", {"stopped": 3})
    assert all(studio.run(run_id).started_at is None for run_id in others)
    with pytest.raises(WrongState):
        studio.services.sweeps.stop(made["id"])
    reached = studio.run(first).last_step
    studio.wait_free(first)
    studio.set(FAKE_STEP_S="0.01")
    resumed = studio.services.sweeps.resume(made["id"])
    assert resumed["refused"] == []
    assert ids(resumed) == [first, *others]
    done = wait_over(studio, made["id"])
    assert done["state"] == "succeeded"
    assert studio.services.reader.attempts(first)[1].resume_step == reached
    with pytest.raises(WrongState, match="none is stopped"):
        studio.services.sweeps.resume(made["id"])


def test_a_member_that_fails_stops_no_other_and_is_tried_again_when_asked(studio: Studio) -> None:
    studio.set(FAKE_CRASH_AT="9", FAKE_STEP_S="0.01")
    made = begin(studio, {"max_steps": [12, 5]})
    done = wait_over(studio, made["id"])
    assert [row["state"] for row in done["rows"]] == ["failed", "succeeded"]
    assert done["state"] == "failed"
    assert not done["can"]["resume"]
    with pytest.raises(WrongState):
        studio.services.sweeps.resume(made["id"])
    studio.wait_free(ids(done)[0])
    studio.services.sweeps.resume(made["id"], failed=True)
    assert wait_over(studio, made["id"])["state"] == "succeeded"


def test_a_member_that_was_deleted_is_missing_and_made_again(studio: Studio) -> None:
    studio.set(FAKE_STEP_S="0.01")
    made = begin(studio, {"temperature": [0.8, 1.2]}, values={"max_steps": 3})
    gone, kept = ids(wait_over(studio, made["id"]))
    studio.wait_free(gone)
    studio.services.delete(gone)
    found = studio.services.sweeps.show(made["id"])
    assert [row["state"] for row in found["rows"]] == ["missing", "succeeded"]
    assert (found["state"], found["can"]["resume"]) == ("stopped", True)
    again = studio.services.sweeps.resume(made["id"])
    new, same = ids(again)
    assert new != gone
    assert same == kept
    assert studio.run(new).config["temperature"] == 0.8
    assert wait_over(studio, made["id"])["state"] == "succeeded"
    studio.wait_free(new)
    studio.services.sweeps.delete(made["id"])
    assert studio.run(new).state is RunState.SUCCEEDED  # its runs are ordinary ones
    with pytest.raises(NotFound):
        studio.services.sweeps.show(made["id"])


def test_two_who_resume_at_once_make_no_run_twice(studio: Studio) -> None:
    studio.set(FAKE_STEP_S="0.01")
    made = begin(studio, {"temperature": [0.7, 0.8, 0.9]}, values={"max_steps": 2})
    for run_id in ids(wait_over(studio, made["id"])):
        studio.wait_free(run_id)
        studio.services.delete(run_id)
    others = [Services(studio.settings) for _ in range(2)]
    answers: list[Any] = []

    def resume(services: Services) -> None:
        try:
            answers.append(services.sweeps.resume(made["id"]))
        except WrongState as error:  # the other one has done it all
            answers.append(error)

    threads = [Thread(target=resume, args=(services,)) for services in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = wait_over(studio, made["id"])
    assert sorted(view["id"] for view in studio.services.runs()) == sorted(ids(done))
    assert len(answers) == 2
    for services in others:
        services.close()


def test_each_device_has_one_run_and_the_worker_sees_that_one_alone(studio: Studio) -> None:
    studio.set(GRPO_STUDIO_DEVICES="GPU-a,GPU-b", FAKE_PRINT_ENV="1", FAKE_STEPS="4000")
    made = begin(studio, {"temperature": [0.8, 1.0, 1.2]})
    first, second, third = ids(made)
    for run_id in (first, second):
        studio.wait_step(run_id, 1)
    assert studio.run(third).state is RunState.QUEUED
    seen = {_device(studio, first), _device(studio, second)}
    assert seen == {"GPU-a", "GPU-b"}
    was = _device(studio, first)
    studio.services.stop(first, now=True)
    studio.wait_step(third, 1)
    assert _device(studio, third) == was
    studio.services.sweeps.stop(made["id"], now=True)
    assert set(states(studio, made["id"])) == {"stopped"}


def _device(studio: Studio, run_id: str) -> str:
    log = (studio.folder(run_id) / "logs" / "worker.log").read_text(encoding="utf-8")
    return log.partition("'CUDA_VISIBLE_DEVICES': '")[2].partition("'")[0]


def test_a_run_is_put_in_front_of_the_queue(studio: Studio) -> None:
    studio.set(FAKE_STEPS="4000")
    running, second, third, fourth = (studio.start() for _ in range(4))
    places = {view["id"]: view["queue"] for view in studio.services.runs()}
    assert places[running.id] is None
    assert places[third.id] == {"place": 2, "of": 3}
    studio.services.run_next(fourth.id)
    studio.services.run_next(third.id)
    places = {view["id"]: view["queue"] for view in studio.services.runs()}
    assert [places[run.id]["place"] for run in (third, fourth, second)] == [1, 2, 3]
    assert studio.services.live(second.id, revision=second.revision)["queue"] == {"place": 3, "of": 3}
    with pytest.raises(WrongState):
        studio.services.run_next(running.id)
    studio.services.stop(running.id, now=True)
    studio.wait_state(third.id, RunState.RUNNING)
    for run in (second, fourth, third):
        studio.services.stop(run.id, now=True)


def test_the_command_line_checks_starts_follows_and_lists(studio: Studio, tmp_path: Path) -> None:
    studio.set(FAKE_STEP_S="0.01")
    file = tmp_path / "s.yaml"
    values = {name: value for name, value in SETTINGS.items() if name != "num_generations"} | {"max_steps": 3}
    asked = {"values": values, "sweep": {"num_generations": [4, 3], "loss_type": ["grpo", "dapo"]}}
    file.write_text(json.dumps(asked), encoding="utf-8")
    code, plan, _ = studio.cli("sweep", "--config", str(file), "--check")
    assert (code, plan["runs"], plan["of"]) == (2, 2, 4)
    code, refused, err = studio.cli("sweep", "--config", str(file))
    assert code == 2
    assert "num_generations=3" in refused["error"]["en"]
    assert "would do: 4" in err
    assert studio.services.runs() == []
    code, done, err = studio.cli("sweep", "--config", str(file), "--leave-out", "--wait")
    assert (code, done["state"], done["counts"]) == (0, "succeeded", {"succeeded": 2}), err
    code, listed, _ = studio.cli("sweep", "list")
    assert [each["id"] for each in listed["sweeps"]] == [done["id"]]
    code, shown, _ = studio.cli("sweep", "show", "last", "--csv", str(tmp_path / "t.csv"))
    assert len(shown["settings"]) == 2
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 3
    assert studio.cli("sweep", "stop", "last")[0] == 2
    code, gone, _ = studio.cli("sweep", "delete", "last", "--runs")
    assert (code, gone["deleted"]) == (0, True)
    assert studio.services.runs() == []
    assert studio.cli("sweep")[0] == 2
