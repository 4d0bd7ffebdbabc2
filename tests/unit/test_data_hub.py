"""Sets of the hub come as JSON lines from a worker; here the worker's part is played by a list."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.data import hub, sampling, taking
from backend.data.parquet_child import plain
from backend.data.uploads import Uploads
from backend.errors import NotFound, StudioError
from backend.text import Text
from backend.workers import hub_child, hub_rows

RECORDS = [
    {"question": f"q{n}", "answer": str(n), "meta": {"x": n, "y": None}, "day": datetime.date(2026, 1, 2)}
    for n in range(40)
]


def script(folder: Path, *lines: str) -> str:
    path = folder / "child.py"
    path.write_text("\n".join(f"print({line!r})" for line in lines))
    return str(path)


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the worker is to say."""
    said = [json.dumps(plain(record, top=True)) for record in RECORDS] + ['!{"end": true}']
    popen = subprocess.Popen
    monkeypatch.setattr(
        hub.subprocess, "Popen", lambda command, **options: popen([sys.executable, script(tmp_path, *said)], **options)
    )
    return said


def test_rows_of_the_hub_are_checked_like_those_of_a_file(child: list[str], tmp_path: Path) -> None:
    report = taking.check("org/name", {"prompt": "question", "ground_truth": "answer"}, Uploads(tmp_path))
    assert report["ok"], report["problems"]
    assert (report["rows"], report["encoding"], report["source"]) == (40, None, "org/name")
    assert report["preview"][0]["meta"] == '{"x": 0}', "no null keys"


def test_samples_of_the_hub_come_from_its_first_rows(
    child: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "FIRST", 20)
    args = {"prompt_column": "question", "ground_truth_column": "answer", "split": "test"}
    drawn = sampling.sample({"dataset": "org/name", "dataset_args": args, "eval_size": 4}, tmp_path, 6)
    assert len(drawn) == 6
    assert all(int(row["ground_truth"]) < 20 for row in drawn)


@pytest.mark.parametrize(
    ("last", "said"),
    [('!{"error": {"en": "no such set", "ko": "없음"}}', "no such set"), ('{"question": "x"}', "ended without a word")],
)
def test_what_goes_wrong_there_is_said_here(child: list[str], tmp_path: Path, last: str, said: str) -> None:
    child[-1] = last
    report = taking.check("org/name", {"prompt": "question"}, Uploads(tmp_path))
    assert not report["ok"]
    assert said in report["problems"][-1]["what"]["en"]


def test_the_worker_says_rows_or_why_there_are_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hub_rows, "records", lambda name, args: iter(RECORDS[:2]))
    hub_child.main("org/name", {})
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[0]) == {"question": "q0", "answer": "0", "meta": {"x": 0}, "day": "2026-01-02"}
    assert lines[-1] == '!{"end": true}'

    def fail(name: str, args: dict[str, Any]) -> Any:
        raise StudioError(Text("no such set", "없음"))

    monkeypatch.setattr(hub_rows, "records", fail)
    hub_child.main("org/name", {})
    assert json.loads(capsys.readouterr().out[1:]) == {"error": {"en": "no such set", "ko": "없음"}}


def test_a_folder_is_no_hub_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from backend import data

    (tmp_path / "org" / "name").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFound, match="is a folder"):
        data.kind("org/name")
    with pytest.raises(NotFound):
        taking.check("org/name", {}, Uploads(tmp_path))
