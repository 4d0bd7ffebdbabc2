"""The Sweeps page: a sweep of four from the form to its finished table; refusals; stopping and resuming as one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Server
from tests.browser.test_access import SPILLS, serious
from tests.support import wait_for

LONG = 5000  # steps: a run that no test waits for


@pytest.fixture
def api(server: Server) -> Iterator[Server]:
    """The server without runs and sweeps, before and after. Asked for before `page`, so that the page closes first."""
    clear(server)
    yield server
    clear(server)


def clear(server: Server) -> None:
    for run in server.call("GET", "/api/runs")["runs"]:
        server.end(run["id"])
        server.call("DELETE", f"/api/runs/{run['id']}")
    for sweep in server.call("GET", "/api/sweeps")["sweeps"]:
        server.call("DELETE", f"/api/sweeps/{sweep['id']}")


def begin(server: Server, steps: int, **sweep: Any) -> dict[str, Any]:
    """A sweep over the API; the audit's warnings are passed over."""
    asked = {"preset": "quickstart", "values": {"max_steps": steps}, **sweep}
    return server.call("POST", "/api/sweeps", {"sweep": asked, "accept": ["all"]})


def finished(server: Server, sweep: str) -> dict[str, Any]:
    wait_for(lambda: server.call("GET", f"/api/sweeps/{sweep}")["can"]["delete"], 300, 0.3, what="the sweep to end")
    return server.call("GET", f"/api/sweeps/{sweep}")


def opened(page: Page, server: Server, query: str, lang: str = "en") -> None:
    page.goto(f"{server.url}?tab=sweeps&lang={lang}{query}")
    page.locator("#sweeps-root h1:visible, #sweeps-root h2:visible").first.wait_for()


def test_a_sweep_of_four_from_the_form_to_the_finished_table(api: Server, page: Page) -> None:
    opened(page, api, "")
    page.click("#sweeps-first")
    expect(page.locator("#sweeps-start")).to_be_disabled()
    expect(page.locator("#sweeps-why")).to_have_text("Nothing to vary yet.")
    page.click("#sweeps-form [data-add=loss_type]")
    for loss in ("grpo", "dapo"):
        page.locator("[data-axis=loss_type] label", has_text=re.compile(f"^{loss}$")).click()
    page.fill("#sw-search", "sampling temp")
    page.fill("#sw-search", "temperature")
    page.locator(".sw-found [data-add=temperature]").click()
    page.fill("#sw-f-temperature", "0.8, 1.2")
    expect(page.locator("#sweeps-plan strong")).to_have_text("4 runs")
    # One value is set for every run.
    page.fill("#sw-search", "max_steps")
    page.locator(".sw-found [data-add=max_steps]").click()
    page.fill("#sw-f-max_steps", "6")
    expect(page.locator("#sweeps-plan")).to_contain_text("4 settings")
    expect(page.locator("#sweeps-plan")).to_contain_text(re.compile(r"about \d+:\d\d"))
    expect(page.locator("#sweeps-start")).to_have_text("Start 4 runs")
    page.click("#sweeps-start")
    page.locator("#sweep-name, #sweeps-anyway").locator("visible=true").first.wait_for()
    if page.locator("#sweeps-anyway").is_visible():  # the audit warns of the preset's rewards: seen, and passed over
        page.click("#sweeps-anyway")
    page.locator("#sweep-name").wait_for()
    expect(page.locator("#sweep-table tbody tr[data-setting]")).to_have_count(4)
    sweep = page.evaluate("new URLSearchParams(location.search).get('sweep')")
    done = finished(api, sweep)
    expect(page.locator(".sw-top .badge")).to_have_attribute("data-state", "succeeded")
    expect(page.locator("#sweep-counts")).to_have_text("4 finished")
    expect(page.locator("#sweep-best")).to_contain_text("Not distinguishable")
    row = page.locator("tr[data-setting='3']")
    expect(row.locator(".sw-setting")).to_have_text("loss_type=grpo, temperature=1.2")
    accuracy = done["settings"][3]["accuracy"]
    expect(row.locator(".sw-c-accuracy .sw-value")).to_have_text(f"{100 * accuracy['value']:.1f}%")
    expect(row.locator(".sw-c-accuracy .sw-interval")).to_have_text(
        f"{100 * accuracy['low']:.1f} to {100 * accuracy['high']:.1f}"
    )
    # By one measure: the highest first, the lowest first, and as the grid has it.
    order = "all => all.map(e => +e.dataset.setting)"
    seconds = [one["seconds"]["value"] for one in done["settings"]]
    for way, sign in (("descending", -1), ("ascending", 1)):
        page.click("#sweep-table [data-sort=seconds]")
        expect(page.locator("#sweep-table th[aria-sort]")).to_have_attribute("aria-sort", way)
        assert page.locator("#sweep-table tr[data-setting]").evaluate_all(order) == sorted(
            range(4), key=lambda at: sign * seconds[at]
        )
    page.click("#sweep-table [data-sort=seconds]")
    assert page.locator("#sweep-table tr[data-setting]").evaluate_all(order) == [0, 1, 2, 3]
    # What reads alike is drawn alike, and no scale of colours goes from a figure to the same.
    assert len({one["accuracy"]["value"] for one in done["settings"]}) == 1
    expect(page.locator("#sweep-plot .sw-scale")).to_be_hidden()
    # A row that is pointed at is followed in the plot.
    expect(page.locator("#sweep-plot .sw-line")).to_have_count(4)
    row.hover()
    expect(page.locator("#sweep-plot .sw-line[data-setting='3']")).to_have_attribute("data-marked", "")
    expect(page.locator("#sweep-plot .sw-line[data-setting='0']")).to_have_attribute("data-faded", "")
    assert serious(page) + page.evaluate(SPILLS) == []
    compare = page.locator("#sweep-compare").get_attribute("href") or ""
    assert all(one["run"]["id"] in compare for one in done["rows"])
    with page.expect_download() as download:
        page.click("#sweep-csv")
    assert len(download.value.path().read_text(encoding="utf-8").splitlines()) == 5
    row.locator(".sw-run").click()
    page.wait_for_function("document.body.dataset.tab === 'live'")
    assert page.evaluate("new URLSearchParams(location.search).get('run')") == done["rows"][3]["run"]["id"]


