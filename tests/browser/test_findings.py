"""Findings on Live, over a recorded run of real training whose reward was hacked: what is seen, its samples, its change
in a new run, and its span on the charts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from backend.settings import PROJECT, Settings
from storage.db import Database
from storage.portable import load
from tests.browser.conftest import Server, open_page

HANGUL = re.compile("[가-힣]")


@pytest.fixture(scope="module")
def hacked(server: Server) -> Iterator[str]:
    """A run that has no report: it is judged when the page asks."""
    db = Database(Settings(server.home).database_url)
    yield load(db, PROJECT / "configs" / "recordings" / "hacked.jsonl.gz")
    db.close()


@pytest.fixture(scope="module")
def other(server: Server) -> str:
    """A short run that has ended."""
    run = server.new_run(2)
    server.wait_state(run, "succeeded")
    return run


def since(server: Server, run: str, finding: str = "A2") -> int:
    """Where the report says that it began: the step itself is the rules' affair, and tested there."""
    findings = server.call("GET", f"/api/runs/{run}/diagnosis")["findings"]
    return next(one["since_step"] for one in findings if one["id"] == finding)


def opened(page: Page, server: Server, run: str, lang: str = "en", more: str = "") -> Page:
    page.goto(f"{server.url}?run={run}&tab=live&lang={lang}{more}")
    expect(page.locator("#live-findings")).to_contain_text(re.compile(r"\d+ findings?|진단 \d+건"))
    return page


def test_the_sentence_and_the_findings_agree_and_show_their_numbers(page: Page, server: Server, hacked: str) -> None:
    opened(page, server, hacked)
    expect(page.locator("#live-headline")).to_contain_text(
        "Did not learn: the reward rises, right answers do not", timeout=60_000
    )
    assert page.locator("#findings").is_hidden()
    page.click("#live-findings")
    first = page.locator("#findings .fi-list > .fi-one").first
    assert first.get_attribute("data-finding") == "A2"
    assert first.get_attribute("data-severity") == "critical"
    assert "Critical" in first.locator(".fi-severity").inner_text()
    assert f"since step {since(server, hacked)}" in first.locator("header").inner_text()
    assert "100% → 18%" in first.inner_text()
    assert first.locator(".fi-causes li").count() >= 1
    first.locator("summary", has_text="Numbers").click()
    assert first.locator(".fi-evidence tr").count() > 1
    # What is counted is whole.
    rows = first.locator(".fi-evidence tr", has_text="held_out_rows")
    assert rows.locator("td").inner_text() == "256"
    # What another one explains is folded away, and says by what it is explained.
    page.locator(".fi-symptoms > summary").click()
    expect(page.locator(".fi-symptoms [data-finding=H1]")).to_contain_text("explained by A2")
    page.click("#live-findings")
    assert page.locator("#findings").is_hidden()


def test_both_languages_without_a_reload_and_no_overflow_on_a_telephone(
    browser: Browser, server: Server, hacked: str
) -> None:
    page = open_page(browser, viewport={"width": 390, "height": 900})
    opened(page, server, hacked, "ko")
    page.click("#live-findings")
    assert HANGUL.search(page.locator("[data-finding=A2] h3").inner_text())
    assert "심각" in page.locator("[data-finding=A2] .fi-severity").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.click("#language-switch [data-lang=en]")
    assert page.locator("[data-finding=A2] h3").inner_text() == "The reward rises, right answers do not"
    assert not page.watched.faults  # type: ignore[attr-defined]
    page.context.close()


def test_a_sample_opens_on_its_page(page: Page, server: Server, hacked: str) -> None:
    opened(page, server, hacked)
    page.click("#live-findings")
    link = page.locator("[data-finding=A2] .fi-sample").first
    place = re.search(r"step (\d+), group (\d+)", link.inner_text())
    assert place is not None
    link.click()
    page.wait_for_url(re.compile(r"tab=samples"))
    assert re.search(rf"[?&]step={place[1]}(&|$)", page.url)
    group = re.search(r"[?&]group=(\d+)", page.url)
    assert group is not None
    of_step = server.call("GET", f"/api/runs/{hacked}/samples?step={place[1]}&limit=64")["groups"]
    assert int(group[1]) == sorted(one["id"] for one in of_step)[int(place[2]) - 1]


