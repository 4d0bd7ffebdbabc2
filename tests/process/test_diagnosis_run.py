"""A real training with the rules beside it: its report, an alert that nobody answers, a stop at a grave finding, and a
run that was killed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from backend.settings import PROJECT, Settings
from storage.db import Database
from storage.reader import Reader
from storage.runs import set_fields
from tests.embedded_home import embedded_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

# Every answer the same: all groups are copies of each other (Z4, critical), from the first whole window on.
COLD = ["temperature=0.01", "max_steps=40", "eval_size=0", "evaluate_steps=null", "per_device_train_batch_size=64"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return embedded_home(tmp_path_factory.mktemp("diagnosed"))


class Silent(BaseHTTPRequestHandler):
    """Takes a request and never answers."""

    release = threading.Event()
    bodies: list[dict[str, Any]] = []  # noqa: RUF012  one server, one test

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.release.wait(120)

    def log_message(self, format: str, *args: Any) -> None: ...


def command(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "backend", *arguments, "--home", str(home), "--json"]
    return subprocess.run(line, cwd=PROJECT, capture_output=True, text=True, timeout=600)


def train(home: Path, *sets: str) -> dict[str, Any]:
    flags = [part for each in sets for part in ("--set", each)]
    done = command(home, "train", "--preset", "quickstart", "--wait", *flags)
    return json.loads(done.stdout)


def test_a_cold_run_is_stopped_by_its_finding_while_nobody_answers_the_alert(home: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/hook/T0KEN"
    try:
        run = train(home, *COLD, "stop_on=critical", f"alert_webhook={address}")
    finally:
        Silent.release.set()
        server.shutdown()
        server.server_close()
    assert run["state"] == "stopped"
    report = json.loads(command(home, "diagnose", run["run"]).stdout)
    standing = {f["id"]: f for f in report["findings"] if f["state"] == "fired"}
    assert "Z4" in standing
    assert standing["Z4"]["severity"] == "critical"
    assert standing["Z4"]["change"][0]["field"] == "temperature"
    assert standing["Z4"]["samples"][0]["id"] is not None
    assert report["headline"]["state"] == "not_learning"
    assert report["headline"]["because"] == "Z4"
    # It was asked to stop long before its 40 steps, the request to the address notwithstanding, and kept a checkpoint.
    shown = json.loads(command(home, "show", run["run"]).stdout)
    assert shown["last_step"] < 40
    assert shown["reason"].startswith("stopped at the finding Z4 identical of step")
    assert shown["reason_text"]["ko"] != shown["reason"]
    assert shown["can"]["resume"]
    assert Silent.bodies[0]["finding"]["id"] == "Z4"
    assert [e for e in shown["events"] if e["kind"] == "alert_failed"]
    # The address stands nowhere but in its own file.
    folder = Settings(home).run_dir(run["run"])
    assert "T0KEN" not in json.dumps(shown)
    for file in [home / "studio.db", home / "studio.db-wal", *folder.rglob("*.log"), *folder.rglob("*.json")]:
        if file.is_file():
            assert b"T0KEN" not in file.read_bytes(), file
    assert "T0KEN" in (folder / "alert_webhook").read_text()


def test_a_run_without_a_report_is_judged_when_somebody_asks(home: Path) -> None:
    """As one whose worker was killed: what it stored says that it goes on."""
    run = train(home, *COLD, "max_steps=12")
    db = Database(Settings(home).database_url)
    stored = Reader(db).results(run["run"])["diagnosis"]
    assert stored["ended"] is True
    from storage.results import put_result

    put_result(db, run["run"], "diagnosis", {**stored, "ended": False, "findings": []})
    set_fields(db, run["run"], reason="killed by the kernel: out of memory")
    report = json.loads(command(home, "diagnose", run["run"]).stdout)
    assert report["ended"] is True
    assert [f["id"] for f in report["findings"]] == [f["id"] for f in stored["findings"]] or any(
        f["id"] == "S1" for f in report["findings"]
    )
    lines = subprocess.run(
        [sys.executable, "-m", "backend", "diagnose", run["run"], "--home", str(home), "--again"],
        cwd=PROJECT, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert lines.returncode == 0
    assert lines.stdout.startswith(f"{run['run']}: ")
    assert command(home, "diagnose", "nothing-of-that-name").returncode == 2
