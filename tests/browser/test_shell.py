"""The frame, and the guard in front of it, over HTTP as an attacker would send it."""

from __future__ import annotations

import http.client
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server


def ask(server: Server, method: str, path: str, body: str | None = None, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, {"Content-Type": "application/json", **given})
    return connection.getresponse()


@pytest.mark.parametrize("path", ["/", "/api/runs", "/static/js/app.js", "/gradio_api/info", "/config"])
def test_a_foreign_host_gets_nothing(server: Server, path: str) -> None:
    assert ask(server, "GET", path, Host="evil.example").status == 421
    assert ask(server, "GET", path, Host=f"evil.example:{server.port}").status == 421
    assert ask(server, "GET", path, Host=f"127.0.0.1:{server.port + 1}").status == 421
    assert ask(server, "GET", path, Host=f"localhost:{server.port}").status in {200, 404}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/runs"),
        ("POST", "/api/check"),
        ("POST", "/gradio_api/queue/join"),
        ("GET", "/gradio_api/info"),
        ("GET", "/api/runs"),
    ],
)
def test_a_foreign_origin_is_refused(server: Server, method: str, path: str) -> None:
    body = "{}" if method == "POST" else None
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}", "http://localhost"):
        assert ask(server, method, path, body, Origin=origin).status == 403, origin
    for site in ("cross-site", "same-site"):
        assert ask(server, method, path, body, Sec_Fetch_Site=site).status == 403, site
    same = ask(server, method, path, body, Origin=f"http://127.0.0.1:{server.port}", Sec_Fetch_Site="same-origin")
    assert same.status not in {403, 421}


def test_a_link_from_elsewhere_opens_the_page_but_no_endpoint(server: Server) -> None:
    visit = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert ask(server, "GET", "/?tab=live", **visit).status == 200
    assert ask(server, "GET", "/api/runs", **visit).status == 403
    assert ask(server, "POST", "/", "{}", **visit).status == 403


@pytest.mark.parametrize("path", ["/", "/api/runs", "/api/runs/none", "/static/css/base.css", "/nothing"])
def test_every_answer_carries_the_policy(server: Server, path: str) -> None:
    answer = ask(server, "GET", path)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"


def test_static_files_cannot_be_left(server: Server) -> None:
    for path in ("/static/../layout.py", "/static/%2e%2e/layout.py", "/static/..%2f..%2fapp.py", "/static//etc/passwd"):
        assert ask(server, "GET", path).status == 404, path


def test_errors_are_json_in_both_languages(server: Server) -> None:
    for method, path, status in (
        ("GET", "/api/runs/20200101-000000-aaaa", 404),
        ("GET", "/api/runs/..%2f..%2fx", 404),
        ("GET", "/api/runs/20200101-000000-aaaa/live?after=x", 422),
        ("POST", "/api/check", 422),
    ):
        answer = ask(server, method, path, "[1" if method == "POST" else None)
        text = answer.read().decode()
        assert answer.status == status, text
        if answer.headers["Content-Type"] == "application/json":
            assert '"ko"' in text
        assert "Traceback" not in text


def test_header_pages_and_address(page: Page, server: Server) -> None:
    page.goto(server.url)
    page.wait_for_selector(".studio-header nav a")
    names = page.locator(".studio-header nav a").all_inner_texts()
    assert names == [
        "Runs", "New run", "Live", "Samples", "Evaluate", "Compare", "Sweeps", "Chat", "Rewards", "Data",
    ]  # fmt: skip
    for tab in ("new", "live", "runs"):
        page.click(f"#nav-{tab}")
        page.wait_for_selector(f"#page-{tab}", state="visible")
        assert page.locator(".page:visible").count() == 1
        assert f"tab={tab}" in page.evaluate("location.search")
    page.go_back()
    page.wait_for_selector("#page-live", state="visible")
    assert page.locator("#nav-live").get_attribute("aria-current") == "page"


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_every_page_of_the_header_can_be_reached_at_every_width(
    page: Page, server: Server, width: int, language: str
) -> None:
    """From 1024 px on all of them are seen at once; on a telephone the row is scrolled, and the open page is in it."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{server.url}?tab=data&lang={language}")
    page.wait_for_selector("#nav-data[aria-current=page]")
    nav = page.locator(".studio-header nav")
    page.wait_for_function(
        "() => { const a = document.getElementById('nav-data').getBoundingClientRect(); "
        "return a.left >= 0 && a.right <= innerWidth; }"
    )
    assert nav.evaluate("nav => nav.scrollWidth - nav.clientWidth") == 0 or width == 390
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    tops = page.locator(".studio-header nav a").evaluate_all("all => all.map(a => a.offsetTop)")
    assert len(set(tops)) == 1


def test_theme_is_switched_in_place_and_remembered(page: Page, server: Server) -> None:
    page.goto(f"{server.url}?tab=live")
    page.wait_for_selector("#theme-switch")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme-switch")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.reload()
    page.wait_for_selector("#theme-switch")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("document.body.classList.contains('dark')")


def test_focus_is_visible_from_the_keyboard(page: Page, server: Server) -> None:
    page.goto(f"{server.url}?tab=live")
    page.wait_for_selector("#start-quickstart")
    outlines = []
    for _ in range(16):  # the header, then the button of the page
        page.keyboard.press("Tab")
        outlines.append(
            page.evaluate("[document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]")
        )
    reached = {name for name, style in outlines if style == "solid"}
    assert {"nav-live", "nav-runs", "theme-switch", "start-quickstart"} <= reached, outlines


def test_demo_starts_the_quickstart_and_opens_on_it(page: Page, server: Server, tmp_path: Path) -> None:
    demo = Server(tmp_path / "home", server.port, "--demo").start()
    try:
        printed = demo.log.read_text(encoding="utf-8")
        assert printed.count("http://") == 1
        assert f"Port {server.port} is taken, so this one listens on {demo.port}." in printed
        page.goto(demo.opens_on)
        expect(page.locator("#live-name")).to_have_text(re.compile("^quickstart"))
        (run,) = demo.call("GET", "/api/runs")["runs"]
        demo.end(run["id"])
        page.goto("about:blank")  # it would go on asking a server that is about to end
    finally:
        assert demo.process is not None
        demo.process.terminate()
        assert demo.process.wait(120) == 0