def test_a_sample_of_one_answer_opens_with_that_answer_marked(page: Page, server: Server, hacked: str) -> None:
    opened(page, server, hacked)
    page.click("#live-findings")
    page.locator(".fi-symptoms > summary").click()
    link = page.locator("[data-finding=H1] .fi-sample").first
    place = re.search(r"answer (\d+)", link.inner_text())
    assert place is not None
    link.click()
    expect(page.locator(".s-card[data-picked]")).to_have_attribute("data-index", str(int(place[1]) - 1))


def test_a_finding_marks_its_span_on_the_charts_it_speaks_of(page: Page, server: Server, hacked: str) -> None:
    opened(page, server, hacked)
    page.wait_for_function("document.querySelector('#chart-reward')?.layout?.shapes?.length >= 2")
    shapes = page.evaluate("document.querySelector('#chart-reward').layout.shapes.map((s) => [s.type, s.x0, s.x1])")
    assert ["rect", since(server, hacked), 120] in shapes
    named = page.evaluate("document.querySelector('#chart-reward').layout.annotations.map((a) => a.text)")
    assert "A2" in named
    assert "H1" not in named, "what another finding explains would only darken the same steps"


def test_a_change_is_applied_to_a_new_run_that_has_it(page: Page, server: Server, hacked: str) -> None:
    opened(page, server, hacked)
    page.click("#live-findings")
    page.locator("[data-finding=A2] .fi-apply").click()
    expect(page.locator(".f-notice")).to_contain_text("with the change of A2")
    assert "from=" not in page.url, "a reload must not lay the change over what the person does next"
    assert page.locator("[data-applied]").count() >= 1
    assert page.locator("[data-field=rewards]").get_attribute("data-applied") is not None
    page.wait_for_selector("#f-start:not([disabled])")
    page.watched.expect_failures = True  # type: ignore[attr-defined]  # the checks before a start may ask first
    page.click("#f-start")
    page.wait_for_selector("#f-anyway, #live-view:not([hidden])")
    if page.locator("#f-anyway").is_visible():
        page.click("#f-anyway")
    page.wait_for_function("(old) => new URLSearchParams(location.search).get('run') !== old", arg=hacked)
    started = re.search(r"[?&]run=([\w-]+)", page.url)
    assert started is not None
    new, old = (server.call("GET", f"/api/runs/{run}")["config"] for run in (started[1], hacked))
    server.end(started[1])
    assert new["rewards"] == ["accuracy", "format", "length"]
    assert old["rewards"] == ["format", "length"]
    other = {"rewards", "reward_weights", "reward_versions", "name", "dataset_sha256"}
    assert {k: v for k, v in new.items() if k not in other} == {k: v for k, v in old.items() if k not in other} | {
        k: new[k] for k in new if k not in old
    }


def test_a_run_in_the_list_tells_how_many_findings_stand(page: Page, server: Server, hacked: str) -> None:
    opened(page, server, hacked)  # it is judged by now
    page.goto(f"{server.url}?tab=runs&lang=en")
    expect(page.locator(".r-findings:visible").first).to_contain_text("▲")


def test_a_link_does_not_say_where_alerts_go(page: Page, server: Server, hacked: str) -> None:
    """Anybody may send a link; what belongs to a run alone is not set by one."""
    changes = [{"field": "alert_webhook", "to": "https://evil.example/x"}, {"field": "beta", "to": 0.5}]
    change = quote(json.dumps(changes))
    page.goto(f"{server.url}?tab=new&lang=en&from={hacked}&change={change}")
    expect(page.locator(".f-notice")).to_contain_text("alert_webhook is not taken over from a link")
    assert page.locator("[data-applied]").evaluate_all("(all) => all.map((one) => one.dataset.field)") == ["beta"]
    assert "evil" not in page.locator("[data-field=alert_webhook]").inner_html()


