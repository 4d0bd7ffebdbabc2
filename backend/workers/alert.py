"""A finding told to an address of the person's own: a JSON POST from a thread of its own, tried a few times.

Nothing here holds the training up, and the end of a run waits only for a bounded while. The address may hold a token
(chat services put one in the path), so it is never written to events, logs or errors.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import queue
import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from backend.alerting import address_of
from backend.diagnosis.base import SEVERITIES, Finding
from backend.settings import on_space

if TYPE_CHECKING:
    from backend.workers.job import Job

log = logging.getLogger(__name__)

TRIES = 4
TIMEOUT_S = 5.0
FIRST_WAIT_S = 1.0  # doubled after each try
MOST_WAITING = 100  # alerts; more of one run are told in the report alone
CLOSE_S = 6.0  # that the end of a run waits for the last deliveries


class Alerts:
    """`tell` returns at once. The thread begins with the first alert."""

    def __init__(self, job: Job) -> None:
        self._job = job
        config = job.config
        self._address = "" if on_space() else address_of(job.run_dir)
        self._worst = SEVERITIES.index(config.alert_severity)
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(MOST_WAITING)
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._at = ""  # the finding that is being told

    def tell(self, finding: Finding) -> None:
        if not self._address or SEVERITIES.index(finding.severity) > self._worst:
            return
        try:
            self._waiting.put_nowait(body(self._job.run.id, self._job.run.name, finding))
        except queue.Full:
            self._event("alert_failed", "there are too many alerts waiting; this one was left out", finding.rule.id, 0)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="alerts", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Wait a bounded while for what is still to be delivered; no further try begins after that."""
        if self._thread is None:
            return
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
        self._thread.join(CLOSE_S)
        self._closing.set()
        self._thread.join(0.5)
        if self._thread.is_alive() and self._at:
            self._event(
                "alert_failed", f"{self._at} was not taken by the alert's address before the run ended", self._at, 1
            )

    def _loop(self) -> None:
        while not self._closing.is_set():
            alert = self._waiting.get()
            if alert is None:
                return
            self._at = alert["finding"]["id"]
            self._deliver(alert)
            self._at = ""

    def _deliver(self, alert: dict[str, Any]) -> None:
        why, wait, number = "", FIRST_WAIT_S, 0
        name = alert["finding"]["id"]
        for number in range(1, TRIES + 1):
            try:
                status = post(self._address, alert, TIMEOUT_S)
            except (OSError, http.client.HTTPException, ValueError) as error:
                why = type(error).__name__  # its text may hold the address
            else:
                if 200 <= status < 300:
                    self._event("alert", f"{name} was told to the alert's address (try {number})", name, number, "info")
                    return
                why = f"status {status}"
            if number < TRIES and self._closing.wait(wait):
                break
            wait *= 2
        words = f"{name} could not be told to the alert's address: {why} after {number} tries"
        self._event("alert_failed", words, name, number)

    def _event(self, kind: str, words: str, rule: str, tries: int, level: Any = "warn") -> None:
        try:
            self._job.writer.event(kind, words, level, {"id": rule, "tries": tries})
        except Exception as error:
            log.warning("an alert's outcome could not be recorded: %s", error)


def body(run_id: str, name: str, finding: Finding) -> dict[str, Any]:
    """What is sent. `text` is the field that chat services show."""
    rule, reading = finding.rule, finding.reading
    title = rule.title.en
    return {
        "text": f"{name or run_id}: {finding.severity}: {title} (since step {finding.since_step})",
        "run": run_id,
        "name": name,
        "at": time.time(),
        "finding": {
            "id": rule.id,
            "name": rule.name,
            "severity": finding.severity,
            "title": rule.title.to_json(),
            "text": (reading.text or rule.title).to_json(),
            "since_step": finding.since_step,
            "step": finding.last_step,
            "change": [{"field": c.field, "from": c.old, "to": c.new} for c in reading.change],
        },
    }


def post(address: str, document: dict[str, Any], timeout_s: float) -> int:
    """POST JSON; the status. No redirect is followed and no proxy asked. Raises OSError, HTTPException, ValueError.

    `timeout_s`: to be connected, and from then on for all of it. A socket's own timeout begins anew with every byte, so
    the connection is cut from a timer.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no http or https address")
    payload = json.dumps(document, default=str).encode("utf-8")
    safe = parts.scheme == "https"
    connection = (http.client.HTTPSConnection if safe else http.client.HTTPConnection)(parts.hostname, parts.port)
    plain = socket.create_connection((connection.host, connection.port), timeout_s)
    with plain, plain.dup() as held:  # TLS takes the first over; a shutdown of either ends the connection
        late = threading.Event()
        timer = threading.Timer(timeout_s, _cut, (held, late))
        timer.daemon = True
        timer.start()
        try:
            connection.sock = (
                ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname) if safe else plain
            )
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", path, payload, {"Content-Type": "application/json"})
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            if late.is_set():
                raise TimeoutError("no whole answer in time") from error
            raise
        finally:
            timer.cancel()
            timer.join()
            connection.close()
        if late.is_set():  # headers that were cut off look like their end
            raise TimeoutError("no whole answer in time")
        return status


def _cut(connection: socket.socket, late: threading.Event) -> None:
    late.set()
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
