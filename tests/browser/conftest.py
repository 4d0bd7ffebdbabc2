"""One server with the fake worker and a home of its own; pages that fail on any error or foreign request.

Package scope, not session: while Playwright is up the main thread has a running event loop, and no test elsewhere
could call asyncio.run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from scripts.browser import installed
from tests.support import wait_for

PROJECT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
ENDED = {"succeeded", "failed", "stopped", "lost"}
SLOW = "GRPO_STUDIO_TESTS_SLOW"  # N: pages with 1/N of the CPU, N x 50 ms of network; shows tests that hope to be early


class Server:
    """`python app.py` in a process of its own. `url` ends in a slash; the port stays the same over restarts."""

    def __init__(self, home: Path, port: int, *arguments: str, **environment: str) -> None:
        self.home, self.port, self.arguments, self.environment = home, port, arguments, environment
        self.url = self.opens_on = ""  # what the server printed may name a run too
        self.process: subprocess.Popen[bytes] | None = None
        self.log = home.parent / f"{home.name}.server.log"

    def start(self) -> Server:
        worker = {"GRPO_STUDIO_WORKER": "tests.fakes.fake_worker", "FAKE_STEP_S": "0.1", "FAKE_GROUPS": "2"}
        chat = {"GRPO_STUDIO_CHAT_WORKER": "tests.fakes.fake_chat"}
        environment = {**os.environ, **worker, **chat, **self.environment}
        command = [sys.executable, "app.py", "--home", str(self.home), "--port", str(self.port), *self.arguments]
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("a", encoding="utf-8") as out:
            self.process = subprocess.Popen(
                command, cwd=PROJECT, env=environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
            )

        def printed() -> str | None:
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text(encoding="utf-8")
            lines = self.log.read_text(encoding="utf-8")[before:].splitlines()
            return next((line for line in lines if line.startswith("http://")), None)

        self.opens_on = wait_for(printed, timeout=120, what="the server's address") or ""
        parts = urlsplit(self.opens_on)
        self.url, self.port = f"http://{parts.netloc}/", parts.port or 80
        return self

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)
            self.process = None

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON answer of an own route; an HTTP error fails the test with its words."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path.lstrip("/"), data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error

    def new_run(self, steps: int = 40, **values: Any) -> str:
        body = {"preset": "quickstart", "values": {"max_steps": steps, **values}}
        return self.call("POST", "/api/runs", body)["run"]["id"]

    def state(self, run: str) -> str:
        return self.call("GET", f"/api/runs/{run}")["state"]

    def wait_state(self, run: str, *states: str, timeout: float = 120) -> str:
        wait_for(lambda: self.state(run) in states, timeout, every=0.2, what=f"{run} to be {states}")
        return self.state(run)

    def end(self, run: str) -> None:
        """Make sure that a run has ended, so that the next test's run need not wait."""
        if self.state(run) not in ENDED:
            self.call("POST", f"/api/runs/{run}/stop", {"now": True})
            self.wait_state(run, *ENDED)


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("studio") / "home", 7960).start()
    yield running
    for run in running.call("GET", "/api/runs")["runs"]:
        running.end(run["id"])
    running.stop()


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    path = installed()
    assert path, "no Chromium: run `python scripts/browser.py`, or set CHROMIUM"
    launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
    yield launched
    launched.close()


class Watched:
    """What a page must not do: raise, log an error, or ask anybody but this server."""

    def __init__(self, page: Page) -> None:
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.expect_failures = False  # while a test takes the server away, failed requests are no fault
        page.on("pageerror", lambda error: self.faults.append(f"pageerror: {error}"))
        page.on("console", self._console)
        page.on("request", self._request)

    def _console(self, message: Any) -> None:
        lost = "Failed to load resource" in message.text or "ERR_" in message.text
        if message.type == "error" and not (self.expect_failures and lost):
            self.faults.append(f"console: {message.text}")

    def _request(self, request: Any) -> None:
        self.requests.append(request.url)
        if not request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            self.faults.append(f"external request: {request.url}")


def open_page(browser: Browser, **options: Any) -> Page:
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, "locale": "en-US"} | options)
    context.set_default_timeout(60_000)
    page = context.new_page()
    if slow := float(os.environ.get(SLOW, 0)):
        tools = context.new_cdp_session(page)
        tools.send("Emulation.setCPUThrottlingRate", {"rate": slow})
        network = {"offline": False, "latency": 50 * slow, "downloadThroughput": -1, "uploadThroughput": -1}
        tools.send("Network.emulateNetworkConditions", network)
    page.watched = Watched(page)  # type: ignore[attr-defined]
    return page


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = open_page(browser)
    yield opened
    faults = opened.watched.faults  # type: ignore[attr-defined]
    opened.context.close()
    assert not faults, "\n".join(faults)
