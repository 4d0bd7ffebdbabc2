"""The Samples page over a real server and a worker whose completions are known: 2 groups a step of 8 answers each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from backend.settings import PROJECT, Settings
from storage.db import Database
from storage.portable import load
from tests.browser.conftest import Server, open_page
from tests.fakes.fake_worker import HOSTILE

STEPS, GROUPS, SIZE = 12, 2, 8
ROW = "#samples-list .s-body .s-row"


@pytest.fixture(scope="module")
def run(server: Server) -> str:
    run_id = server.new_run(steps=STEPS)
    server.wait_state(run_id, "succeeded")
    return run_id


def opened(page: Page, server: Server, run: str, more: str = "", ready: str = ROW, lang: str = "en") -> Page:
    page.goto(f"{server.url}?tab=samples&run={run}&lang={lang}{more}")
    page.wait_for_selector(ready)
    settled(page)
    return page


def settled(page: Page) -> None:
    page.wait_for_function("() => !document.querySelector('#samples-root [data-stale]')")


def address(page: Page) -> dict[str, str]:
    """As the page itself has it: what Playwright knows of it may lag behind."""
    query = page.evaluate("location.search").removeprefix("?")
    return {key: values[0] for key, values in parse_qs(query).items()}


def rows(page: Page) -> list[tuple[int, int]]:
    found = page.locator(ROW).evaluate_all("all => all.map(e => [+e.dataset.group, +e.dataset.index])")
    return [(group, index) for group, index in found]


def overflow(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def choose(page: Page, name: str, value: str) -> None:
    page.select_option(f"#samples-{name}", value)
    page.wait_for_function(f"new URLSearchParams(location.search).get('{name}') === '{value}'")
    settled(page)


def test_without_a_run_and_with_one_that_is_gone(page: Page, server: Server) -> None:
    page.goto(f"{server.url}?tab=samples&lang=en")
    page.wait_for_selector("#samples-quickstart")
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.goto(f"{server.url}?tab=samples&lang=ko&run=20200101-000000-aaaa")
    page.wait_for_selector("#samples-empty h2")
    assert re.search("[가-힣]", page.locator("#samples-empty h2").inner_text())


def test_pages_come_on_request_and_every_completion_once(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    assert page.locator(ROW).count() == 50
    assert page.locator(f"{ROW} .s-c-step").first.inner_text().split()[-1] == str(STEPS)
    for n in (100, 150, STEPS * GROUPS * SIZE):
        first = rows(page)
        page.click("#samples-more")
        page.wait_for_function(f"document.querySelectorAll('{ROW}').length === {n}")
        assert rows(page)[: len(first)] == first, "what stood there stays"
    assert len(set(rows(page))) == STEPS * GROUPS * SIZE
    assert not page.locator("#samples-more").is_visible()
    assert page.locator("#samples-foot").inner_text() == f"All {STEPS * GROUPS * SIZE} are shown."
    newest = rows(page)
    choose(page, "order", "oldest")
    assert page.locator(f"{ROW} .s-c-step").first.inner_text().split()[-1] == "1"
    assert rows(page)[0][0] == min(group for group, _ in newest)


def test_filters_stand_in_the_address_and_a_link_opens_the_same(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    choose(page, "correct", "false")
    choose(page, "kind", "live")
    page.fill("#samples-from", "3")
    page.fill("#samples-to", "5")
    page.locator("#samples-to").press("Enter")
    page.wait_for_function("new URLSearchParams(location.search).get('to') === '5'")
    settled(page)
    found = rows(page)
    assert found
    assert set(page.locator(f"{ROW} .s-mark").evaluate_all("all => all.map(e => e.dataset.kind)")) == {"wrong"}
    steps = {int(text.split()[-1]) for text in page.locator(f"{ROW} .s-c-step").all_inner_texts()}
    assert steps <= {3, 4, 5}
    assert page.locator("#samples-chips .s-chip").count() == 3
    page.reload()
    page.wait_for_selector(ROW)
    settled(page)
    assert rows(page) == found
    assert (page.input_value("#samples-from"), page.input_value("#samples-kind")) == ("3", "live")
    page.go_back()
    page.wait_for_function("!new URLSearchParams(location.search).has('to')")
    page.wait_for_function(f"document.querySelectorAll('{ROW}').length !== {len(found)}")
    assert len(rows(page)) > len(found), "all steps from 3 on"
    page.click("#samples-clear")
    page.wait_for_function("document.getElementById('samples-chips').hidden")
    assert set(address(page)) == {"tab", "run", "lang"}
    choose(page, "kind", "tied")  # the worker's groups are never tied in between
    choose(page, "truncated", "true")
    page.wait_for_selector("#samples-none button")
    page.click("#samples-none button")
    page.wait_for_selector(ROW)


def test_a_filter_that_cannot_be_is_told_at_its_field(page: Page, server: Server, run: str) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    opened(page, server, run, "&from=9&to=2", "#samples-filter-error:visible")
    assert page.locator("#samples-to").get_attribute("aria-invalid") == "true"
    assert "9 or more" in page.locator("#samples-filter-error").inner_text()
    page.watched.expect_failures = False  # type: ignore[attr-defined]
    page.locator("#samples-chips .s-chip").click()
    page.wait_for_selector(ROW)
    assert page.locator("#samples-filter-error:visible").count() == 0


def test_a_text_is_found_and_marked_exactly(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    page.fill("#samples-text", "DISPLAY:NONE}</style>")
    page.wait_for_selector(".s-found")
    settled(page)
    marks = set(page.locator(".s-found").all_inner_texts())
    assert marks == {"display:none}</style>"}
    assert page.locator(ROW).count() == page.locator(f"{ROW}:has(.s-found)").count()


def test_a_search_that_its_time_ended_says_how_far_it_came_and_goes_on(page: Page, server: Server, run: str) -> None:
    asked: list[str] = []

    def slow(route: Any) -> None:
        asked.append(route.request.url)
        query = parse_qs(urlsplit(route.request.url).query)
        if "cursor" in query:
            route.continue_(url=route.request.url.replace("cursor=77.0", ""))
        else:
            body = {"items": [], "cursor": "77.0", "searched": 12_400, "of": 100_000}
            route.fulfill(status=200, content_type="application/json", body=json.dumps(body))

    page.route("**/samples/find?*", slow)
    opened(page, server, run, "&text=answer", "#samples-more:visible")
    assert page.locator("#samples-foot").inner_text() == "0 found. 12,400 of 100,000 groups have been searched."
    assert page.locator("#samples-more").inner_text() == "Search on"
    assert page.locator("#samples-none").count() == 0, "nothing is said to be missing before all was searched"
    page.click("#samples-more")
    page.wait_for_selector(ROW)
    assert "cursor=77.0" in asked[-1]


def hostile_group(server: Server, run: str) -> dict[str, Any]:
    """A group with a lone surrogate, ANSI, NUL and a direction mark in it."""
    for step in range(1, STEPS + 1):
        found = server.call("GET", f"/api/runs/{run}/samples/at?step={step}&place=1")
        if any("rtl:" in one["text"] for one in found["group"]["completions"]):
            return found["group"]
    raise AssertionError("no group has it")


def test_a_group_side_by_side_best_first_and_nothing_of_it_acts(page: Page, server: Server, run: str) -> None:
    group = hostile_group(server, run)
    opened(page, server, run, f"&group={group['id']}", ".s-card")
    assert page.locator(".s-card").count() == SIZE
    assert page.locator(".s-card[data-best]").count() == 1
    totals = [float(text) for text in page.locator(".s-card .s-score:first-child .s-big").all_inner_texts()]
    assert totals == sorted(totals, reverse=True)
    assert page.locator("#samples-title").inner_text() == f"Step {group['step']}, group 2 of {GROUPS}"
    page.click("#samples-mode [data-mode=text]")
    texts = page.locator(".s-card .s-text").evaluate_all("all => all.map(e => e.textContent)")
    for one, text in zip(group["completions"], texts, strict=True):
        shown = one["text"].replace("\x1b", "ESC").replace("\x00", "NUL").replace("\u202e", "U+202E")
        assert text == shown.replace("\r", "CR"), "to the letter, what would act as a symbol"
    assert page.locator(".s-card .control[title='U+202E']").first.inner_text() == "U+202E"
    assert page.locator(".s-card img, .s-card script, .s-card style, .s-card a").count() == 0
    assert page.title() != "owned"
    lone = next(at for at, one in enumerate(group["completions"]) if one["surrogates"])
    assert "U+FFFD" in page.locator(".s-card").nth(lone).locator(".s-note").inner_text()
    page.click("#samples-mode [data-mode=characters]")
    assert page.locator(".s-card .s-blank[title='U+0020']").count() > 20
    page.click("#samples-mode [data-mode=marks]")
    assert page.locator(".s-card .s-ins").count() > 0
    assert page.locator(".s-card .s-del").count() == 0
    page.check("#samples-both")
    assert page.locator(".s-card .s-del").count() > 0
    assert page.locator(".s-card[data-best] .s-ins, .s-card[data-best] .s-del").count() == 0
    page.uncheck("#samples-both")


def test_where_all_totals_are_the_same_nobody_is_the_best(page: Page, server: Server) -> None:
    db = Database(Settings(server.home).database_url)
    learned = load(db, PROJECT / "configs" / "recordings" / "learned.jsonl.gz")  # the fake worker has no dead groups
    db.close()
    dead = server.call("GET", f"/api/runs/{learned}/samples/find?kind=all_right&limit=1")["items"][0]["group"]
    opened(page, server, learned, f"&group={dead}", ".s-card")
    assert page.locator(".s-card[data-best]").count() == 0
    places = page.locator(".s-card").evaluate_all("all => all.map(e => +e.dataset.index + 1)")
    assert page.locator(".s-rank").all_inner_texts() == [f"answer {place}" for place in places]
    assert "best" not in page.locator("#samples-group").inner_text()
    assert page.locator("#samples-mode [data-mode=marks]").inner_text() == "Differences to the first"
    server.call("DELETE", f"/api/runs/{learned}")


def test_what_differs_is_what_differs(page: Page, server: Server, run: str) -> None:
    """The marked parts and the others are the text; a right and a wrong sum differ in the sum alone."""
    found = server.call("GET", f"/api/runs/{run}/samples/at?step=6&place=1")["group"]["completions"]
    sums = [one for one in found if " + " in one["text"] and one["difference"]]
    wrong = next(one for one in sums if one["text"] != found[0]["text"])
    assert "".join(part for mark, part in wrong["difference"]["parts"] if mark != "-") == wrong["text"]
    assert [mark for mark, _ in wrong["difference"]["parts"]] == ["=", "-", "+", "="]


def test_ways_from_group_to_group_and_back_to_the_list(page: Page, server: Server, run: str) -> None:
    opened(page, server, run, "&correct=true")
    page.locator(ROW).nth(30).scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    assert before > 0
    page.locator(ROW).nth(30).click()
    page.wait_for_selector(".s-card")
    settled(page)
    first = address(page)["group"]
    title = page.locator("#samples-title").inner_text()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"document.getElementById('samples-title').textContent !== {json.dumps(title)}")
    settled(page)
    assert int(address(page)["group"]) < int(first)
    page.click("#samples-next")
    page.wait_for_function(f"document.getElementById('samples-title').textContent === {json.dumps(title)}")
    assert address(page)["group"] == first
    other = page.locator(".s-strip .s-dot:not([aria-current])").first
    assert re.match(r"group \d: ", other.get_attribute("aria-label") or "")
    other.click()
    page.wait_for_function(f"document.getElementById('samples-title').textContent !== {json.dumps(title)}")
    page.keyboard.press("Escape")
    page.wait_for_selector(ROW)
    assert "group" not in address(page)
    assert abs(page.evaluate("scrollY") - before) < 5, "the list is as it was left"
    page.go_back()
    page.wait_for_selector(".s-card")
    page.go_back()
    page.wait_for_selector(ROW)
    # From a group to all samples of its step, and to all answers to its prompt.
    page.locator(ROW).first.click()
    settled(page)
    page.click("#samples-step")
    page.wait_for_selector(ROW)
    settled(page)
    assert page.locator(ROW).count() == GROUPS * SIZE
    page.locator(ROW).first.locator("a").press("Enter")
    settled(page)
    page.click("#samples-of-prompt")
    page.wait_for_function(f"document.querySelectorAll('{ROW}').length === {SIZE}")
    assert address(page)["prompt"].startswith("p")


def test_a_group_that_is_not_there_is_said(page: Page, server: Server, run: str) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    opened(page, server, run, "&group=99999999", "#samples-group .notice")
    assert "99999999" in page.locator("#samples-group .notice").inner_text()
    page.click("#samples-back")
    page.wait_for_selector(ROW)


def test_a_copy_is_the_text_of_the_model(browser: Browser, server: Server, run: str) -> None:
    page = open_page(browser)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    group = hostile_group(server, run)
    opened(page, server, run, f"&group={group['id']}", ".s-card")
    for at, one in enumerate(group["completions"]):
        if "\x00" in one["text"]:
            continue  # a clipboard of some systems ends at a NUL
        page.evaluate("navigator.clipboard.writeText('before')")
        page.locator(".s-card").nth(at).locator(".s-copy").click()
        page.wait_for_function("async () => (await navigator.clipboard.readText()) !== 'before'")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.replace("\r\n", "\n") == one["text"].replace("\r\n", "\n")
    assert any(text in HOSTILE for text in (one["text"] for one in group["completions"]))
    page.context.close()


def click_a_point(page: Page, server: Server, run: str, language: str = "en") -> None:
    """The fifth point of the reward's curve."""
    page.goto(f"{server.url}?run={run}&tab=live&lang={language}")
    page.locator("#chart-reward").scroll_into_view_if_needed()
    area = page.locator("#chart-reward .nsewdrag")
    area.wait_for()
    x, y = page.evaluate(
        "(() => { const p = document.getElementById('chart-reward'), a = p._fullLayout;"
        " const t = p.data.find(t => t.uid === 'reward-reward'), y = t.y[4], x = t.x[4];"
        " return [a.xaxis.l2p(x), a.yaxis.l2p(y)]; })()"
    )
    # Within the chart, wherever it is by then: what comes later above it moves it.
    area.click(position={"x": x, "y": y})
    page.wait_for_selector("#live-picked:visible")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_what_a_point_offers_is_whole_on_a_telephone(page: Page, server: Server, run: str, language: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    click_a_point(page, server, run, language)
    assert page.locator("#live-picked > *:visible").count() == 4
    cut = """(nodes) => nodes.filter((node) => {
      const own = node.getBoundingClientRect(), box = node.closest('.plot-box').getBoundingClientRect();
      return own.left < box.left || own.right > box.right;
    }).map((node) => node.textContent)"""
    assert page.locator("#live-picked, #live-picked > *").evaluate_all(cut) == []


def test_from_a_point_of_a_chart_to_the_samples_of_its_step(page: Page, server: Server, run: str) -> None:
    click_a_point(page, server, run)
    step = address(page)["step"]
    assert page.locator("#live-picked b").inner_text() == f"Step {step}"
    page.click("#picked-groups")
    page.wait_for_function(f"document.querySelector('#live-groups h2').textContent.includes('{step}')")
    assert page.locator("#live-all-samples").inner_text() == f"All samples of step {step}"
    page.locator("#picked-samples").scroll_into_view_if_needed()
    page.click("#picked-samples")
    page.wait_for_selector(ROW)
    settled(page)
    assert page.locator(ROW).count() == GROUPS * SIZE
    assert {text.split()[-1] for text in page.locator(f"{ROW} .s-c-step").all_inner_texts()} == {step}
    page.go_back()
    page.wait_for_selector("#live-view:visible")
    page.locator("#live-groups").scroll_into_view_if_needed()
    page.locator(".group-open").first.click()
    page.wait_for_selector(".s-card")
    assert page.locator("#samples-title").inner_text().startswith(f"Step {step}, ")


def test_a_run_that_goes_on_announces_what_is_new_and_nothing_jumps(page: Page, server: Server) -> None:
    going = server.new_run(steps=3000)
    try:
        opened(page, server, going)
        page.wait_for_selector("#samples-newer:visible")
        before = rows(page)
        assert re.search(r"\d+ (or more )?newer: show", page.locator("#samples-newer").inner_text())
        assert rows(page) == before
        page.click("#samples-newer")
        page.wait_for_function(  # at once: the run goes on, and the next look may announce more
            f"+document.querySelector('{ROW}').dataset.group > {before[0][0]}"
            " && document.getElementById('samples-newer').hidden"
        )
    finally:
        server.end(going)


@pytest.fixture
def telephone(browser: Browser) -> Iterator[Page]:
    opened = open_page(browser, viewport={"width": 390, "height": 844})
    yield opened
    faults = opened.watched.faults  # type: ignore[attr-defined]
    opened.context.close()
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_on_a_telephone_in_both_languages(telephone: Page, server: Server, run: str, language: str) -> None:
    page = telephone
    opened(page, server, run, lang=language)
    assert overflow(page) == 0
    assert not page.locator(".s-fields").is_visible(), "the filters are folded"
    assert not page.locator("#samples-list .s-head").is_visible()
    page.locator(ROW).first.click()
    page.wait_for_selector(".s-card")
    assert overflow(page) == 0
    strip = page.locator("#samples-cards")
    assert strip.evaluate("e => e.scrollWidth > e.clientWidth"), "the completions lie side by side"
    first = page.locator(".s-card").first.bounding_box()
    assert first is not None
    assert first["width"] < 390
    words = page.locator("#samples-group").inner_text()
    assert bool(re.search("[가-힣]", words)) == (language == "ko" or "한글" in words)
    assert not re.search(r"samples\.[a-z_]+", words), "no key stands for its text"


def test_the_views_of_all_samples_open_and_the_language_goes_with_them(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    for view in ("prompts", "budget", "plots"):
        page.click(f"#samples-view-{view}")
        page.wait_for_function(
            "view => { const e = document.querySelector(`.s-view-${view}`); "
            "return e && e.offsetHeight > 40 && !e.querySelector(':scope > .loading'); }",
            arg=view,
        )
        assert page.locator(f".s-view-{view} .notice[data-level=error]").count() == 0
        assert address(page)["view"] == view
        assert page.locator(".s-view:not([hidden])").count() == 1
        assert overflow(page) == 0
    page.click("#language-switch [data-lang=ko]")
    page.click("#samples-view-list")
    page.wait_for_selector(ROW)
    assert page.locator("#samples-root h1").inner_text() == "샘플"
