"""Alerts: told, tried again, given up, never more than the settings ask, never with the address in their words."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend import alerting, config
from backend.diagnosis.base import Change, Finding, Reading, Rule, Severity
from backend.text import Text
from backend.workers import alert
from backend.workers.alert import Alerts

SECRET = "/hooks/T0KEN-do-not-tell"


class Receiver:
    """A server on the loopback that answers with `statuses` in turn (the last one for ever); None: not at all."""

    def __init__(self, *statuses: int | None) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.asked, self.release = threading.Event(), threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                receiver.bodies.append(json.loads(self.rfile.read(length)))
                receiver.asked.set()
                status = statuses[min(len(receiver.bodies), len(statuses)) - 1]
                if status is None:
                    receiver.release.wait(30)
                    return
                self.send_response(status)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}{SECRET}"

    def close(self) -> None:
        self.release.set()
        self.server.shutdown()
        self.server.server_close()


class Events:
    def __init__(self) -> None:
        self.told: list[tuple[str, str, dict[str, Any]]] = []

    def event(self, kind: str, message: str, level: str, data: dict[str, Any]) -> None:
        self.told.append((kind, message, data))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alert, "FIRST_WAIT_S", 0.02)
    monkeypatch.setattr(alert, "TIMEOUT_S", 0.3)
    monkeypatch.delenv("SPACE_ID", raising=False)


@pytest.fixture
def receivers() -> Iterator[list[Receiver]]:
    made: list[Receiver] = []
    yield made
    for receiver in made:
        receiver.close()


def alerts(folder: Path, address: str, severity: Severity = "critical") -> tuple[Alerts, Events]:
    alerting.keep(folder, {"alert_webhook": address})
    events = Events()
    job: Any = SimpleNamespace(
        run_dir=folder,
        run=SimpleNamespace(id="20261130-000000-aaaa", name="one"),
        config=SimpleNamespace(alert_severity=severity),
        writer=events,
    )
    return Alerts(job), events


def finding(severity: Severity = "critical") -> Finding:
    title = Text("Most groups are all wrong", "대부분의 그룹이 모두 오답입니다")
    rule = Rule("Z1", "all_wrong", title, severity, "stalled", lambda window: None)
    reading = Reading("fire", Text("In 93% of groups", "그룹의 93%에서"), change=(Change("num_generations", 8, 16),))
    return Finding(rule, "fired", severity, 12, 20, None, reading)


def test_a_server_that_fails_twice_is_told_at_the_third_try(tmp_path: Path, receivers: list[Receiver]) -> None:
    receivers.append(Receiver(500, 503, 204))
    made, events = alerts(tmp_path, receivers[0].address)
    made.tell(finding())
    made.close()
    assert len(receivers[0].bodies) == 3
    body = receivers[0].bodies[-1]
    assert body["run"] == "20261130-000000-aaaa"
    assert body["finding"]["id"] == "Z1"
    assert body["finding"]["since_step"] == 12
    assert body["finding"]["change"] == [{"field": "num_generations", "from": 8, "to": 16}]
    assert [(kind, data) for kind, _, data in events.told] == [("alert", {"id": "Z1", "tries": 3})]


def test_one_that_never_answers_is_given_up_and_the_end_waits_a_bounded_while(
    tmp_path: Path, receivers: list[Receiver], monkeypatch: pytest.MonkeyPatch
) -> None:
    receivers.append(Receiver(None))
    monkeypatch.setattr(alert, "TIMEOUT_S", 30.0)
    monkeypatch.setattr(alert, "CLOSE_S", 0.1)
    made, events = alerts(tmp_path, receivers[0].address)
    made.tell(finding())
    assert receivers[0].asked.wait(60)
    made.close()  # returns although the address holds on to the request
    [(kind, words, _)] = events.told
    assert (kind, words) == ("alert_failed", "Z1 was not taken by the alert's address before the run ended")


def test_a_refused_connection_is_an_event_without_the_address(tmp_path: Path, receivers: list[Receiver]) -> None:
    gone = Receiver(200)
    gone.close()
    made, events = alerts(tmp_path, gone.address)
    made.tell(finding())
    made.close()
    [(kind, words, data)] = events.told
    assert (kind, data["tries"]) == ("alert_failed", alert.TRIES)
    assert SECRET not in words
    assert "127.0.0.1" not in words


@pytest.mark.parametrize(
    ("asked", "severity", "told"),
    [("critical", "warn", False), ("critical", "stop", True), ("warn", "warn", True), ("stop", "critical", False)],
)
def test_only_the_severity_that_was_asked_for_and_graver(
    tmp_path: Path, receivers: list[Receiver], asked: Severity, severity: Severity, told: bool
) -> None:
    receivers.append(Receiver(200))
    made, _ = alerts(tmp_path, receivers[0].address, asked)
    made.tell(finding(severity))
    made.close()
    assert bool(receivers[0].bodies) == told


def test_nothing_leaves_a_public_space(
    tmp_path: Path, receivers: list[Receiver], monkeypatch: pytest.MonkeyPatch
) -> None:
    receivers.append(Receiver(200))
    monkeypatch.setenv("SPACE_ID", "org/space")
    made, _ = alerts(tmp_path, receivers[0].address)
    made.tell(finding())
    made.close()
    assert receivers[0].bodies == []


def test_the_address_stands_in_a_file_of_its_owner_and_not_in_the_settings(tmp_path: Path) -> None:
    values: dict[str, Any] = {"alert_webhook": f"https://example.org{SECRET}", "max_steps": 3}
    alerting.keep(tmp_path, values)
    assert values == {"alert_webhook": "", "max_steps": 3}
    assert alerting.address_of(tmp_path) == f"https://example.org{SECRET}"
    assert (tmp_path / alerting.FIELD).stat().st_mode & 0o077 == 0
    alerting.keep(tmp_path, {"alert_webhook": ""}, {"max_steps": 4})  # a resume that says nothing of it
    assert alerting.address_of(tmp_path) == f"https://example.org{SECRET}"
    alerting.keep(tmp_path, {"alert_webhook": ""}, {"alert_webhook": ""})  # one that takes it back
    assert alerting.address_of(tmp_path) == ""
    assert not (tmp_path / alerting.FIELD).exists()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\n"], ids=["nothing", "headers"])
def test_a_server_that_sends_a_byte_now_and_then_does_not_hold_a_delivery(answer: bytes) -> None:
    """Each byte begins the socket's own timeout anew; headers that never end are no answer either."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(answer or b"H")
            while not over.wait(0.05):
                connection.sendall(b"x")

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    done: list[BaseException | int] = []

    def deliver() -> None:
        try:
            done.append(alert.post(f"http://127.0.0.1:{listener.getsockname()[1]}/", {}, 0.3))
        except OSError as error:
            done.append(error)

    delivery = threading.Thread(target=deliver, daemon=True)
    delivery.start()
    delivery.join(60)
    over.set()
    thread.join(60)
    listener.close()
    assert [type(each) for each in done] == [TimeoutError]


