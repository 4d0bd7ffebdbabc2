"""States of the live page that are not the happy one: no run, a deleted run, a failed run, NaN in the curves."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("crash") / "home"
    running = Server(home, 7980, FAKE_CRASH_AT="9", FAKE_NAN_AT="5", FAKE_STEP_S="0.02").start()
    yield running
    running.stop()


def test_without_a_run_the_quickstart_is_one_press_away(page: Page, server: Server) -> None:
    page.goto(f"{server.url}?tab=live")
    page.click("#start-quickstart")
    page.wait_for_function("new URLSearchParams(location.search).get('run')")
    run = page.evaluate("new URLSearchParams(location.search).get('run')")
    page.wait_for_selector("#live-view:not([hidden])")
    expect(page.locator("#live-name")).to_contain_text(re.compile("^quickstart"))
    server.end(run)


def test_a_run_that_is_gone_is_said(page: Page, server: Server) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]  # the 404 is what is tested
    page.goto(f"{server.url}?tab=live&run=20200101-000000-aaaa")
    expect(page.locator("#live-empty h2")).to_have_text("This run is no longer here")


def test_a_failed_run_says_why_and_marks_what_was_not_a_number(page: Page, crashing: Server) -> None:
    run = crashing.new_run(steps=30)
    crashing.wait_state(run, "failed")
    page.goto(f"{crashing.url}?tab=live&run={run}")
    page.wait_for_selector("#live-banner [data-level=error]")
    said = page.locator("#live-banner").inner_text()
    assert said.startswith("Failed: ")
    assert "Traceback" not in said
    page.click("#language-switch [data-lang=ko]")
    expect(page.locator("#live-banner")).to_contain_text(re.compile("^실패: "))
    page.locator("[data-panel=optim]").scroll_into_view_if_needed()
    marks = "document.getElementById('chart-optim').data?.filter(t => t.uid.startsWith('bad-')).map(t => [t.x, t.text])"
    # It may have been drawn in English before: a chart follows the language a frame later.
    page.wait_for_function(f"JSON.stringify({marks} ?? []).includes('손실')")
    assert page.evaluate(marks) == [[[5], ["손실: NaN"]]]
    loss = page.evaluate("document.getElementById('chart-optim').data.find(t => t.uid === 'optim-loss').y[4]")
    assert loss is None, "a gap stays a gap"


def test_a_tied_group_shows_no_advantage_by_rounding(server: Server, page: Page) -> None:
    """Eight totals of 1.2 leave advantages of 1e-7 in float32. The page must not draw them as signal."""
    run = server.new_run(steps=3)
    server.wait_state(run, "succeeded")
    one = {"text": "12", "tokens": 3, "truncated": False, "rewards": [1.0, 1.0], "total": 1.2000000476837158}
    group = {
        "id": 1, "step": 3, "phase": "train", "prompt": "5+7", "prompt_format": "text", "ground_truth": "12",
        "reward_names": ["accuracy", "format"], "completions": [{**one, "advantage": 1.19e-7}] * 8,
    }  # fmt: skip
    page.route("**/samples?*", lambda route: route.fulfill(json={"groups": [group]}))
    page.goto(f"{server.url}?run={run}&tab=live&lang=en")
    page.locator("#live-groups").scroll_into_view_if_needed()
    page.wait_for_selector("#live-groups .tied")
    assert set(page.locator("#live-groups .cell-advantage .num").all_inner_texts()) == {"0"}
    assert {bar.evaluate("b => b.style.width") for bar in page.locator("#live-groups .advantage-bar i").all()} == {"0%"}


def test_copying_a_completion_gives_the_original(server: Server, page: Page) -> None:
    """gradio#10454: every character is visible, and what is copied is what the model wrote."""
    text = "<think>a</think><answer>7</answer> x<y and y>z \\[ i<j \\] \u202edrow\x1b[31m 한글"
    run = server.new_run(steps=3)
    server.wait_state(run, "succeeded")
    one = {"text": text, "tokens": 3, "truncated": False, "rewards": [1.0, 1.0], "total": 1.2, "advantage": 0.0}
    group = {
        "id": 1, "step": 3, "phase": "train", "prompt": "5+7", "prompt_format": "text", "ground_truth": "12",
        "reward_names": ["accuracy", "format"], "completions": [one],
    }  # fmt: skip
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.route("**/samples?*", lambda route: route.fulfill(json={"groups": [group]}))
    page.goto(f"{server.url}?run={run}&tab=live&lang=en")
    page.locator("#live-groups").scroll_into_view_if_needed()
    page.wait_for_selector("#live-groups .copy")
    shown = page.locator("#live-groups .cell-text .exact").inner_text()
    assert "<think>a</think><answer>7</answer> x<y and y>z \\[ i<j \\]" in shown
    page.locator("#live-groups .completion").last.hover()
    page.locator("#live-groups .cell-text .copy").click()
    expect(page.locator("#studio-toasts .notice")).to_be_visible()  # it is said after it was copied
    assert page.evaluate("navigator.clipboard.readText()") == text
