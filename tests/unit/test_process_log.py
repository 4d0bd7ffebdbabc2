"""The worker's log: rotation, reading by offset, carriage returns, and secrets that never get in."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.processes.redact import LONGEST, MARK, Redactor, is_secret_name, secrets_of
from backend.processes.worker_log import RotatingLog, read, shown, tail


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("HF_TOKEN", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("OPENAI_API_KEY", True),
        ("DB_PASSWORD", True),
        ("MY_KEY", True),
        ("SMTP_PASS", True),
        ("MYSQL_PWD", True),
        ("GH_PAT", True),
        ("SENTRY_DSN", True),
        ("SLACK_WEBHOOK", True),
        ("PWD", False),
        ("OLDPWD", False),
        ("TOKENIZERS_PARALLELISM", False),
        ("MAX_TOKENS", False),
        ("PATH", False),
        ("HOME", False),
        ("KEYBOARD", False),
        ("FAKE_STEPS", False),
    ],
)
def test_which_names_are_secret(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


def test_the_password_of_a_database_is_a_secret() -> None:
    found = secrets_of({"DATABASE_URL": "postgresql://me:p%40ssword@host/db", "PATH": "/usr/bin", "A_TOKEN": "x"})
    assert found == ["p%40ssword", "p@ssword"]


SECRET = "canary-5f1d9a"
TOKEN = "hf_" + "Ab1" * 8


@given(
    before=st.text(alphabet="ab \n\r", max_size=40),
    after=st.text(alphabet="ab \n\r", max_size=40),
    secret=st.sampled_from([SECRET, TOKEN]),
    cuts=st.lists(st.integers(0, 120), max_size=8),
)
def test_no_cut_lets_a_secret_through(before: str, after: str, secret: str, cuts: list[int]) -> None:
    """However the bytes arrive, what leaves is the cleaned whole."""
    whole = f"{before} {secret} {after}".encode()
    redactor = Redactor([SECRET])
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    out = b"".join(redactor.feed(whole[a:b]) for a, b in itertools.pairwise(places)) + redactor.flush()
    assert out == whole.replace(secret.encode(), MARK)


def test_a_line_that_never_ends_is_bounded_and_still_clean() -> None:
    redactor = Redactor([SECRET])
    whole = (b"x" * 20 + SECRET.encode()) * 4000
    out = b""
    for start in range(0, len(whole), 37):
        out += redactor.feed(whole[start : start + 37], limit=5000)
        assert len(redactor._held) <= 5000
    out += redactor.flush()
    assert out == whole.replace(SECRET.encode(), MARK)
    assert LONGEST < 65_536


def test_bytes_that_are_no_secret_stay_as_they_are() -> None:
    data = bytes(range(256)) * 3 + "한글 <b>x</b> \x1b[31m".encode()
    redactor = Redactor([])
    assert redactor.feed(data) + redactor.flush() == data


def test_rotation_keeps_the_newest_and_the_offset(tmp_path: Path) -> None:
    log = RotatingLog(tmp_path, limit=100, kept=3)
    for number in range(100):
        log.write(b"line %03d\n" % number)
    log.close()
    assert sorted(p.name for p in tmp_path.glob("worker.log*")) == ["worker.log", *(f"worker.log.{n}" for n in "123")]
    assert all(path.stat().st_size <= 100 for path in tmp_path.glob("worker.log*"))
    part = read(tmp_path)
    assert part.cursor == 900
    assert part.reset
    assert part.lines[-1] == "line 099"
    again = RotatingLog(tmp_path, limit=100)
    again.write(b"after a resume\n")
    again.close()
    more = read(tmp_path, part.cursor)
    assert (more.lines, more.reset, more.cursor) == (["after a resume"], False, 915)


def test_a_reader_that_keeps_up_sees_every_line_once(tmp_path: Path) -> None:
    """Also across rotations."""
    log = RotatingLog(tmp_path, limit=64, kept=3)
    seen: list[str] = []
    cursor = 0
    for number in range(200):
        log.write(b"line %d\n" % number)
        part = read(tmp_path, cursor)
        seen += part.lines
        cursor = part.cursor
    assert seen == [f"line {number}" for number in range(200)]


def test_a_reader_that_fell_behind_is_told(tmp_path: Path) -> None:
    log = RotatingLog(tmp_path, limit=64, kept=1)
    log.write(b"first\n")
    cursor = read(tmp_path).cursor
    for number in range(200):
        log.write(b"line %d\n" % number)
    part = read(tmp_path, cursor)
    assert part.reset
    assert part.lines[-1] == "line 199"
    assert "first" not in part.lines


def test_a_line_in_progress_comes_again_until_it_ends(tmp_path: Path) -> None:
    log = RotatingLog(tmp_path)
    log.write(b"one\n 10%|\r 20%|")
    part = read(tmp_path)
    assert (part.lines, part.tail) == (["one"], " 20%|")
    log.write(b"\r100%| done\ntwo\n")
    part = read(tmp_path, part.cursor)
    assert (part.lines, part.tail) == (["100%| done", "two"], "")
    assert read(tmp_path, part.cursor).lines == []


def test_two_hundred_frames_are_one_line(tmp_path: Path) -> None:
    log = RotatingLog(tmp_path)
    log.write(b"".join(b"\r\x1b[32m%3d%%\x1b[0m" % n for n in range(200)) + b"\n")
    assert read(tmp_path).lines == ["199%"]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"<style>body{display:none}</style>", "<style>body{display:none}</style>"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07x", "x"),
        (b"a\rb\r", "b"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        ("한글 🧮".encode(), "한글 🧮"),
    ],
)
def test_a_line_as_it_is_shown(raw: bytes, text: str) -> None:
    assert shown(raw) == text


def test_no_log_yet(tmp_path: Path) -> None:
    assert read(tmp_path / "nowhere").lines == []
    assert tail(tmp_path / "nowhere") == ""


def test_the_tail_is_the_last_lines_that_say_something(tmp_path: Path) -> None:
    log = RotatingLog(tmp_path)
    log.write("\n".join(str(n) for n in range(100)).encode() + b"\n\n\nend")
    assert tail(tmp_path, lines=3) == "98\n99\nend"


def test_a_full_disk_loses_log_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = RotatingLog(tmp_path)

    class Full:
        def write(self, data: bytes) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(log, "_file", Full())
    log.write(b"12345")
    assert log.lost == 5
