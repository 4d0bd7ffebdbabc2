"""export of weights, report and card, disk and push at the command line, on weights that are there already."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from backend.__main__ import main
from tests.exports_support import Place, place

__all__ = ["place"]


@pytest.fixture
def ask(place: Place, capsys: pytest.CaptureFixture[str]):
    def run(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = main([*words, "--home", str(place.settings.home), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def test_an_archive(place: Place, ask: Any, tmp_path: Path) -> None:
    folder = place.exported(place.run())
    code, answer = ask("export", "last", "--what", "merged", "--out", str(tmp_path / "모델.zip"))
    assert (code, answer["what"], answer["out"]) == (0, "model", str(tmp_path / "모델.zip"))
    with zipfile.ZipFile(tmp_path / "모델.zip") as archive:
        archive.extractall(tmp_path / "out")
    (top,) = (tmp_path / "out").iterdir()
    assert {p.name: p.read_bytes() for p in top.iterdir()} == {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.parametrize(("what", "begin"), [("report", "<!doctype html>"), ("card", "---\n")])
def test_report_and_card(place: Place, ask: Any, tmp_path: Path, what: str, begin: str) -> None:
    place.run()
    out = tmp_path / what
    assert ask("export", "last", "--what", what, "--lang", "ko", "--out", str(out))[0] == 0
    assert out.read_text(encoding="utf-8").lower().startswith(begin)


def test_weights_that_cannot_be_exported(place: Place, ask: Any, tmp_path: Path) -> None:
    place.run()
    for words in (["--what", "adapter"], ["--what", "model", "--checkpoint", "best"], ["--what", "model"]):
        out = tmp_path / "none" if "model" not in words or "best" in words else tmp_path
        code, answer = ask("export", "last", *words, "--out", str(out))
        assert code == 2, answer
        assert answer["error"]["ko"]


def test_the_disk_and_a_clean_that_asks_first(place: Place, ask: Any) -> None:
    run_id = place.run()
    assert ask("disk")[1]["runs"][0]["run"] == run_id
    before = ask("disk", run_id)[1]["bytes"]
    code, told = ask("disk", run_id, "--clean", "optimizer", "logs")
    assert (code, told["dry_run"], told["freed"]) == (0, True, before["optimizer"] + before["logs"])
    assert ask("disk", run_id)[1]["bytes"] == before
    assert ask("disk", run_id, "--clean", "optimizer", "logs", "--yes")[1]["dry_run"] is False
    assert ask("disk", run_id)[1]["bytes"]["optimizer"] == 0
    assert ask("disk", "--clean", "logs")[0] == 2


def test_a_push_without_a_token(place: Place, ask: Any) -> None:
    place.run()
    code, planned = ask("push", "last", "--repo", "org/name", "--dry-run")
    assert (code, planned["token"], planned["private"]) == (0, False, True)
    assert ask("push", "last", "--repo", "org/name")[0] == 2
    assert ask("push", "last", "--repo", "https://hub/org/name", "--dry-run")[0] == 2