def test_the_findings_of_a_run_that_was_opened_meanwhile_are_shown(
    page: Page, server: Server, hacked: str, other: str
) -> None:
    """The answer of the run before comes late: the run that is open now is asked for all the same."""
    opened(page, server, hacked)  # judged by now
    held: list[Route] = []
    page.route(f"**/api/runs/{other}/diagnosis", lambda route: held.append(route))
    with page.expect_request(f"**/api/runs/{other}/diagnosis"):
        page.goto(f"{server.url}?run={other}&tab=live&lang=en")
    page.evaluate(f"import('/static/js/state.js').then((m) => m.set({{run: '{hacked}'}}))")
    expect(page.locator("#live-headline")).to_contain_text("Did not learn")
    held[0].continue_()
    expect(page.locator("#live-findings")).to_contain_text(re.compile(r"\d+ findings?"))


def test_a_late_sentence_is_not_said_of_the_run_that_is_opened_meanwhile(
    page: Page, server: Server, hacked: str, other: str
) -> None:
    held: dict[str, Route] = {}
    for name in (f"{hacked}/headline", f"{other}/history?*", f"{other}/headline"):
        page.route(f"**/api/runs/{name}", lambda route, _request, name=name: held.setdefault(name, route))
    with page.expect_request(f"**/api/runs/{hacked}/headline"):
        page.goto(f"{server.url}?run={hacked}&tab=live&lang=en")
    with page.expect_request(f"**/api/runs/{other}/history?*"):
        page.evaluate(f"import('/static/js/state.js').then((m) => m.set({{run: '{other}'}}))")
    with page.expect_response(f"**/api/runs/{hacked}/headline"):
        held[f"{hacked}/headline"].continue_()
    with page.expect_request(f"**/api/runs/{other}/headline"):
        held[f"{other}/history?*"].continue_()
    expect(page.locator("#live-view")).to_be_visible()
    expect(page.locator("#live-headline")).to_be_empty()
    held[f"{other}/headline"].continue_()
    expect(page.locator("#live-headline")).not_to_be_empty()


def test_a_run_that_is_gone_is_said(page: Page, server: Server) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.goto(f"{server.url}?tab=new&lang=en&from=20200101-000000-aaaa&change=%5B%5D")
    expect(page.locator(".f-notice")).to_contain_text("no longer here")


@pytest.fixture
def going(server: Server) -> Iterator[str]:
    run = server.new_run(4000)
    yield run
    server.end(run)


def test_findings_that_come_while_the_panel_is_open_move_nothing_below_it(
    page: Page, server: Server, hacked: str, going: str
) -> None:
    report = server.call("GET", f"/api/runs/{hacked}/diagnosis")
    shown: dict[str, Any] = {"step": 1, "findings": []}

    def headline(route: Route) -> None:
        said = {"step": shown["step"], "findings": len(shown["findings"])}
        route.fulfill(json={"text": {"en": "Cannot tell yet.", "ko": "아직 모릅니다."}, "verdict": "unclear", **said})

    page.route(f"**/{going}/headline", headline)
    page.route(f"**/{going}/diagnosis", lambda route: route.fulfill(json={**report, "going": True, **shown}))
    server.wait_state(going, "running")
    page.goto(f"{server.url}?run={going}&tab=live&lang=en")
    page.click("#live-findings")
    expect(page.locator("#findings")).to_contain_text("Nothing stands against this run.")
    height = page.locator("#findings").bounding_box()["height"]  # type: ignore[index]
    for step, findings in ((2, report["findings"]), (3, [])):
        shown |= {"step": step, "findings": findings}
        expect(page.locator("#findings")).to_contain_text(f"as of step {step}")
        expect(page.locator("[data-finding=A2]")).to_have_count(1 if findings else 0)
        assert page.locator("#findings").bounding_box()["height"] == height  # type: ignore[index]
