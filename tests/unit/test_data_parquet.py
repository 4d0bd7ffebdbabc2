"""Parquet is parsed in a child with a memory limit: what would not fit is refused, and the parent stays as it is."""

from __future__ import annotations

import datetime
import decimal
import os
import subprocess
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from backend.data import files, read_parquet, taking
from backend.data.faults import Fault, Table
from backend.data.uploads import Uploads
from backend.errors import Refused


def children() -> list[str]:
    """The child processes of this one that read Parquet."""
    found = subprocess.run(["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout
    return [line for line in found.splitlines() if "parquet_child" in line]


def test_a_gigabyte_from_a_megabyte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    piece = pyarrow.table({"prompt": pyarrow.array([b"x" * 1_000_000] * 10, type=pyarrow.binary())})
    with parquet.ParquetWriter(path, piece.schema, compression="zstd", use_dictionary=False) as file:
        for _ in range(110):
            file.write_table(piece)
    assert path.stat().st_size < 2_000_000
    report = taking.check(path, {}, Uploads(tmp_path))
    assert not report["ok"]
    assert "MB and more would come out of" in report["problems"][0]["what"]["en"]
    with pytest.raises(Refused, match="would come out of"):
        files.rows(path, {})
    assert children() == []


def test_a_bomb_that_the_footer_does_not_show_is_stopped_as_it_comes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dictionary codes: the footer counts the text once, every row stands for all of it."""
    path = tmp_path / "codes.parquet"
    text = "x" * 100_000
    codes = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 5000, type=pyarrow.int32()), [text])
    parquet.write_table(pyarrow.table({"prompt": codes.cast(pyarrow.string())}), path, use_dictionary=True)
    assert path.stat().st_size < 1_000_000
    monkeypatch.setattr(read_parquet, "SMALL", 20_000_000)
    found = list(read_parquet.read(path, Table("codes.parquet", iter(()))))
    assert isinstance(found[-1], Fault)
    assert found[-1].code == "bomb"
    assert 100 < len(found) < 300
    assert children() == []


def test_a_child_without_memory_enough_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wide.parquet"
    parquet.write_table(pyarrow.table({"prompt": [os.urandom(500_000).hex() for _ in range(64)]}), path)
    monkeypatch.setattr(read_parquet, "MEMORY_MB", 560)
    report = taking.check(path, {}, Uploads(tmp_path))
    assert not report["ok"]
    assert "needs more than 560 MB of memory" in report["problems"][0]["what"]["en"]


def test_values_that_json_has_not_become_text_or_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = {
        "prompt": ["a"],
        "error": ["a column may be called so"],
        "day": [datetime.date(2026, 1, 2)],
        "price": [decimal.Decimal("1.50")],
        "nan": [float("nan")],
        "raw": [b"\xff\x00"],
        "text": ["한글".encode()],
    }
    parquet.write_table(pyarrow.table(rows), path)
    (row,) = files.rows(path, {})
    assert (row["day"], row["price"], row["nan"], row["raw"], row["text"]) == (
        "2026-01-02",
        "1.50",
        None,
        "/wA=",
        "한글",
    )
    alone = tmp_path / "alone.parquet"
    parquet.write_table(pyarrow.table({"error": ["x", "y"]}), alone)
    assert len(files.rows(alone, {"prompt_column": "error"})) == 2


def test_reading_may_end_early_and_leaves_no_child(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"prompt": [f"p{n}" for n in range(100_000)]}), path)
    assert files.columns(path) == ["prompt"]
    assert files.count(path) == 100_000
    assert children() == []


def test_the_child_has_none_of_our_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "canary")
    seen: list[dict[str, str]] = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: seen.append(k["env"]) or popen(*a, **k))
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"prompt": ["a"]}), path)
    files.rows(path, {})
    assert seen
    assert "canary" not in seen[0].values()
