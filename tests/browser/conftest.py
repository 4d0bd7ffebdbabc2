"""One server with the fake worker and a home of its own; pages that fail on any error or foreign request. A test that
fails tells what its pages and servers said.

Package scope, not session: while Playwright is up the main thread has a running event loop, and no test elsewhere
could call asyncio.run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Error, Page, Playwright, expect, sync_playwright

from scripts.browser import installed
from tests.support import wait_for

T = TypeVar("T")
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
# What a page shows is waited for, not timed: the limit only ends a test that will never pass. Set here, once, so that a
# file that runs alone waits as long as in the whole suite.
expect.set_options(timeout=30_000)
SLOW = "GRPO_STUDIO_TESTS_SLOW"  # N: pages with 1/N of the CPU, N x 50 ms of network; shows tests that hope to be early
SHOWN = 40  # lines of a page's console and of a server's log, and of what it shows, when a test fails
_pages: list[Page] = []  # of the test at hand
_servers: list[Server] = []  # that are up


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

        if self not in _servers:
            _servers.append(self)
        self.opens_on = wait_for(printed, timeout=120, what="the server's address") or ""
        parts = urlsplit(self.opens_on)
        self.url, self.port = f"http://{parts.netloc}/", parts.port or 80
        return self

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
            self.process = None
            if self in _servers:
                _servers.remove(self)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON answer of an own route; an HTTP error fails the test with its words."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path.lstrip("/"), data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
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
            try:
                self.call("POST", f"/api/runs/{run}/stop", {"now": True})
            except AssertionError:
                if self.state(run) not in ENDED:  # it may have ended by itself meanwhile, and that is refused
                    raise
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
        self.under_way = 0  # calls of our routes that have neither ended nor failed
        self.said: deque[str] = deque(maxlen=SHOWN)
        self.expect_failures = False  # while a test takes the server away, failed requests are no fault
        page.on("pageerror", lambda error: self.faults.append(f"pageerror: {error}"))
        page.on("console", self._console)
        page.on("request", self._request)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        page.on("requestfailed", lambda request: self.said.append(f"{request.method} {request.url}: {request.failure}"))
        page.on("response", self._response)

    def _response(self, response: Any) -> None:
        if response.status >= 400:
            self.said.append(f"{response.request.method} {response.url}: {response.status}")

    def _console(self, message: Any) -> None:
        where = message.location.get("url", "")
        self.said.append(f"console.{message.type}: {message.text} ({where})")
        lost = "Failed to load resource" in message.text or "ERR_" in message.text
        if message.type == "error" and not (self.expect_failures and lost):
            self.faults.append(f"console: {message.text} ({where})")

    def _ended(self, request: Any) -> None:
        self.under_way -= urlsplit(request.url).path.startswith("/api/")

    def _request(self, request: Any) -> None:
        self.under_way += urlsplit(request.url).path.startswith("/api/")
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
    _pages.append(page)
    return page


def settled(read: Callable[[], T], wanted: T, timeout: float = 30) -> T:
    """What `read` gives once it is `wanted`, or at last: for what no locator waits for, such as what is laid out anew
    after the window has changed. The caller asserts, so that a difference is shown."""
    deadline = time.monotonic() + timeout
    while (found := read()) != wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def quiet(page: Page) -> None:
    """Until every question of the page has its answer, and none has led to another one."""
    watched: Watched = page.watched  # type: ignore[attr-defined]
    looks: list[tuple[int, int]] = []

    def still() -> bool:
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        looks.append((watched.under_way, len(watched.requests)))
        return len(looks) > 2 and looks[-1][0] == 0 and len(set(looks[-3:])) == 1

    wait_for(still, 60, what="the page to be quiet")


def leave(page: Page) -> None:
    """Nothing asks any longer: before a test takes away what its page shows, whose next look would be a failure."""
    page.goto("about:blank")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = open_page(browser)
    yield opened
    opened.context.cookies()  # a round trip: what the page has said by now is told
    faults = list(opened.watched.faults)  # type: ignore[attr-defined]
    # What a test answers itself may be asked for at this moment; from here on the server would have to answer it.
    opened.unroute_all(behavior="ignoreErrors")
    opened.context.close()
    assert not faults, "\n".join(faults)


def told(page: Page) -> str:
    """Where a page was, what it said and what it shows."""
    watched: Watched = page.watched  # type: ignore[attr-defined]
    try:
        shows = "closed" if page.is_closed() else page.locator("body").inner_text(timeout=3000)
    except Error as error:
        shows = f"nothing can be read: {error.message}"
    lines = [line for line in shows.splitlines() if line.strip()][: 2 * SHOWN]
    return "\n".join([page.url, *watched.said, "faults:", *watched.faults, "shows:", *lines])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        for page in _pages:
            report.sections.append(("page", told(page)))
        for server in _servers:
            lines = server.log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN:]
            report.sections.append((f"log of {server.url}", "\n".join(lines)))
    if call.when == "teardown":
        _pages.clear()
    return report
