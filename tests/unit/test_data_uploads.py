"""What a browser sends: streamed, limited, under names of our own, gone after a day."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.data import uploads as module
from backend.data.service import DataService
from backend.data.uploads import IDLE_S, KEPT_S, SPACE_LARGEST, Uploads, shown_name
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
        uploads.add("a.jsonl", iter([b"x" * 60, b"x" * 60]), most=100)

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


def used(uploads: Uploads, ident: str, seconds_ago: float) -> None:
    for path in uploads.folder.glob(f"{ident}.*"):
        os.utime(path, (0, time.time() - seconds_ago))


def test_the_longest_unused_make_room_and_those_in_use_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOTAL", 3_500)
    uploads = Uploads(tmp_path)
    kilobyte = [b"x" * 1000]
    first, second, third = (uploads.add("a.jsonl", kilobyte) for _ in range(3))
    with pytest.raises(Refused, match=r"MB of uploads wait here, and .* import what is needed, or try again in 10"):
        uploads.add("b.jsonl", kilobyte)
    assert len(list(uploads.folder.glob("*.jsonl"))) == 3, "the refused one left nothing"
    used(uploads, first, IDLE_S + 60)
    used(uploads, second, IDLE_S + 120)
    fourth = uploads.add("b.jsonl", kilobyte)
    with pytest.raises(NotFound):
        uploads.get(second)
    used(uploads, first, IDLE_S + 60)
    assert uploads.get(first), "asking for it is using it"
    used(uploads, third, IDLE_S + 60)
    fifth = uploads.add("c.jsonl", kilobyte)
    for ident in (first, fourth, fifth):
        assert uploads.get(ident)
    with pytest.raises(NotFound):
        uploads.get(third)


def test_what_is_looked_at_while_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOTAL", 3_500)
    monkeypatch.setattr(module, "STEP", 500)
    uploads = Uploads(tmp_path)
    kept = uploads.add("a.jsonl", [b"x" * 3000])
    with pytest.raises(Refused, match="uploads wait here"):
        uploads.add("b.jsonl", iter([b"x" * 300] * 10))
    assert uploads.get(kept)
    assert len(list(uploads.folder.iterdir())) == 2


def test_on_a_space_less_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_ID", "me/studio")
    with pytest.raises(Refused, match="more than 50 MB, the most on a public Space; send a part of it") as refused:
        Uploads(tmp_path).add("a.jsonl", iter([b"x" * SPACE_LARGEST, b"x"]))
    assert "Space" in refused.value.text.ko
    monkeypatch.setattr(module, "SPACE_TOTAL", 100)
    with pytest.raises(Refused, match="uploads wait here"):
        Uploads(tmp_path).add("a.jsonl", iter([b"x" * 101]))
