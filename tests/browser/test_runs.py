"""The Runs page in a real browser: the table, what can be done with a run, hostile names, two languages, 390 px."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.conftest import ENDED, Server
from tests.support import wait_for

LONG = 2000  # steps: far more than any test waits for
HOSTILE = [
    "<style>body{display:none}</style>",
    "<img src=x onerror=\"document.title='owned'\">",
    "[x](javascript:alert(1)) \\[ i<j \\]",
    "{{value}} ${location}",
    "../../x",
    "CON",
    "한글 이름 " * 20,
    "rtl \u202egnp.exe",
]


@pytest.fixture
def api(server: Server) -> Iterator[Server]:
    """The server with no run at all, before and after. Asked for before `page`, so that the page closes first."""
    clear(server)
    yield server
    clear(server)


def clear(server: Server) -> None:
    for run in server.call("GET", "/api/runs")["runs"]:
        server.end(run["id"])
        server.call("DELETE", f"/api/runs/{run['id']}")


def find(server: Server, run_id: str) -> dict[str, Any] | None:
    return next((run for run in server.call("GET", "/api/runs")["runs"] if run["id"] == run_id), None)


def finished(server: Server, name: str, steps: int = 1) -> str:
    run_id = server.new_run(steps, name=name)
    assert server.wait_state(run_id, *ENDED) == "succeeded"
    return run_id


def running(server: Server, name: str = "") -> str:
    run_id = server.new_run(LONG, name=name)
    server.wait_state(run_id, "running")
    return run_id


def opened(page: Page, server: Server, lang: str = "en") -> Page:
    page.goto(f"{server.url}?tab=runs&lang={lang}")
    page.wait_for_selector(".r-page[data-ready]")
    return page


def row(page: Page, run_id: str):
    return page.locator(f'tr[data-run="{run_id}"]')


def test_an_empty_list_offers_the_quickstart(api: Server, page: Page) -> None:
    opened(page, api)
    expect(page.locator(".r-table")).to_be_hidden()
    page.click("#runs-quickstart")
    page.wait_for_function("document.body.dataset.tab === 'live'")
    (run,) = api.call("GET", "/api/runs")["runs"]
    assert run["preset"] == "quickstart"
    assert page.evaluate("new URLSearchParams(location.search).get('run')") == run["id"]


def test_a_run_is_stopped_resumed_and_deleted_from_its_row(api: Server, page: Page) -> None:
    run_id = running(api, "walk")
    opened(page, api)
    line = row(page, run_id)
    expect(line.locator(".r-open")).to_have_text("walk")
    expect(line.locator(".r-id")).to_have_text(run_id)
    expect(line.locator(".r-steps")).to_have_text(re.compile(r"[1-9]\d* of 2,000"))
    expect(line.locator(".r-reward .r-value")).to_have_text(re.compile(r"0\.\d+"))
    stop = line.locator("[data-action=stop]")
    expect(stop).to_have_text("Stop and keep checkpoint")
    stop.click()
    expect(line.locator(".badge")).to_have_attribute("data-state", "stopped")
    expect(line.locator("[data-action=stop]")).to_have_count(0)
    done = int(line.locator(".r-steps").inner_text().split()[0].replace(",", ""))
    line.locator("[data-action=resume]").click()
    expect(line.locator(".badge")).to_have_attribute("data-state", "running")
    expect(line.locator(".r-steps")).to_contain_text("attempt 2")
    expect(line.locator("[data-action=delete]")).to_have_count(0)  # not while it runs
    line.locator("[data-action=stop]").click()
    expect(line.locator(".badge")).to_have_attribute("data-state", "stopped")
    assert int(line.locator(".r-steps").inner_text().split()[0].replace(",", "")) >= done
    line.locator("[data-action=delete]").click()
    expect(page.locator("dialog.dialog[open]:not(.f-dialog)")).to_contain_text("walk")
    page.keyboard.press("Escape")
    assert find(api, run_id)
    line.locator("[data-action=delete]").click()
    page.click("dialog[open] .btn.danger")
    expect(page.locator("#studio-toasts")).to_contain_text("walk is deleted")  # first: it goes by itself
    expect(line).to_have_count(0)
    assert find(api, run_id) is None


def test_hostile_names_are_text_clipped_and_change_nothing(api: Server, page: Page) -> None:
    ids = {api.new_run(1, name=name): name for name in HOSTILE}
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        opened(page, api)
        for run_id, name in ids.items():
            link = row(page, run_id).locator(".r-open")
            assert (link.text_content() or "").strip() == name.strip().replace("\u202e", "[U+202E]")
            assert link.evaluate("(a) => a.getBoundingClientRect().width") < width / 1.5
            assert "javascript:" not in (link.get_attribute("href") or "")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.title") != "owned"
        assert page.evaluate("getComputedStyle(document.body).display") != "none"
        assert page.locator("#runs-root :is(img, style, script)").count() == 0


def test_sort_and_filter(api: Server, page: Page) -> None:
    first, second, third = (finished(api, name) for name in ("b", "c", "a"))
    opened(page, api)

    def order() -> list[str]:
        return page.evaluate("[...document.querySelectorAll('tr[data-run]')].map((r) => r.dataset.run)")

    assert order() == [third, second, first]
    page.click('[data-sort="name"]')
    assert order() == [third, first, second]
    expect(page.locator('th[data-column="name"]')).to_have_attribute("aria-sort", "ascending")
    page.click('[data-sort="name"]')
    assert order() == [second, first, third]
    page.fill("#runs-filter", second)
    assert order() == [second]
    expect(page.locator(".r-count")).to_have_text("1 of 3 runs")
    page.fill("#runs-filter", "nothing <b>like</b> this")
    expect(page.locator(".r-none")).to_contain_text("nothing <b>like</b> this")
    page.press("#runs-filter", "Escape")
    assert len(order()) == 3


def test_ticks_keep_rows_focus_and_open_text(api: Server, page: Page) -> None:
    run_id = running(api, "ticking")
    opened(page, api)
    line = row(page, run_id)
    line.locator("[data-action=stop]").focus()
    line.evaluate("(tr) => { tr.mark = 1; tr.querySelector('[data-action=stop]').mark = 1; }")
    before = line.locator(".r-steps").inner_text()
    expect(line.locator(".r-steps")).not_to_have_text(before)
    assert line.evaluate("(tr) => tr.mark") == 1
    assert page.evaluate("document.activeElement.mark") == 1


def test_a_hidden_page_asks_for_nothing(api: Server, page: Page) -> None:
    asked: list[str] = []
    pending: set[Request] = set()
    page.on("request", lambda request: asked.append(request.url))
    page.on("request", lambda request: pending.add(request))
    page.on("requestfinished", lambda request: pending.discard(request))
    page.on("requestfailed", lambda request: pending.discard(request))
    page.clock.install()
    opened(page, api)
    become = (
        "(state) => { Object.defineProperty(document, 'visibilityState', {get: () => state, configurable: true});"
        " document.dispatchEvent(new Event('visibilitychange')); }"
    )
    page.evaluate(become, "hidden")
    # What was asked before may still be on its way.
    wait_for(lambda: page.evaluate("0") == 0 and not any("/api/" in one.url for one in pending), 60, what="answers")
    asked.clear()
    page.clock.run_for(120_000)
    page.evaluate("0")
    assert [one for one in asked if "/api/" in one] == []
    with page.expect_request("**/api/runs"):
        page.evaluate(become, "visible")


def test_a_run_deleted_elsewhere_gives_a_message_and_no_error(api: Server, page: Page) -> None:
    run_id = finished(api, "gone soon")
    opened(page, api)
    line = row(page, run_id)
    expect(line).to_be_visible()
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.route("**/api/runs", lambda route: route.abort())  # this tab does not hear of it
    api.call("DELETE", f"/api/runs/{run_id}")
    expect(page.locator(".r-page > .notice")).to_be_visible()
    expect(line).to_be_visible()  # what was known stays, said to be old
    line.locator("[data-action=delete]").click()
    page.click("dialog[open] .btn.danger")
    expect(page.locator("#studio-toasts")).to_contain_text("not there any more")
    page.unroute("**/api/runs")
    expect(line).to_have_count(0)
    expect(page.locator("#runs-quickstart")).to_be_visible()


def test_an_answer_that_comes_late_does_not_bring_a_deleted_run_back(api: Server, page: Page) -> None:
    run_id = finished(api, "late")
    opened(page, api)
    held: list[Route] = []
    page.route("**/api/runs", lambda route: route.continue_() if held else held.append(route))
    wait_for(lambda: page.evaluate("0") == 0 and held, 60, what="a question of the poll, to be answered much later")
    old = api.call("GET", "/api/runs")
    row(page, run_id).locator("[data-action=delete]").click()
    page.click("dialog[open] .btn.danger")
    expect(row(page, run_id)).to_have_count(0)
    page.evaluate(
        "(id) => { window.back = 0; new MutationObserver(() => {"
        " if (document.querySelector(`tr[data-run='${id}']`)) window.back += 1; })"
        ".observe(document.body, {childList: true, subtree: true}); }",
        run_id,
    )
    with page.expect_request("**/api/runs"):  # the poll asks again once it has taken the answer in
        held[0].fulfill(json=old)
    assert page.evaluate("window.back") == 0


def test_a_queued_run_is_taken_out_of_the_queue(api: Server, page: Page) -> None:
    first = running(api)
    second = api.new_run(LONG, name="waiting")
    opened(page, api)
    expect(row(page, second).locator(".badge")).to_have_attribute("data-state", "queued")
    button = row(page, second).locator("[data-action=stop]")
    expect(button).to_have_text("Take out of the queue")
    button.click()
    expect(row(page, second).locator(".badge")).to_have_attribute("data-state", "stopped")
    expect(row(page, first).locator(".badge")).to_have_attribute("data-state", "running")


def test_the_table_is_used_with_the_keyboard_alone(api: Server, page: Page) -> None:
    run_id = finished(api, "keys")
    opened(page, api)
    page.focus('[data-sort="duration"]')
    page.keyboard.press("Enter")
    expect(page.locator('th[data-column="duration"]')).to_have_attribute("aria-sort", "descending")
    page.keyboard.press("Tab")
    expect(row(page, run_id).locator(".r-pick")).to_be_focused()
    page.keyboard.press("Tab")
    expect(row(page, run_id).locator(".r-open")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_function("document.body.dataset.tab === 'live'")
    assert page.evaluate("new URLSearchParams(location.search).get('run')") == run_id


def test_korean_is_whole_and_switches_without_a_reload(api: Server, page: Page) -> None:
    run_id = finished(api, "x")
    opened(page, api, lang="ko")
    expect(row(page, run_id).locator(".badge")).to_have_text("완료")
    expect(row(page, run_id).locator("[data-action=delete]")).to_have_text("삭제")
    expect(row(page, run_id).locator(".r-accuracy .r-accuracy")).to_have_text(re.compile(r"^\d+% → \d+%$"))
    page.click('#studio-header [data-lang="en"]')
    expect(row(page, run_id).locator("[data-action=delete]")).to_have_text("Delete")
    assert not re.search("[가-힣]", page.locator("#runs-root").inner_text())


def test_rows_are_cards_at_390_px(api: Server, page: Page) -> None:
    run_id = finished(api, "narrow")
    page.set_viewport_size({"width": 390, "height": 844})
    for lang in ("ko", "en"):
        opened(page, api, lang)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for part in (".r-open", ".badge", ".r-steps", "[data-action=open]", "[data-action=delete]"):
            expect(row(page, run_id).locator(part)).to_be_in_viewport(ratio=1)
