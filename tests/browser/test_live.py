"""The live page over a real server and a worker whose curves are known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import Server, open_page, quiet
from tests.support import wait_for

CURVE = "document.getElementById('chart-reward')?.data?.find(t => t.uid === 'reward-reward')"
POINTS = f"({CURVE}?.x.length ?? 0)"
DRAWS = "[...document.querySelectorAll('.plot')].map(p => p.dataset.draws ?? '0').join()"


@pytest.fixture(scope="module")
def run(server: Server) -> Iterator[str]:
    """One run that the tests of this file watch; it outlasts them on any machine."""
    run_id = server.new_run(steps=30_000)
    server.wait_state(run_id, "running")
    yield run_id
    server.end(run_id)


def opened(page: Page, server: Server, run: str, more: str = "") -> Page:
    page.goto(f"{server.url}?run={run}&tab=live{more}")
    page.wait_for_selector("[data-panel=reward]")
    page.locator("[data-panel=reward]").scroll_into_view_if_needed()
    page.wait_for_selector("#chart-reward .main-svg")
    page.wait_for_function(f"{POINTS} > 2")
    return page


def points(page: Page) -> int:
    return page.evaluate(POINTS)


def wait_more(page: Page, than: int) -> None:
    page.wait_for_function(f"{POINTS} > {than}")


def quiet_charts(page: Page) -> None:
    """Until nothing is drawn any more; of use only while no answer comes."""
    drawn: list[str] = []

    def still() -> bool:
        drawn.append(page.evaluate(f"new Promise((r) => requestAnimationFrame(() => setTimeout(() => r({DRAWS}))))"))
        return len(drawn) > 5 and len(set(drawn[-5:])) == 1

    wait_for(still, 60, what="charts that stand still")


def test_the_curve_grows_and_a_reload_restores_it(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    first = points(page)
    wait_more(page, first + 3)
    last = points(page)
    page.reload()
    page.wait_for_function(f"{POINTS} >= {last}")
    expect(page.locator("#live-progress")).to_contain_text("of 30,000")
    names = page.evaluate("document.getElementById('chart-reward').data.map(t => t.name)")
    assert {"total", "accuracy", "format"} <= set(names)


def test_a_second_browser_sees_the_same_run(browser: Browser, page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    second = open_page(browser)
    opened(second, server, run)
    step, value = second.evaluate(f"[{CURVE}.x.at(-1), {CURVE}.y.at(-1)]")
    page.wait_for_function(f"{CURVE}.x.at(-1) >= {step}")
    assert page.evaluate(f"{CURVE}.y[{CURVE}.x.indexOf({step})]") == value
    second.context.close()


def test_zoom_is_shared_and_survives_ticks(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    page.wait_for_selector("#chart-signal .main-svg")
    page.evaluate("Plotly.relayout('chart-reward', {'xaxis.range': [2, 6]})")
    on_signal = "document.getElementById('chart-signal')._fullLayout.xaxis.range.map(Math.round).join()"
    page.wait_for_function(f"{on_signal} === '2,6'")
    wait_more(page, points(page) + 3)
    for chart in ("reward", "signal"):
        shown = page.evaluate(f"document.getElementById('chart-{chart}')._fullLayout.xaxis.range.map(Math.round)")
        assert shown == [2, 6], chart
    page.click("#zoom-reset")
    page.wait_for_function("document.getElementById('chart-signal')._fullLayout.xaxis.range[1] > 8")


def test_a_curve_hidden_in_the_legend_stays_hidden(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    toggles = page.locator("#chart-reward .legendtoggle")
    toggles.first.wait_for()
    toggles.first.click(force=True)
    hidden = "document.getElementById('chart-reward')._fullData.filter(t => t.visible === 'legendonly').length"
    page.wait_for_function(f"{hidden} > 0")
    count = page.evaluate(hidden)
    wait_more(page, points(page) + 3)
    assert page.evaluate(hidden) == count


def test_a_hidden_page_asks_for_nothing(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    page.locator("#live-groups").scroll_into_view_if_needed()
    page.wait_for_selector("#live-groups .completion")  # they are looked at again every two seconds
    hide = """state => {
      Object.defineProperty(document, 'visibilityState', {value: state, configurable: true});
      document.dispatchEvent(new Event('visibilitychange'));
    }"""
    page.evaluate(hide, "hidden")
    quiet(page)  # what was under way when it was hidden may still end
    requests: list[str] = page.watched.requests  # type: ignore[attr-defined]
    before, shown = len(requests), points(page)
    page.wait_for_timeout(4000)
    assert requests[before:] == []
    page.evaluate(hide, "visible")
    page.locator("[data-panel=reward]").scroll_into_view_if_needed()
    wait_more(page, shown + 5)


def test_nothing_new_costs_a_few_bytes_and_no_redraw(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    server.call("POST", f"/api/runs/{run}/stop", {"now": False})
    server.wait_state(run, "stopped")
    page.wait_for_selector("#live-resume")
    # The end is not the last that is heard of it: its records are judged, which moves the run and marks its charts.
    expect(page.locator("#live-findings")).to_contain_text(re.compile("finding"))

    def nothing_new() -> bool:
        full = server.call("GET", f"/api/runs/{run}/live?after=0")
        asked = f"/api/runs/{run}/live?after={full['cursor']}&revision={full['run']['revision']}&group_after=99999999"
        return server.call("GET", asked) == {"cursor": full["cursor"]}

    wait_for(nothing_new, 60, every=0.5, what="an answer that is a cursor and no more")

    def tick() -> set[str]:
        with page.expect_response(lambda answer: f"/runs/{run}/live?" in answer.url) as heard:
            pass
        quiet(page)
        quiet_charts(page)
        return set(heard.value.json())

    wait_for(lambda: tick() == {"cursor"}, 60, what="a tick that brings nothing")
    drawn = page.evaluate(DRAWS)
    assert tick() == {"cursor"}
    assert page.evaluate(DRAWS) == drawn
    page.click("#live-resume")
    server.wait_state(run, "running")
    wait_more(page, points(page) + 2)
    steps = page.evaluate("document.getElementById('chart-reward').data.find(t => t.uid === 'reward-reward').x")
    assert steps == sorted(set(steps)), "no line goes backward"


def test_a_server_restart_with_the_tab_open(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    page.evaluate("Plotly.relayout('chart-reward', {'xaxis.range': [2, 6]})")
    shown = points(page)
    page.watched.expect_failures = True  # type: ignore[attr-defined]  # to its end: what failed may be told late
    server.stop()
    page.wait_for_selector("#live-offline", state="visible")
    server.start()
    page.wait_for_selector("#live-offline", state="hidden")
    wait_more(page, shown + 5)
    shown_range = "document.getElementById('chart-reward')._fullLayout.xaxis.range.map(Math.round).join()"
    assert page.evaluate(shown_range) == "2,6"
    assert server.state(run) == "running", "the run went on without the server"


def test_hostile_completions_are_text(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    page.locator("#live-groups").scroll_into_view_if_needed()
    seen: set[str] = set()
    page.wait_for_selector("#live-groups .completion .exact")
    for step in range(1, 8):
        groups = server.call("GET", f"/api/runs/{run}/samples?step={step}&limit=16")["groups"]
        if not groups:
            continue
        page.evaluate(
            "step => history.replaceState(null, '', location.search.replace(/&step=\\d+/, '') + step)", f"&step={step}"
        )
        page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
        page.wait_for_function(f"document.querySelector('#live-groups h2').textContent.includes('{step}')")
        texts = [c["text"] for group in groups for c in group["completions"]]
        want = next(text for text in texts if "<answer>" in text)
        page.wait_for_function(
            "want => [...document.querySelectorAll('#live-groups .exact')].some(e => e.textContent === want)", arg=want
        )
        seen.update(page.evaluate("[...document.querySelectorAll('#live-groups .exact')].map(e => e.textContent)"))
    assert "<script>document.title='owned'</script>" in seen
    assert "<think>a</think><answer>7</answer>" in seen
    assert any(text.startswith("<style>body{display:none}</style><img src=x") for text in seen)
    assert any("ESC" in text and "NUL" in text and "U+202E" in text and "한글" in text for text in seen)
    assert not any("\x1b" in text or "\u202e" in text for text in seen)
    assert page.title() == "GRPO Studio"
    inside: dict[str, Any] = page.evaluate(
        "Object.fromEntries(['img', 'script', 'style', 'a[href^=\"javascript\"]']"
        ".map(s => [s, document.querySelectorAll('#live-groups ' + s).length]))"
    )
    assert set(inside.values()) == {0}
    assert page.locator("body").is_visible()


def test_two_languages_at_once_and_remembered(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    page.evaluate("window.sameDocument = true")
    assert "Stop and keep checkpoint" in page.locator("#live-stop").inner_text()
    page.click("#language-switch [data-lang=ko]")
    assert page.locator("#live-stop").inner_text() == "체크포인트 저장 후 중지"
    assert page.locator("#chart-reward").locator("xpath=ancestor::section").locator("h2").inner_text() == "보상"
    page.wait_for_function("document.getElementById('chart-reward').data.some(t => t.name === '합계')")
    assert page.evaluate("window.sameDocument === true && document.documentElement.lang === 'ko'")
    english = page.evaluate(
        "[...document.querySelectorAll('#live-view [data-t]')].map(n => n.textContent)"
        ".filter(s => /[a-z]{4,}/.test(s) && !/[가-힣]/.test(s))"
    )
    assert set(english) <= {"greedy", "quickstart"}, english
    page.reload()
    page.wait_for_selector("#live-stop")
    assert page.locator("#live-stop").inner_text() == "체크포인트 저장 후 중지"
    page.goto(f"{server.url}?run={run}&tab=live&lang=en")
    page.wait_for_selector("#live-stop")
    assert page.locator("#live-stop").inner_text() == "Stop and keep checkpoint"


@pytest.mark.parametrize("width", [390, 1024, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_overflow(browser: Browser, server: Server, run: str, width: int, theme: str) -> None:
    page = open_page(browser, viewport={"width": width, "height": 900})
    opened(page, server, run, f"&theme={theme}")
    for lang in ("ko", "en"):
        page.click(f"#language-switch [data-lang={lang}]")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.watched.faults == []  # type: ignore[attr-defined]
    page.context.close()


def test_axis_and_smoothing_are_one_control_for_all(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    page.click("#x-axis [data-mode=tokens]")
    page.wait_for_function(
        "document.getElementById('chart-reward').data.find(t => t.uid === 'reward-reward').x.at(-1) >= 1000"
    )
    # The point still knows its step: the fake worker counts 1000 tokens a step. Where the curve is long it is thinned.
    tokens, steps = page.evaluate(f"[{CURVE}.x.slice(0, 3), {CURVE}.customdata.slice(0, 3).map(d => d[0])]")
    assert tokens == [1000 * step for step in steps]
    assert steps[0] == 1
    page.click("#x-axis [data-mode=step]")
    page.locator("#smoothing").fill("0")
    page.wait_for_function("!document.getElementById('chart-reward').data.some(t => t.uid.endsWith('-smooth'))")


def test_a_click_on_a_chart_opens_the_groups_of_that_step(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    # The curve stands still meanwhile: a redraw between the hand's way to a point and its press takes the point away.
    held: list[Route] = []
    page.route("**/live?*", lambda route: held.append(route))
    with page.expect_request("**/live?*"):
        pass
    quiet_charts(page)
    box = page.locator("#chart-reward .nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_function("new URLSearchParams(location.search).has('step')")
    step = page.evaluate("new URLSearchParams(location.search).get('step')")
    expect(page.locator("#live-groups h2")).to_contain_text(re.compile(rf"\bstep {step}\b", re.IGNORECASE))