def test_tls_that_never_begins_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(OSError, match=r"in time|timed out"):
        alert.post(f"https://127.0.0.1:{listener.getsockname()[1]}/", {}, 0.3)


def test_no_refusal_shows_an_address_of_any_type() -> None:
    for value in (["http://T0KEN"], {"a": "T0KEN"}, "ftp://T0KEN"):
        broken = [p for p in config.check({"alert_webhook": value}).errors if p.field == "alert_webhook"]
        assert len(broken) == 1
        assert "T0KEN" not in repr(broken[0])
        assert "T0KEN" not in json.dumps(broken[0].to_json())


def test_a_training_of_ours_does_not_say_that_it_was_trained_elsewhere() -> None:
    [broken] = [p for p in config.check({"attached": "/etc"}).errors if p.field == "attached"]
    assert broken.suggest == [""]
    assert not [p for p in config.check({"attached": ""}).errors if p.field == "attached"]


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.org/x",
        "file:///etc/passwd",
        "https://",
        "https://a b/",
        "javascript:alert(1)",
        "http://u:p@h/",
        "x",
    ],
)
def test_other_addresses_are_refused_without_being_repeated(address: str) -> None:
    broken = [p for p in config.check({"alert_webhook": address}).errors if p.field == "alert_webhook"]
    assert len(broken) == 1
    assert address not in str(broken[0].value)


def test_an_address_is_refused_on_a_public_space(monkeypatch: pytest.MonkeyPatch) -> None:
    good = {"alert_webhook": f"https://example.org{SECRET}"}
    assert not [p for p in config.check(good).errors if p.field == "alert_webhook"]
    monkeypatch.setenv("SPACE_ID", "org/space")
    assert [p for p in config.check(good).errors if p.field == "alert_webhook"]