def test_points_that_break_a_rule_are_named_with_what_would_do_and_can_be_left_out(api: Server, page: Page) -> None:
    opened(page, api, "&sweep=new")
    page.click("#sweeps-form [data-add=num_generations]")
    page.fill("#sw-f-num_generations", "4, 8, 7")
    rule = page.locator("#sweeps-refused .sw-rule")
    expect(rule).to_have_count(1)
    expect(rule.locator("code").first).to_have_text("num_generations=7")
    expect(rule).to_contain_text("must divide the generation batch, which is 64 x 1 = 64")
    expect(page.locator("#sweeps-start")).to_be_disabled()
    expect(page.locator("#sweeps-why")).to_contain_text("break a rule")
    page.check("#sw-leave-out")
    expect(page.locator("#sweeps-start")).to_have_text("Start 2 runs")
    expect(page.locator("#sweeps-start")).to_be_enabled()
    page.uncheck("#sw-leave-out")
    # What would do takes the refused value's place.
    page.fill("#sw-f-num_generations", "4, 16, 7")
    page.wait_for_selector(".sw-planned:not([data-stale])")  # the rules that stand are those of these values
    expect(page.locator("#sweeps-start")).to_be_disabled()
    page.locator(".sw-rule [data-use=num_generations]", has_text=re.compile("^8$")).click()
    expect(page.locator("#sw-f-num_generations")).to_have_value("4, 16, 8")
    expect(page.locator("#sweeps-start")).to_be_enabled()
    page.watched.expect_failures = True  # type: ignore[attr-defined]  # the refusal is an answer of 422
    page.fill("#sw-f-num_generations", "4, 4")
    expect(page.locator("#sw-f-num_generations-error")).to_contain_text("is given twice")


def test_two_presses_on_start_all_the_same_are_one_sweep(api: Server, page: Page) -> None:
    opened(page, api, "&sweep=new")
    page.click("#sweeps-form [data-add=temperature]")
    page.fill("#sw-f-temperature", "0.8, 1.2")
    expect(page.locator("#sweeps-start")).to_have_text("Start 2 runs")
    page.watched.expect_failures = True  # type: ignore[attr-defined]  # the refusal is an answer of 422
    warns = [{"id": "slow", "words": {"en": "Slow.", "ko": "느립니다."}}]
    refused = {"error": {"en": "no", "ko": "아니요"}, "preflight": {"stops": [], "warns": warns}}
    page.route(
        "**/api/sweeps",
        lambda route: route.fulfill(status=422, json=refused) if route.request.method == "POST" else route.continue_(),
    )
    page.click("#sweeps-start")
    page.locator("#sweeps-anyway").wait_for()
    page.unroute("**/api/sweeps")
    page.locator("#sweeps-anyway").evaluate("(button) => { button.click(); button.click(); }")
    page.locator("#sweep-name").wait_for()
    assert len(api.call("GET", "/api/sweeps")["sweeps"]) == 1


