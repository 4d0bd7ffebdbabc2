"""What a browser sends: streamed, limited, under names of our own, gone after a day."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.data.service import DataService
from backend.data.uploads import KEPT_S, Uploads, shown_name
from backend.errors import NotFound, Refused
from backend.services import Services
from backend.settings import Settings

LINE = b'{"prompt": "a", "ground_truth": "1"}\n'
NAMES = ["../../x.jsonl", "/etc/passwd.jsonl", "C:\\a\\b.jsonl", "CON.jsonl", "한글 이름.jsonl", "x" * 300 + ".jsonl",
         "a\nb\x1b[31m.jsonl", "<img src=x onerror=alert(1)>.jsonl", ".jsonl.jsonl"]  # fmt: skip


@pytest.fixture
def sets(tmp_path: Path) -> Iterator[DataService]:
    services = Services(Settings(tmp_path / "home"))
    yield services.data
    services.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_only_text(name: str, sets: DataService, tmp_path: Path) -> None:
    ident = sets.upload(name, iter([LINE, LINE]))
    inside = sorted((tmp_path / "home" / "uploads").iterdir())
    assert [path.name for path in inside] == [f"{ident}.jsonl", f"{ident}.name"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]
    assert sets.check(ident)["rows"] == 2
    meta = sets.store(ident, "kept")
    assert meta["source"] == shown_name(name)
    assert len(meta["source"]) <= 120
    assert meta["source"].isprintable()
    assert not list((tmp_path / "home" / "uploads").iterdir()), "an imported upload is removed"


@pytest.mark.parametrize("name", ["x.exe", "x", "", "x.jsonl.sh", ".."])
def test_only_files_that_can_be_read_are_taken(name: str, sets: DataService) -> None:
    with pytest.raises(Refused, match="does not end like a file that is read here"):
        sets.upload(name, [LINE])


def test_a_symlink_among_the_uploads_is_not_followed_out(sets: DataService, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(LINE)
    folder = tmp_path / "home" / "uploads"
    folder.mkdir()
    (folder / "evil.jsonl").symlink_to(secret)
    for ident in ("evil", "evil.jsonl", "../secret", "upload-../../secret", "upload-" + "0" * 16):
        with pytest.raises(NotFound):
            sets.check(ident)


def test_too_much_is_refused_and_a_broken_upload_leaves_nothing(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path)
    with pytest.raises(Refused, match="has more than 0 MB"):
        uploads.add("a.jsonl", iter([b"x" * 60, b"x" * 60]), largest=100)

    def cancelled() -> Iterator[bytes]:
        yield LINE
        raise ConnectionError

    with pytest.raises(ConnectionError):
        uploads.add("a.jsonl", cancelled())
    assert not list(uploads.folder.iterdir())


def test_uploads_are_gone_after_a_day(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path)
    old, new = uploads.add("a.jsonl", [LINE]), uploads.add("b.jsonl", [LINE])
    for path in uploads.folder.glob(f"{old}.*"):
        os.utime(path, (0, time.time() - KEPT_S - 60))
    uploads.clean()
    assert uploads.get(new).name == "b.jsonl"
    with pytest.raises(NotFound, match="kept for a day"):
        uploads.get(old)
