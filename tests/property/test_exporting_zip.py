"""Any tree of files as a streamed ZIP: every other reader finds the same names and bytes."""

from __future__ import annotations

import io
import tempfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.exporting import zipping

NAMES = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="/\\"), min_size=1, max_size=20
).filter(lambda name: name not in (".", "..") and len(name.encode()) <= 200)
TREES = st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map(tuple), st.binary(max_size=2000), max_size=8)


def build(folder: Path, tree: dict[tuple[str, ...], bytes]) -> dict[str, bytes]:
    """Write what can stand beside the rest: a name cannot be both a file and a folder."""
    written: dict[str, bytes] = {}
    for parts, content in tree.items():
        path = folder.joinpath(*parts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_bytes(content)
                written["/".join(parts)] = content
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
    return written


def read(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {entry.compress_type for entry in archive.infolist()} <= {zipfile.ZIP_STORED}
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


@settings(max_examples=60, deadline=None)
@given(TREES, st.sampled_from([0xFFFFFFFF, 1000, 40, 0]))
def test_any_tree_comes_back(tree: dict[tuple[str, ...], bytes], limit: int) -> None:
    """Also where nearly every number is beyond what 32 bits hold, so that Zip64 is written."""
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipping, "LIMIT", limit)
        written = build(Path(scratch), tree)
        listed = zipping.entries(Path(scratch), "top")
        data = b"".join(zipping.stream(listed))
        assert len(data) == zipping.length(listed)
        assert read(data) == {f"top/{name}": content for name, content in written.items()}


def test_more_entries_than_sixteen_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipping, "MOST", 3)
    for number in range(5):
        (tmp_path / str(number)).write_bytes(bytes([number]))
    assert len(read(b"".join(zipping.stream(zipping.entries(tmp_path, "t"))))) == 5


def test_memory_stays_bounded(tmp_path: Path) -> None:
    with (tmp_path / "large.safetensors").open("wb") as file:
        file.truncate(200 * 2**20)
    listed = zipping.entries(tmp_path, "t")
    tracemalloc.start()
    try:
        total = sum(len(piece) for piece in zipping.stream(listed))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == zipping.length(listed) > 200 * 2**20
    assert peak < 4 * zipping.PIECE


def test_links_are_left_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    (inside / "plain").write_text("plain")
    (inside / "file").symlink_to(outside / "secret")
    (inside / "folder").symlink_to(outside)
    (inside / "sub" / "back").symlink_to(tmp_path)
    assert set(read(b"".join(zipping.stream(zipping.entries(inside, "t"))))) == {"t/plain"}


@pytest.mark.parametrize("change", ["other content", "shorter", "longer", "gone", "link"])
def test_a_file_that_changes_breaks_the_download_off(tmp_path: Path, change: str) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    path = folder / "weights"
    path.write_bytes(b"0123456789")
    listed = zipping.entries(folder, "t")
    path.unlink()
    if change == "link":
        (tmp_path / "other").write_bytes(b"0123456789")
        path.symlink_to(tmp_path / "other")
    elif change != "gone":
        path.write_bytes({"other content": b"0123456780", "shorter": b"01234", "longer": b"0123456789+"}[change])
    with pytest.raises(zipping.Changed):
        list(zipping.stream(listed))
