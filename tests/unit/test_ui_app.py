"""app.py before it serves: ports, addresses, passwords."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import app
from backend.errors import StudioError

PROJECT = Path(__file__).resolve().parents[2]


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


@pytest.mark.parametrize("host", ["256.1.1.1", "a..b"])
def test_a_host_that_is_no_address_is_said_in_words(host: str) -> None:
    with pytest.raises(StudioError, match=r"--host .*no such address"):
        app.free_port(host, 7860)


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


@pytest.fixture(scope="module")
def network() -> Iterator[int]:
    """The real page, Gradio and all, as `--host 0.0.0.0` with a password serves it; its port."""
    port = app.free_port("0.0.0.0", 7900)
    services: Any = SimpleNamespace(runs=list)
    demo = app.serve(services, "0.0.0.0", port, "secret")
    try:
        yield port
    finally:
        demo.close(verbose=False)


def ask(port: int, method: str, path: str, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    given = {"Authorization": "Basic OnNlY3JldA=="} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, headers=given)
    answer = connection.getresponse()
    answer.read()
    return answer


@pytest.mark.parametrize("path", ["/", "/api/runs", "/gradio_api/info", "/gradio_api/queue/join"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_a_page_on_another_machine_can_neither_ask_nor_read(network: int, method: str, path: str) -> None:
    preflight = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "content-type"}
    for origin in (f"http://203.0.113.9:{network}", "http://evil.example", "null"):
        answer = ask(network, method, path, Origin=origin, **preflight)
        assert answer.status == 403, (origin, answer.status)
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    foreign = ask(network, method, path, Origin=f"http://evil.example:{network}", Host=f"evil.example:{network}")
    assert foreign.status == 421
    assert not [name for name in foreign.headers if name.lower().startswith("access-control-")]


def test_the_page_itself_comes_in(network: int) -> None:
    own = f"127.0.0.1:{network}"
    for path in ("/", "/api/runs", "/gradio_api/info"):
        answer = ask(network, "GET", path, Origin=f"http://{own}")
        assert answer.status == 200
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "Content-Security-Policy" in answer.headers
    assert ask(network, "GET", "/", Authorization="Basic OndyB25n").status == 401
    assert ask(network, "POST", "/gradio_api/upload").status == 403


def test_without_the_guard_nothing_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.guarded", lambda door: None)
    port = app.free_port("127.0.0.1", 7940)
    with pytest.raises(StudioError, match="without the guard"):
        app.serve(SimpleNamespace(runs=list), "127.0.0.1", port, None)  # type: ignore[arg-type]
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("port", ["-5", "0", "65536", "x", "7" * 5000])
def test_a_port_that_is_none_is_refused_in_words(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app.main([f"--port={port}"])
    assert ended.value.code == 2
    assert "1 to 65535" in capsys.readouterr().err


def test_arguments_are_not_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app.arguments(["--dem"])
    assert ended.value.code == 2
    assert "--dem" in capsys.readouterr().err


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
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(StudioError, match="not a text file"):
        app.password(str(path))
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(StudioError, match="empty"):
        app.password(str(path))
