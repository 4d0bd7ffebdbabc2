"""Start, where the checks of rewards and rows stop it or warn; and settings that other pages hand over."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Server
from tests.support import wait_for

READY = "#f-start:not([disabled])"
HOSTILE = "<answer>4</answer>\u202e<img src=x onerror=\"document.title='owned'\">"


def one(id: str, verdict: str, reward: str | None = "exact", examples: int = 1) -> dict[str, Any]:
    return {
        "id": id,
        "reward": reward,
        "verdict": verdict,
        "title": {"en": f"Title of {id}", "ko": f"{id} 제목"},
        "words": {"en": f"Words of {id}.", "ko": f"{id} 설명."},
        "examples": [
            {"row": row, "completion": HOSTILE, "score": 0.0, "expected": 1.0, "why": {"en": "why", "ko": "이유"}}
            for row in range(examples)
        ],
    }


def opened(page: Page, server: Server, lang: str = "en") -> list[dict[str, Any]]:
    """The form, ready; the bodies of what it will send to start a run."""
    page.goto(f"{server.url}?tab=new&lang={lang}")
    page.wait_for_selector(READY)
    return []


def answer(page: Page, stops: list[dict[str, Any]], warns: list[dict[str, Any]], sent: list[dict[str, Any]]) -> None:
    """Every start is refused with these checks until its warnings are accepted."""
    page.watched.expect_failures = True  # type: ignore[attr-defined]

    def start(route: Route) -> None:
        if route.request.method != "POST":
            return route.continue_()
        body = json.loads(route.request.post_data or "{}")
        sent.append(body)
        if not stops and {check["id"] for check in warns} <= set(body.get("accept", [])):
            return route.fulfill(
                status=201, json={"run": {"id": "20261129-134500-ab2c", "name": "x", "state": "queued"}}
            )
        refused = {"error": {"en": "no", "ko": "아니요"}, "preflight": {"stops": stops, "warns": warns, "audit": {}}}
        return route.fulfill(status=422, json=refused)

    page.route("**/api/runs", start)


def test_red_checks_stop_the_start_with_the_text_and_the_way_to_the_field(page: Page, server: Server) -> None:
    sent = opened(page, server)
    answer(page, [one("gold", "fail", examples=4)], [one("slow", "warn")], sent)
    page.click("#f-start")
    box = page.locator(".f-preflight")
    expect(box).to_contain_text("1 check of the rewards and rows failed")
    stop = box.locator('[data-check="gold"]')
    expect(stop).to_contain_text("Title of gold")
    expect(stop).to_contain_text("Words of gold.")
    expect(stop.locator(".f-example-text").first).to_have_text(HOSTILE.replace("\u202e", "U+202E"))
    expect(stop).to_contain_text("row 1 · score 0 · expected: 1 · why")
    expect(stop.locator(".f-example:visible")).to_have_count(2)
    stop.locator("summary").click()
    expect(stop.locator(".f-example:visible")).to_have_count(4)
    expect(box.locator("#f-anyway")).to_have_count(0)  # what is red cannot be passed over
    expect(page.locator("#f-why")).to_have_text("What is red above must change first.")
    assert page.locator(".f-preflight :is(img, script)").count() == 0
    assert page.title() != "owned"
    assert page.evaluate("document.body.dataset.tab") == "new"
    stop.locator(".f-note-field").click()
    expect(page.locator("#f-rewards")).to_be_focused()
    page.fill("#f-max_steps", "7")  # another configuration: what was said is no longer about it
    expect(box).to_be_hidden()
    assert [body["accept"] for body in sent] == [[]]


def test_warnings_are_passed_over_knowingly(page: Page, server: Server) -> None:
    sent = opened(page, server)
    answer(page, [], [one("slow", "warn"), one("rows", "warn", reward=None, examples=0)], sent)
    page.click("#f-start")
    box = page.locator(".f-preflight")
    expect(box).to_contain_text("2 warnings about the rewards and rows")
    expect(box).to_be_focused()
    expect(page.locator("#f-why")).to_have_text("Read the warnings above.")
    box.locator('[data-check="rows"] .f-note-field').click()
    expect(page.locator("#f-dataset")).to_be_focused()
    page.click("#f-anyway")
    page.wait_for_function("document.body.dataset.tab === 'live'")
    assert [body["accept"] for body in sent] == [[], ["slow", "rows"]]


def test_a_refusal_of_settings_that_were_changed_meanwhile_is_not_shown(page: Page, server: Server) -> None:
    opened(page, server)
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    held: list[Route] = []
    page.route("**/api/runs", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    page.click("#f-start")
    wait_for(lambda: page.evaluate("0") == 0 and held, 60, what="the start to be asked for")
    page.fill("#f-max_steps", "7")
    stops = [one("gold", "fail")]
    refused = {"error": {"en": "no", "ko": "아니요"}, "preflight": {"stops": stops, "warns": [], "audit": {}}}
    held[0].fulfill(status=422, json=refused)
    page.wait_for_selector(READY)
    expect(page.locator("#f-why")).to_have_text("Ready.")
    expect(page.locator(".f-preflight")).to_be_hidden()


def test_two_presses_on_start_all_the_same_are_one_run(page: Page, server: Server) -> None:
    sent = opened(page, server)
    answer(page, [], [one("slow", "warn")], sent)
    page.click("#f-start")
    page.locator("#f-anyway").evaluate("(button) => { button.click(); button.click(); }")
    page.wait_for_function("document.body.dataset.tab === 'live'")
    assert [body["accept"] for body in sent] == [[], ["slow"]]


def test_the_checks_switch_their_language_in_place(page: Page, server: Server) -> None:
    sent = opened(page, server, lang="ko")
    answer(page, [], [one("slow", "warn")], sent)
    page.click("#f-start")
    box = page.locator(".f-preflight")
    expect(box).to_contain_text("slow 제목")
    expect(page.locator("#f-anyway")).to_have_text("그래도 시작")
    page.click('#studio-header [data-lang="en"]')
    expect(page.locator("#f-anyway")).to_have_text("Start all the same")
    assert not re.search("[가-힣]", box.inner_text())


def test_on_a_narrow_screen_the_checks_come_into_sight(page: Page, server: Server) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    sent = opened(page, server)
    answer(page, [], [one("slow", "warn")], sent)
    page.click("#f-start")
    expect(page.locator(".f-preflight")).to_be_in_viewport()
    expect(page.locator("#f-anyway")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def rewards_are(page: Page, *names: str) -> None:
    """The rewards of the form become exactly these."""
    while page.locator(".f-reward").count():
        page.locator(".f-reward .f-icon").first.click()
    for name in names:
        page.fill("#f-rewards", name)
        page.press("#f-rewards", "Enter")
    page.wait_for_selector(READY)


def test_ground_truths_that_a_reward_cannot_read_are_stopped_by_the_server(
    page: Page, server: Server, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        "".join(json.dumps({"prompt": f"{n} > 9?", "ground_truth": "see the figure"}) + "\n" for n in range(500))
    )
    opened(page, server)
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    before = len(server.call("GET", "/api/runs")["runs"])
    page.fill("#f-dataset", str(rows))
    rewards_are(page, "math")
    page.click("#f-start")
    expect(page.locator('.f-preflight [data-check="math.golds"][data-severity=stop]')).to_be_visible()
    expect(page.locator("#f-anyway")).to_have_count(0)
    assert len(server.call("GET", "/api/runs")["runs"]) == before


def test_a_run_whose_rewards_see_no_answer_starts_only_after_a_word(page: Page, server: Server) -> None:
    opened(page, server)
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.fill("#f-max_steps", "3")
    rewards_are(page, "format")
    page.click("#f-start")
    expect(page.locator('.f-preflight [data-check="config.task"]')).to_contain_text("format")
    page.click("#f-anyway")
    page.wait_for_function("document.body.dataset.tab === 'live'")
    run = page.evaluate("new URLSearchParams(location.search).get('run')")
    server.wait_state(run, "succeeded", "failed")


@pytest.mark.parametrize("preset", [None, "quickstart"])
def test_settings_from_another_page_are_taken_with_a_way_back(page: Page, server: Server, preset: str | None) -> None:
    opened(page, server)
    page.fill("#f-max_steps", "33")
    page.click("#nav-data")
    page.wait_for_selector("#page-data", state="visible")
    page.evaluate(
        "async (preset) => { const { handOver } = await import('/static/js/form/handoff.js');"
        " handOver({temperature: 0.7, dataset: 'article-math'}, preset); }",
        preset,
    )
    expect(page.locator("#f-temperature")).to_have_value("0.7")
    expect(page.locator("#f-dataset")).to_have_value("article-math")
    expect(page.locator(".f-notice")).to_contain_text("2 settings come from another page")
    # With a preset's name the draft is exactly that; without, what was typed stays.
    assert (page.locator("#f-max_steps").input_value() == "33") is (preset is None)
    page.click(".f-notice .btn.small:not(.ghost)")
    expect(page.locator("#f-dataset")).to_have_value("arithmetic")
    expect(page.locator("#f-max_steps")).to_have_value("33")
    page.click("#nav-runs")
    page.click("#nav-new")
    expect(page.locator("#f-dataset")).to_have_value("arithmetic")  # taken once
