"""Answers of the server that come late, in another order than they were asked for, or not at all: the page shows the
newest, and asks again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Server

# Two askings at once; the first one is answered last. `ask` and `shown` are of the module at hand.
OUT_OF_ORDER = """async () => {
  const waiting = [];
  const said = (body) => new Response(JSON.stringify(body));
  window.fetch = () => new Promise((resolve) => waiting.push((body) => resolve(said(body))));
  %s
  const [old, fresh] = [ask(), ask()];
  waiting[1](answer('new'));
  await fresh;
  waiting[0](answer('old'));
  await old;
  return JSON.stringify(shown()).includes('new');
}"""
RUNS = """const runs = await import('/static/js/runlist.js');
  const [ask, shown, answer] = [runs.refresh, runs.list, (id) => ({runs: [{id}]})];"""
SETS = """const sets = await import('/static/js/data/store.js');
  const [ask, shown, answer] = [sets.refresh, sets.list, (name) => ({sets: [{name}]})];"""
DEMO = """const demo = await import('/static/js/demo.js');
  const [ask, shown, answer] = [demo.refresh, demo.get, (name) => ({recordings: [{name}]})];"""
CHATS = """const {History} = await import('/static/js/chat/history.js');
  const history = new History(() => {}, () => {});
  const [ask, shown] = [() => history.refresh(), () => history.list];
  const answer = (chat) => ({chats: [{chat, turns: 1, n: 1, at: 1, left: {model: 'm'}}]});"""


def blank(page: Page, server: Server) -> None:
    """A page of the server's without the app: what it imports is its own."""
    page.route("**/nothing", lambda route: route.fulfill(content_type="text/html", body="<!doctype html>"))
    page.goto(f"{server.url}nothing")


@pytest.mark.parametrize("module", [RUNS, SETS, DEMO, CHATS], ids=["runs", "sets", "demo", "chats"])
def test_an_older_answer_that_comes_later_changes_nothing(page: Page, server: Server, module: str) -> None:
    blank(page, server)
    assert page.evaluate(OUT_OF_ORDER % module)


def test_what_is_asked_for_while_an_answer_is_under_way_is_asked_for_after_it(page: Page, server: Server) -> None:
    blank(page, server)
    page.evaluate(
        """async () => {
          const {poll} = await import('/static/js/api.js');
          window.asked = 0;
          const poller = poll(async () => {
            asked += 1;
            if (asked === 1) await new Promise((go) => { window.go = go; });
          }, 1e8);
          poller.now();
          poller.now();
        }"""
    )
    assert page.evaluate("asked") == 1
    page.evaluate("go()")
    page.wait_for_function("asked === 2")


@pytest.fixture(scope="module")
def runs(server: Server) -> tuple[str, str]:
    """Two runs that have ended."""
    made = [server.new_run(3, name=name) for name in ("first of two", "second of two")]
    for run in made:
        server.wait_state(run, "succeeded")
    return made[0], made[1]


def opened(page: Page, server: Server, run: str) -> None:
    page.goto(f"{server.url}?tab=live&lang=en&run={run}")
    page.wait_for_selector("#live-view:not([hidden])")


def test_the_sentence_follows_a_run_that_moves_while_it_is_asked_for(
    page: Page, server: Server, runs: tuple[str, str]
) -> None:
    """It is not asked for too often: the end of a run falls into such a pause, and nothing moves after it."""
    run = runs[0]
    history = server.call("GET", f"/api/runs/{run}/history?points=10")
    moved = [{**history["run"], "revision": history["run"]["revision"] + 1}]
    held: list[Route] = []

    def sentence(route: Route, words: str) -> None:
        route.fulfill(json={"text": {"en": words, "ko": words}, "verdict": "learning", "step": None, "findings": 0})

    def live(route: Route) -> None:
        route.fulfill(json={"cursor": history["cursor"], **({"run": moved.pop()} if moved else {})})

    page.route("**/headline", lambda route: sentence(route, "the end") if held else held.append(route))
    page.route("**/live?*", live)
    page.clock.install()
    with page.expect_request("**/headline"):
        opened(page, server, run)
    with page.expect_response("**/live?*"):
        page.clock.fast_forward(6000)
    sentence(held[0], "the middle")
    expect(page.locator("#live-headline")).to_have_text("the middle")
    page.clock.fast_forward(300_000)  # whatever pause it makes is over
    expect(page.locator("#live-headline")).to_have_text("the end")


def test_findings_that_could_not_be_had_are_asked_for_again(page: Page, server: Server, runs: tuple[str, str]) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    failed: list[str] = []

    def once(route: Route) -> None:
        if failed:
            return route.fallback()
        failed.append(route.request.url)
        return route.fulfill(status=503, json={"error": {"en": "busy", "ko": "바쁨"}})

    page.route("**/diagnosis", once)
    opened(page, server, runs[0])
    expect(page.locator("#live-findings")).to_be_visible()
    assert failed


def test_who_goes_back_before_the_other_run_is_there_sees_the_first_one_again(
    page: Page, server: Server, runs: tuple[str, str]
) -> None:
    first, second = runs
    held: list[Route] = []
    page.route(f"**/{second}/history?*", lambda route: held.append(route))
    opened(page, server, first)
    with page.expect_request(f"**/{second}/history?*"):
        page.select_option("#run-picker", second)
    page.select_option("#run-picker", first)
    held[0].continue_()
    expect(page.locator("#live-view")).to_be_visible()
    expect(page.locator("#live-name")).to_have_text("first of two")
    expect(page.locator("#run-picker")).to_have_value(first)


def test_a_run_that_was_deleted_says_nothing_of_the_next_one(page: Page, server: Server, runs: tuple[str, str]) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    first, second = runs
    held: list[Route] = []
    page.route(f"**/{first}/live?*", lambda route: held.append(route))
    with page.expect_request(f"**/{first}/live?*"):
        opened(page, server, first)
    page.evaluate(
        """() => {
          const empty = document.getElementById('live-empty');
          new MutationObserver(() => { window.wrong ||= !empty.hidden; }).observe(empty, { attributes: true });
        }"""
    )
    page.select_option("#run-picker", second)
    held[0].fulfill(status=404, json={"error": {"en": "gone", "ko": "없음"}})
    expect(page.locator("#live-name")).to_have_text("second of two")
    assert not page.evaluate("Boolean(window.wrong)")


def test_a_comparison_that_fails_late_does_not_stand_over_the_newer_one(
    page: Page, server: Server, runs: tuple[str, str]
) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    first, second = runs
    held: list[Route] = []
    page.route(f"**/api/compare?runs={first}", lambda route: held.append(route))
    with page.expect_request("**/api/compare?*"):
        page.goto(f"{server.url}?tab=compare&lang=en&runs={first}")
    page.evaluate(f"import('/static/js/state.js').then((m) => m.set({{runs: '{first},{second}'}}))")
    expect(page.locator("#compare-evaluations tbody tr")).to_have_count(2)
    with page.expect_response(f"**/api/compare?runs={first}"):
        held[0].fulfill(status=503, json={"error": {"en": "busy", "ko": "바쁨"}})
    page.evaluate("new Promise((next) => setTimeout(next))")  # what waits for the answer has had its turn
    expect(page.locator("#compare-said")).to_be_hidden()
