"""Setting up: the optional packages may be missing, and are tried once only."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from backend.settings import PROJECT


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("setup_script", PROJECT / "scripts" / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    monkeypatch.setattr(module, "VENV", tmp_path)
    monkeypatch.setattr(module, "PYTHON", tmp_path / "bin" / "python")
    return module


def calls(setup: ModuleType, monkeypatch: pytest.MonkeyPatch, failing: str = "") -> list[str]:
    found: list[str] = []

    def call(command: list[str]) -> int:
        found.append(Path(command[-1]).name)
        return int(bool(failing) and failing in command[-1])

    monkeypatch.setattr(setup.subprocess, "call", call)
    return found


def test_development_tries_the_extras_once_and_goes_on_without_them(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called = calls(setup, monkeypatch, failing="extra")
    assert setup.setup(True, False) == 0
    assert called == ["requirements-dev.txt", "requirements-extra.txt"]
    assert "everything else works" in capsys.readouterr().err
    assert setup.setup(True, False) == 0
    assert len(called) == 2, "nothing is tried again"
    assert setup.setup(False, True) == 1
    assert called[2:] == ["requirements.txt", "requirements-extra.txt"], "asked for by name they are tried again"


def test_a_run_needs_no_extras(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    called = calls(setup, monkeypatch)
    assert setup.setup(False, False) == 0
    assert called == ["requirements.txt"]
    assert setup.setup(True, False) == 0
    assert setup.setup(True, True) == 0
    assert called == ["requirements.txt", "requirements-dev.txt", "requirements-extra.txt"]


def test_what_must_be_there_and_cannot_be_installed_fails(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    called = calls(setup, monkeypatch, failing="requirements")
    assert setup.setup(False, False) == 1
    assert setup.setup(True, False) == 1
    assert called == ["requirements.txt", "requirements-dev.txt"]
