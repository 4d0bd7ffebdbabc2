"""app.py before it serves: ports, addresses, passwords."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import app
from backend.errors import StudioError

PROJECT = Path(__file__).resolve().parents[2]


def test_importing_app_loads_no_torch() -> None:
    code = "import app, sys; print(sorted({'torch', 'transformers', 'trl', 'datasets', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "torch" not in done.stdout
    assert "transformers" not in done.stdout


def test_a_taken_port_gives_the_next_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = app.free_port("127.0.0.1", port)
        assert port < found <= port + app.PORTS_TO_TRY


def test_no_port_left_is_said_in_words() -> None:
    with pytest.raises(StudioError, match="--port"):
        app.free_port("203.0.113.7", 7860)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.5", "example.com"])
def test_other_addresses_need_a_password(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPACE_ID", raising=False)
    with pytest.raises(StudioError, match="without a password"):
        app.address(host, None)
    assert app.address(host, "secret") == host
    assert app.address(None, None) == "127.0.0.1"
    assert app.address("::1", None) == "::1"


def test_refusing_to_bind_ends_with_2_and_words(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in {"GRPO_STUDIO_PASSWORD", "SPACE_ID"}}
    command = [sys.executable, "app.py", "--home", str(tmp_path), "--host", "0.0.0.0"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 2
    assert "Refused to listen on 0.0.0.0 without a password" in done.stderr
    assert "Traceback" not in done.stderr


def test_password_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "password"
    path.write_text("  from file \nsecond\n", encoding="utf-8")
    monkeypatch.setenv("GRPO_STUDIO_PASSWORD", "from env")
    assert app.password(str(path)) == "from file"
    assert app.password(None) == "from env"
    monkeypatch.delenv("GRPO_STUDIO_PASSWORD")
    assert app.password(None) is None
    with pytest.raises(StudioError, match="No such file"):
        app.password(str(tmp_path / "none"))
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(StudioError, match="empty"):
        app.password(str(path))