def test_a_sweep_is_stopped_and_resumed_on_its_page_and_folds_on_runs(api: Server, page: Page) -> None:
    made = begin(api, LONG, sweep={"temperature": [0.8, 1.0, 1.2]}, name="walk <b>x</b>")
    first = made["rows"][0]["run"]["id"]
    api.wait_state(first, "running")
    page.goto(f"{api.url}?tab=runs&lang=en")
    page.wait_for_selector(".r-page[data-ready]")
    expect(page.locator(".r-table tbody tr")).to_have_count(1)
    group = page.locator("tr[data-kind=sweep]")
    expect(group).to_contain_text("Sweep · 3 runs")
    # In runs: what waits in the queue does not say how many steps it will take.
    expect(group.locator(".r-steps")).to_have_text(re.compile(r"^[0-3] of 3 ended$"))
    group.locator("[data-action=fold]").click()
    expect(page.locator("tr[data-under]")).to_have_count(3)
    last = page.locator("tr[data-under]").last
    expect(last.locator(".r-stage")).to_have_text("2 of 2 in the queue")
    last.locator("[data-action=next]").click()
    expect(last.locator(".r-stage")).to_have_text("1 of 2 in the queue")
    group.locator("[data-action=sweep]").click()
    expect(page.locator("#sweep-name")).to_have_text("walk <b>x</b>")
    page.click("#sweep-stop")
    page.locator("#sweep-resume").wait_for()  # the runs save first
    finished(api, made["id"])
    expect(page.locator(".sw-top .badge")).to_have_attribute("data-state", "stopped")
    page.click("#sweep-resume")
    expect(page.locator("#sweep-stop")).to_be_visible()
    runs = [row["run"]["id"] for row in made["rows"]]
    wait_for(lambda: any(api.state(run) == "running" for run in runs), 120, 0.2, what="a run to go on")
    page.click("#sweep-stop")
    finished(api, made["id"])
    page.click("#sweep-delete")
    page.locator(".dialog .btn.danger").click()
    expect(page.locator("#sweeps-none")).to_be_visible()
    assert len(api.call("GET", "/api/runs")["runs"]) == 3


def held(page: Page, address: str) -> Route:
    """A look of the page at the sweep, whose answer is on its way for as long as the test likes."""
    waiting: list[Route] = []
    page.route(address, lambda route: route.continue_() if waiting else waiting.append(route))
    wait_for(lambda: page.evaluate("0") == 0 and waiting, 60, what="a look")
    return waiting[0]


def test_a_look_that_comes_late_offers_nothing_again_and_finds_nothing_gone(api: Server, page: Page) -> None:
    made = begin(api, LONG, sweep={"temperature": [0.8, 1.2]})
    address = f"{api.url}api/sweeps/{made['id']}"
    opened(page, api, f"&sweep={made['id']}")
    expect(page.locator("#sweep-stop")).to_be_visible()
    look = held(page, address)
    old = api.call("GET", f"/api/sweeps/{made['id']}")
    page.click("#sweep-stop")
    expect(page.locator("#sweep-stop")).to_have_count(0)
    page.evaluate(
        "() => { window.back = 0; new MutationObserver(() => {"
        " if (document.getElementById('sweep-stop')) window.back += 1; })"
        ".observe(document.body, {childList: true, subtree: true}); }"
    )
    with page.expect_request(address):  # the next look: the late answer was taken in
        look.fulfill(json=old)
    assert page.evaluate("window.back") == 0, "a second press would end it without saving"
    finished(api, made["id"])
    expect(page.locator("#sweep-delete")).to_be_visible()
    look = held(page, address)
    old = api.call("GET", f"/api/sweeps/{made['id']}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method))
    page.click("#sweep-delete")
    page.locator(".dialog .btn.danger").click()
    page.evaluate("new Promise((done) => setTimeout(done))")
    assert "DELETE" not in asked, "a look that is answered after it would be told that there is no such sweep"
    look.fulfill(json=old)
    expect(page.locator("#sweeps-none")).to_be_visible()
    assert asked.count("DELETE") == 1


def test_a_run_can_be_the_base_and_390_px_are_enough(api: Server, page: Page) -> None:
    base = api.new_run(2, name="base", temperature=0.7)
    api.wait_state(base, "succeeded")
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, api, f"&sweep=new&from={base}", "ko")
    expect(page.locator("#sw-which")).to_have_value(base)
    page.click("#sweeps-form [data-add=temperature]")
    expect(page.locator("[data-axis=temperature] .sw-f-base")).to_contain_text("0.7")
    page.fill("#sw-f-temperature", "0.7, 1.1")
    expect(page.locator("#sweeps-plan strong")).to_have_text("실행 2개")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    made = begin(api, 2, sweep={"temperature": [0.8, 1.2]})
    finished(api, made["id"])
    opened(page, api, f"&sweep={made['id']}", "ko")
    expect(page.locator("tr[data-setting='1'] .sw-c-accuracy .sw-value")).to_be_visible()
    expect(page.locator("#sweep-plot")).to_be_hidden()
    page.click("#theme-switch")
    assert serious(page) + page.evaluate(SPILLS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
