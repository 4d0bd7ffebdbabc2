"""A run that TRL made elsewhere, opened from the Runs page."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Server, leave
from tests.support import wait_for
from tests.unit.test_attaching import folder


def test_a_folder_is_opened_and_its_live_page_says_what_it_is(page: Page, server: Server, tmp_path: Path) -> None:
    page.goto(f"{server.url}?tab=runs&lang=en")
    page.wait_for_selector(".r-page[data-ready]")
    page.click("#runs-attach")
    expect(page.locator("#attach-path")).to_be_focused()
    page.fill("#attach-path", str(tmp_path / "nowhere"))
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.click("#attach-go")
    said = page.locator("#attach-form [role=status]")
    expect(said).to_contain_text(str(tmp_path / "nowhere"), timeout=60_000)
    expect(page.locator("#attach-go")).to_be_enabled()
    assert "Reading" not in said.inner_text()
    expect(page.locator("#attach-path")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#attach-path")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#attach-form")).to_be_hidden()
    expect(page.locator("#runs-attach")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    page.keyboard.type("x")
    expect(page.locator("#attach-path")).not_to_have_attribute("aria-invalid", "true")
    page.watched.expect_failures = False  # type: ignore[attr-defined]
    name = "math <b>run</b>"
    page.fill("#attach-path", str(folder(tmp_path / "out", steps=4)))
    page.fill("#attach-name", name)
    page.fill("#attach-every", "3")
    page.click("#attach-go")
    page.wait_for_function("document.body.dataset.tab === 'live'")
    run = page.evaluate("new URLSearchParams(location.search).get('run')")
    expect(page.locator("#live-name")).to_have_text(name)
    found_steps = {group["step"] for group in server.call("GET", f"/api/runs/{run}/samples?limit=64")["groups"]}
    assert found_steps == {1, 3, 4}, "of four steps every third, and the first and last"
    expect(page.locator("#live-kind")).to_have_text("Trained elsewhere")

    def agreed() -> bool:  # both move on once the run is judged
        said = server.call("GET", f"/api/runs/{run}/headline")["text"]["en"]
        return page.locator("#live-headline").text_content() == said

    wait_for(agreed, 60, every=0.2, what="the page to say what the server says")
    page.wait_for_selector("#chart-reward .plotly, #chart-reward.js-plotly-plot")
    page.click("#language-switch [data-lang=ko]")
    expect(page.locator("#live-kind")).to_have_text("외부에서 학습")
    leave(page)
    server.call("DELETE", f"/api/runs/{run}")


def test_reading_says_how_far_it_is_and_can_be_stopped(page: Page, server: Server) -> None:
    job = {"job": "j", "state": "running", "done": 1, "total": 4, "answer": None, "error": None}
    job["what"] = {"en": "reading the folder", "ko": "폴더를 읽는 중"}

    def answer(route: Route) -> None:
        if route.request.url.endswith("/api/attach/jobs/j/stop"):
            job["state"] = "stopped"
        route.fulfill(json=job)

    page.route("**/api/attach**", answer)
    page.goto(f"{server.url}?tab=runs&lang=en")
    page.wait_for_selector(".r-page[data-ready]")
    page.click("#runs-attach")
    page.fill("#attach-path", "/long")
    page.click("#attach-go")
    expect(page.locator(".r-attach-going")).to_contain_text("reading the folder: 1 of 4 files")
    assert page.locator(".r-attach-going i").evaluate("(bar) => bar.style.width") == "25%"
    page.click("#attach-stop")
    expect(page.locator("#attach-form [role=status]")).to_have_text("Stopped. Nothing was taken in.")
    expect(page.locator(".r-attach-going")).to_be_hidden()
    expect(page.locator("#attach-go")).to_be_enabled()
