"""Where an export is written: files are replaced whole, what is no file is written as it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from backend import export
from backend.errors import Refused, StudioError
from backend.settings import PROJECT

PARTS = ["a,b\n", "1,2\n"]


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    out = tmp_path / "f.csv"
    out.write_text("old")
    assert export._write(out, PARTS) == out
    assert out.read_text() == "a,b\n1,2\n"
    assert [path.name for path in tmp_path.iterdir()] == ["f.csv"]


def test_a_fault_leaves_the_old_file(tmp_path: Path) -> None:
    def parts():
        yield "half"
        raise OSError(28, "No space left on device")

    out = tmp_path / "f.csv"
    out.write_text("old")
    with pytest.raises(StudioError, match="No space left"):
        export._write(out, parts())
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["f.csv"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    assert export._write(link, PARTS) == real
    assert link.is_symlink()
    assert real.read_text() == "a,b\n1,2\n"
    dangling = tmp_path / "dangling.csv"
    dangling.symlink_to(tmp_path / "new.csv")
    export._write(dangling, PARTS)
    assert dangling.is_symlink()
    assert (tmp_path / "new.csv").read_text() == "a,b\n1,2\n"


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_a_named_pipe_is_written_and_stays(tmp_path: Path) -> None:
    out = tmp_path / "pipe"
    os.mkfifo(out)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(out.read_text()), daemon=True)
    reader.start()
    export._write(out, PARTS)
    reader.join(60)
    assert read == ["a,b\n1,2\n"]
    assert stat.S_ISFIFO(out.stat().st_mode)


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/stdout")
@pytest.mark.parametrize("redirected", [True, False])
def test_standard_output_is_written_to_and_not_replaced(tmp_path: Path, redirected: bool) -> None:
    out = tmp_path / "out"
    out.write_text("before\n")
    # As /dev/stdout is, but the test's own: a fault here must not replace the machine's.
    link = tmp_path / "stdout"
    link.symlink_to("/proc/self/fd/1")
    code = (
        "from pathlib import Path; from backend import export; "
        f"export._write(Path({str(link)!r}), {PARTS!r}); print('after')"
    )
    with out.open("a") as file:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=PROJECT,
            stdout=file if redirected else subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    assert (out.read_text() if redirected else "before\n" + done.stdout) == "before\na,b\n1,2\nafter\n"
    assert link.is_symlink()


@pytest.mark.parametrize("name", ["", "no/such/f.csv", "folder", "file/x", "x" * 300, "circle"])
def test_a_path_of_no_use_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises(Refused, match="give a file in an existing folder"):
        export._write(Path(name), PARTS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["circle", "file", "folder"]
