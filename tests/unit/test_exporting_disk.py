"""What lies on the disk adds up, and nothing is removed that something else stands on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from backend.errors import Refused, WrongState
from backend.exporting import disk
from backend.processes.locks import FileLock
from backend.workers import checkpoints
from storage.records import RunState
from storage.runs import transition
from tests.exports_support import Place, place, weights

__all__ = ["place"]


def every_byte(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def test_the_parts_add_up_to_every_byte(place: Place) -> None:
    run_id = place.run(adapter=True)
    folder = place.dir(run_id)
    (folder / "data").mkdir()
    (folder / "data" / "eval.jsonl").write_text("rows")
    (folder / "unknown.bin").write_bytes(bytes(7))
    (folder / "link").symlink_to("/etc")
    found = place.services.exports.disk(run_id)
    parts = found["bytes"]
    assert parts["total"] - parts["database"] == every_byte(folder)
    assert parts["optimizer"] == 2 * 1010
    assert (parts["logs"], parts["data"]) == (10, 4)
    assert parts["other"] >= 7
    assert parts["database"] > 0
    assert set(parts) >= {"checkpoints", "optimizer", "final", "best", "exports", "sft", "logs", "data", "database"}
    whole = place.services.exports.disk()
    (entry,) = whole["runs"]
    assert entry["bytes"] == parts["total"]
    assert whole["used"] <= every_byte(place.settings.home)


def test_a_dry_run_tells_and_removes_nothing(place: Place) -> None:
    run_id = place.run()
    before = every_byte(place.dir(run_id))
    told = place.services.exports.clean(run_id, ["checkpoints"], dry_run=True)
    assert every_byte(place.dir(run_id)) == before
    done = place.services.exports.clean(run_id, ["checkpoints"])
    assert done["freed"] == told["freed"] == before - every_byte(place.dir(run_id)) > 2000
    assert not list((place.dir(run_id) / "checkpoints").glob("*"))
    assert checkpoints.problem(place.dir(run_id) / "final") is None


def test_without_the_optimizer_a_checkpoint_is_whole_but_not_resumed_from(place: Place) -> None:
    run_id = place.run(RunState.STOPPED)
    folder = place.dir(run_id)
    assert checkpoints.last_complete(folder) is not None
    assert place.services.exports.clean(run_id, ["optimizer"])["freed"] == 2020
    assert not list(folder.rglob("optimizer.pt"))
    assert checkpoints.problem(folder / "checkpoints" / "checkpoint-2") is None
    assert checkpoints.last_complete(folder) is None
    assert {source["checkpoint"] for source in place.services.exports.overview(run_id)["sources"]} == {
        "final", "checkpoint-1", "checkpoint-2",
    }  # fmt: skip


@pytest.mark.parametrize("parts", [["data"], ["database"], ["../final"], [""], []])
def test_no_other_part_can_be_named(place: Place, parts: list[str]) -> None:
    with pytest.raises(Refused, match="must be some of"):
        place.services.exports.clean(place.run(), parts)


def test_a_live_run_and_a_held_lock_are_refused(place: Place) -> None:
    with pytest.raises(WrongState, match="is running"):
        place.services.exports.clean(place.run(RunState.RUNNING), ["logs"])
    run_id = place.run()
    lock = FileLock.take(place.dir(run_id) / "run.lock")
    assert lock is not None
    with lock, pytest.raises(Refused, match="still works with run"):
        place.services.exports.clean(run_id, ["logs"])
    assert place.services.exports.clean(run_id, ["logs"])["freed"] == 10


def test_the_warm_up_stays_while_an_adapter_stands_on_it(place: Place) -> None:
    run_id = place.run(adapter=True, stages=["sft", "grpo"], steps=())
    folder = place.dir(run_id)
    place.save(folder / "sft", False, "")
    place.save(folder / "final", True, str(folder / "sft"))
    with pytest.raises(Refused, match="stands on the warm-up"):
        place.services.exports.clean(run_id, ["sft"])
    by_id = {part["id"]: part for part in place.services.exports.disk(run_id)["parts"]}
    assert by_id["sft"]["removable"] is False
    assert "why_not" in by_id["sft"]
    assert place.services.exports.clean(run_id, ["sft", "final"])["freed"] > 0
    assert not (folder / "sft").exists()


def test_weights_that_another_run_began_from_stay(place: Place) -> None:
    run_id = place.run()
    other = place.run(model=str(place.dir(run_id) / "final"))
    with pytest.raises(Refused, match=other):
        place.services.exports.clean(run_id, ["final"])
    assert place.services.exports.clean(run_id, ["checkpoints"])["freed"] > 0


def test_on_a_public_space_nothing_is_removed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = place.run()
    monkeypatch.setenv("SPACE_ID", "org/space")
    with pytest.raises(Refused, match="public Space"):
        place.services.exports.clean(run_id, ["logs"])


def test_models_and_data_are_listed_beside_the_runs(place: Place) -> None:
    weights(place.settings.models_dir / "smollm2-135m" / "model.safetensors")
    (place.settings.home / "sets").mkdir()
    ids = {entry["id"]: entry for entry in place.services.exports.disk()["other"]}
    assert ids["models/smollm2-135m"]["bytes"] == every_byte(place.settings.models_dir)
    assert {"database", "sets"} <= set(ids)


def test_a_link_to_a_folder_is_not_followed(place: Place) -> None:
    run_id = place.run()
    folder = place.dir(run_id)
    outside = place.settings.home / "outside"
    weights(outside / "model.safetensors")
    (folder / "best").symlink_to(outside)
    assert disk.measure(folder)["best"] == (0, 0)
    place.services.exports.clean(run_id, ["best"])
    assert (outside / "model.safetensors").exists()


def test_a_checkpoint_that_is_a_link_is_not_cleaned(place: Place) -> None:
    """Its optimizer would be removed elsewhere, and its manifest there written anew."""
    run_id = place.run()
    outside = place.settings.home / "outside"
    weights(outside / "checkpoint-5" / "model.safetensors")
    (outside / "checkpoint-5" / "optimizer.pt").write_bytes(b"state")
    checkpoints.write_manifest(outside / "checkpoint-5", step=5)
    manifest = (outside / "checkpoint-5" / checkpoints.MANIFEST).read_bytes()
    parent = place.dir(run_id) / "checkpoints"
    parent.mkdir(exist_ok=True)
    (parent / "checkpoint-5").symlink_to(outside / "checkpoint-5")
    place.services.exports.clean(run_id, ["optimizer"])
    for path in parent.iterdir():
        path.unlink() if path.is_symlink() else shutil.rmtree(path)
    parent.rmdir()
    parent.symlink_to(outside)
    place.services.exports.clean(run_id, ["optimizer"])
    assert (outside / "checkpoint-5" / "optimizer.pt").exists()
    assert (outside / "checkpoint-5" / checkpoints.MANIFEST).read_bytes() == manifest


def test_a_run_that_is_being_evaluated_is_not_deleted(place: Place) -> None:
    run_id = place.run()
    other = place.run(RunState.QUEUED, stages=["evaluate"], evaluation={"run": run_id})
    with pytest.raises(WrongState, match=f"being evaluated by {other}"):
        place.services.delete(run_id)
    assert place.dir(run_id).is_dir()
    transition(place.services.db, other, RunState.QUEUED, RunState.STOPPED)
    place.services.delete(run_id)
    assert not place.dir(run_id).exists()
