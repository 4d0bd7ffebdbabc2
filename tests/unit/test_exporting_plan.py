"""What can be exported of which run, and what is refused, in words, before anything is written."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from backend.errors import NotFound, Refused, StudioError, WrongState
from backend.exporting import listing, planning, sources
from backend.workers import checkpoints
from storage.records import RunState
from tests.exports_support import Place, place, weights

__all__ = ["place"]
Usage = namedtuple("Usage", "total used free")


def plan(place: Place, run_id: str, what: str = "model", checkpoint: str = "final") -> planning.Plan:
    return planning.plan(place.settings, place.services.get(run_id), what, checkpoint)


def test_the_kinds_of_a_run(place: Place) -> None:
    full, lora = place.run(), place.run(adapter=True)
    assert plan(place, full).name == "model-final"
    assert plan(place, full, "merged").what == "model"  # nothing to merge
    assert plan(place, lora, "merged", "checkpoint-1").name == "merged-checkpoint-1"
    with pytest.raises(Refused, match="there is no adapter"):
        plan(place, full, "adapter")
    with pytest.raises(Refused, match="take merged"):
        plan(place, lora, "model")
    with pytest.raises(Refused, match="must be one of"):
        plan(place, lora, "gguf")


@pytest.mark.parametrize(
    "name", ["../final", "checkpoint-", "checkpoint-01", "checkpoint--1", "final/", "Final", "", "."]
)
def test_no_other_name_of_weights(place: Place, name: str) -> None:
    with pytest.raises(Refused, match="must be final, best or checkpoint-N"):
        plan(place, place.run(), "model", name)


def test_weights_that_are_not_there(place: Place) -> None:
    run_id = place.run()
    with pytest.raises(NotFound, match="it has final, checkpoint-2, checkpoint-1"):
        plan(place, run_id, "model", "best")
    place.save(place.dir(run_id) / "best", False, "")
    assert plan(place, run_id, "model", "best").source.checkpoint == "best"


@pytest.mark.parametrize("change", ["cut off", "changed", "added", "missing"])
def test_a_checkpoint_that_is_not_as_it_was_saved(place: Place, change: str) -> None:
    run_id = place.run()
    folder = place.dir(run_id) / "checkpoints" / "checkpoint-2"
    if change == "cut off":
        (folder / "manifest.json").unlink()
    elif change == "changed":
        data = bytearray((folder / "model.safetensors").read_bytes())
        data[-1] ^= 1
        (folder / "model.safetensors").write_bytes(data)
    elif change == "added":
        (folder / "pytorch_model.bin").write_bytes(b"pickle")
    else:
        (folder / "tokenizer.json").unlink()
    with pytest.raises(Refused, match="cannot be exported") as caught:
        plan(place, run_id, "model", "checkpoint-2")
    assert "내보낼 수 없습니다" in caught.value.text.ko


def test_pickled_weights_are_no_weights(place: Place) -> None:
    run_id = place.run()
    folder = place.dir(run_id) / "final"
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    checkpoints.write_manifest(folder, step=5)
    with pytest.raises(Refused, match="no weights as safetensors"):
        plan(place, run_id)


def test_nothing_of_the_training_goes_along(place: Place) -> None:
    files = plan(place, place.run(), "model", "checkpoint-2").source.files
    assert set(files) == {"model.safetensors", "config.json", "tokenizer.json"}


def test_a_run_that_goes_on(place: Place) -> None:
    run_id = place.run(RunState.RUNNING)
    with pytest.raises(WrongState, match="once it has ended"):
        plan(place, run_id)
    found = place.services.exports.overview(run_id)
    assert found["can"]["export"] is False
    assert "끝난 뒤" in found["why"]["ko"]


def test_the_disk_lacks_the_room(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = place.run(adapter=True)
    monkeypatch.setattr(planning.shutil, "disk_usage", lambda path: Usage(10**9, 0, 50 * 10**6))
    with pytest.raises(Refused, match=r"needs 67 MB on the disk and 50 MB are free"):
        place.services.exports.require(run_id, "merged")


def test_the_type_is_the_one_the_run_noted(place: Place) -> None:
    run_id = place.run(adapter=True)
    assert plan(place, run_id, "merged").dtype == "float32"
    noted = {"fingerprint": {"exact": "", "bf16": "", "dtype": "bfloat16"}, "model": "x"}
    (place.dir(run_id) / "base.json").write_text(json.dumps(noted))
    assert plan(place, run_id, "merged").dtype == "bfloat16"


def test_a_quantised_run_says_what_it_is_merged_from(place: Place) -> None:
    made = plan(place, place.run(adapter=True, peft="qlora"), "merged")
    assert made.dtype == "bfloat16"
    assert any("4-bit" in note.en and "4비트" in note.ko for note in made.notes)


def test_the_base_is_where_it_is_now(place: Place) -> None:
    """The path in an adapter is an old one once the home has moved."""
    run_id = place.run(adapter=True, stages=["sft", "grpo"])
    base = sources.base_of(place.settings, place.services.get(run_id))
    assert (base.name, base.shared) == (str(place.dir(run_id) / "sft"), False)
    hub = sources.base_of(place.settings, place.services.get(place.run(adapter=True, model="org/name")))
    assert (hub.name, hub.shown, hub.shared) == ("org/name", "org/name", True)


def test_parameters_from_the_header_alone(tmp_path: Path) -> None:
    weights(tmp_path / "model-00001-of-00002.safetensors", (3, 5))
    weights(tmp_path / "model-00002-of-00002.safetensors", (7,))
    assert sources.parameters_of(tmp_path) == 22
    assert sources.parameters_of(tmp_path / "none") is None


def test_an_export_that_is_there_is_taken_as_it_is(place: Place) -> None:
    run_id = place.run()
    folder = place.exported(run_id)
    made = place.services.exports.make(run_id, "model")
    assert (made["made"], made["path"], made["verified"], made["stale"]) == (False, str(folder), True, False)


def test_an_export_of_other_weights_is_stale(place: Place) -> None:
    run_id = place.run()
    place.exported(run_id)
    final = place.dir(run_id) / "final"
    weights(final / "model.safetensors", (3, 3))
    checkpoints.write_manifest(final, step=6)
    (found,) = place.services.exports.overview(run_id)["exports"]
    assert found["stale"] is True


def test_a_changed_export_is_neither_verified_nor_downloaded(place: Place) -> None:
    run_id = place.run()
    folder = place.exported(run_id)
    (folder / "README.md").write_text("something longer than it was")
    (found,) = place.services.exports.overview(run_id)["exports"]
    assert found["verified"] is False
    with pytest.raises(Refused, match="changed since it was made"):
        place.services.exports.archive(run_id, "model-final")


@pytest.mark.parametrize("name", ["../final", "final", ".lock", "model-final/..", "model-", "card", "model-final\0"])
def test_no_other_name_of_an_export(place: Place, name: str) -> None:
    run_id = place.run()
    place.exported(run_id)
    for method in (place.services.exports.archive, place.services.exports.about, place.services.exports.remove):
        with pytest.raises(NotFound):
            method(run_id, name)


def test_a_link_is_no_export(place: Place, tmp_path: Path) -> None:
    run_id = place.run()
    folder = place.exported(run_id)
    shutil.move(folder, tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotFound):
        place.services.exports.archive(run_id, "model-final")


def test_removing_an_export(place: Place) -> None:
    run_id = place.run()
    folder = place.exported(run_id)
    assert place.services.exports.remove(run_id, "model-final")["freed"] > 0
    assert not folder.exists()
    assert listing.NAME.fullmatch("merged-checkpoint-120")


def test_an_export_to_a_place_that_is_taken(place: Place, tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="is there already"):
        place.services.exports.make(place.run(), "model", out=tmp_path)
