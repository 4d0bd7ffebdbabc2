"""The Evaluate page over a real server and a worker whose two sides are known."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server, open_page
from tests.fakes.fake_evaluation import HELD_AT, HELD_SEED, INACTIVE_SEED

N = 20  # the base is right on 10 of them, the trained model on 18: 10 won, 2 lost, 8 both right, none both wrong


@pytest.fixture(scope="module")
def run(server: Server) -> str:
    run_id = server.new_run(steps=3)
    server.wait_state(run_id, "succeeded")
    return run_id


@pytest.fixture(scope="module")
def evaluated(server: Server, run: str) -> str:
    """An evaluation of it that has ended."""
    begun = server.call("POST", f"/api/runs/{run}/evaluations", {"n": N, "k": 4})["run"]["id"]
    assert server.wait_state(begun, "succeeded", "failed") == "succeeded"
    return begun


def opened(page: Page, server: Server, more: str) -> Page:
    page.goto(f"{server.url}?tab=evaluate&lang=en&{more}")
    page.wait_for_selector("#evaluate-view:not([hidden])")
    return page


def overflow(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_without_a_run_the_page_says_what_to_do(page: Page, server: Server) -> None:
    page.goto(f"{server.url}?tab=evaluate&lang=en")
    page.wait_for_selector("#evaluate-quickstart")
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.goto(f"{server.url}?tab=evaluate&lang=en&run=20200101-000000-aaaa")
    page.wait_for_selector("#evaluate-empty h2")
    expect(page.locator("#evaluate-empty h2")).to_contain_text("no longer here")


def test_from_the_live_page_to_what_the_run_measured_itself(page: Page, server: Server, run: str) -> None:
    page.goto(f"{server.url}?run={run}&tab=live&lang=en")
    page.click("#live-evaluate")
    page.wait_for_selector("#evaluate-sentence")
    assert "tab=evaluate" in page.url
    assert page.locator("#evaluate-picker option").first.inner_text() == "The run's own, before and after"
    assert page.locator("#evaluate-sentence").inner_text().startswith("Accuracy ")
    assert page.locator("#evaluate-proof:visible").count() == 0, "a run's own evaluation proves nothing of weights"
    # Both languages at once, without a reload.
    page.click("#language-switch [data-lang=ko]")
    assert "정확도" in page.locator("#evaluate-sentence").inner_text()
    assert page.locator("#evaluate-won span").first.inner_text() == "새로 맞힘"
    expect(page.locator("#evaluate-problems .ev-item").first).to_contain_text("정답")


def test_an_evaluation_is_started_watched_stopped_and_resumed(page: Page, server: Server, run: str) -> None:
    opened(page, server, f"run={run}")
    page.click("#evaluate-new")
    page.fill("#evaluate-k", "65")
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.click("#evaluate-start")
    page.wait_for_selector("#evaluate-k-error:visible")
    assert page.locator("#evaluate-k").get_attribute("aria-invalid") == "true"
    page.watched.expect_failures = False  # type: ignore[attr-defined]
    page.fill("#evaluate-k", "4")
    assert page.locator("#evaluate-k-error:visible").count() == 0
    page.fill("#evaluate-n", "40")
    page.fill("#evaluate-seed", str(HELD_SEED))
    page.click("#evaluate-start")
    page.wait_for_selector("#evaluate-stop:visible")
    expect(page.locator("#evaluate-status")).to_contain_text(f"evaluate base {HELD_AT}/40")
    page.click("#evaluate-stop")
    page.wait_for_selector("#evaluate-resume:visible")
    page.click("#evaluate-resume")
    page.wait_for_selector("#evaluate-progress", state="hidden")
    page.wait_for_selector("#evaluate-table:visible")
    expect(page.locator("#evaluate-sentence")).to_contain_text("on 40 held-out problems")


def test_table_proof_and_tokens(page: Page, server: Server, evaluated: str) -> None:
    opened(page, server, f"run={evaluated}")  # the evaluation's own link opens on it
    page.wait_for_selector("#evaluate-table:visible")
    row = page.locator("#evaluate-table tr[data-measure=accuracy]")
    assert [cell.split("\n")[0] for cell in row.locator("td").all_inner_texts()] == ["50.0%", "90.0%", "+40.0 pp"]
    assert page.locator("#evaluate-table tr[data-measure=pass_at_k] th").inner_text() == "pass@4"
    assert page.locator("#evaluate-table tr[data-measure=majority] td").all_inner_texts() == ["5.0%", "5.0%", "–"]
    assert page.locator(".ev-answer-words").inner_text().startswith("Something new: pass@4 rose by +40.0 pp")
    facts = page.locator("#evaluate-facts dd").all_inner_texts()
    assert facts[0] == "20"
    assert facts[4] == "10 / 2"
    assert page.locator("#evaluate-plot .ev-plot-row[data-measure=accuracy] .ev-dot").count() == 3
    assert page.locator("#evaluate-breakdown .ev-bar-row").count() == 2
    assert page.locator("#evaluate-proof [data-verdict=active]").count() >= 1
    tokens = page.locator("#evaluate-shift .ev-tokens").first
    assert tokens.inner_text().replace("\n", "") == "<answer>3<b>bold</b>ESC</answer>"
    signs = tokens.locator(".ev-token").evaluate_all("all => all.map(n => n.dataset.sign)")
    assert signs == ["up", "up", "down", "down", "same", "same"]
    tokens.focus()
    page.keyboard.press("ArrowRight")
    assert "+1.80" in page.locator("#evaluate-shift .ev-token-said").first.inner_text()


def test_an_evaluation_on_live_and_in_the_list(page: Page, server: Server, run: str, evaluated: str) -> None:
    name = server.call("GET", f"/api/runs/{run}")["name"]
    page.goto(f"{server.url}?run={evaluated}&tab=live&lang=ko")
    page.wait_for_selector("#live-kind:visible")
    assert page.locator("#live-kind").inner_text() == f"평가 · {name}"
    page.wait_for_function("document.getElementById('live-headline').textContent.includes('50% → 90%')")
    assert f"양쪽 각 {N}행" in page.locator("#live-progress").inner_text()
    assert page.locator("#live-evaluation td").first.inner_text().startswith("50.0%")
    assert page.locator("#live-view .charted:visible section:visible, #live-view .not-drawn:visible").count() == 0
    page.click("#live-evaluate")
    page.wait_for_selector("#evaluate-table:visible")
    assert f"run={run}" in page.url
    assert f"evaluation={evaluated}" in page.url
    # Its sections are one click away. The page grows until the last of them is read: only then can it come to the top.
    page.wait_for_selector("#evaluate-problems .ev-item")
    page.click("#evaluate-jump a >> nth=-1")
    page.wait_for_function("document.getElementById('evaluate-problems').getBoundingClientRect().top < innerHeight / 2")
    page.goto(f"{server.url}?tab=runs&lang=ko")
    line = page.locator(f'tr[data-run="{evaluated}"]')
    line.wait_for()
    expect(line.locator(".r-kind")).to_have_text(f"평가 · {name}")
    expect(line.locator(".r-steps")).to_have_text(f"{N}행")
    expect(line.locator(".r-accuracy .r-accuracy")).to_have_text("50% → 90%")


def test_problems_by_outcome_as_exact_text(page: Page, server: Server, evaluated: str) -> None:
    opened(page, server, f"run={evaluated}")
    expect(page.locator("#evaluate-problems .ev-item")).to_have_count(10)
    first = page.locator("#evaluate-problems .ev-item").first
    assert first.locator(".ev-mark").all_inner_texts() == ["×\nwrong", "✓\nright"]
    assert "<img src=x onerror" in first.inner_text(), "a model's text is shown, never run"
    assert page.title() != "owned"
    summary = first.locator(".ev-samples summary").last
    summary.click()
    first.locator(".ev-side").last.locator(".ev-sample").nth(3).wait_for()
    page.click("#evaluate-lost")
    page.wait_for_function("document.querySelectorAll('#evaluate-problems .ev-item').length === 2")
    page.click("#evaluate-both_wrong")
    page.wait_for_function("document.querySelectorAll('#evaluate-problems .ev-item').length === 0")
    # Ticks bring nothing new: nothing is drawn again, and what is open stays open.
    page.click("#evaluate-won")
    page.wait_for_selector("#evaluate-problems .ev-item")
    page.locator("#evaluate-problems summary").first.click()
    page.evaluate("window.kept = document.querySelector('#evaluate-table tr')")
    with page.expect_response(lambda answer: answer.url.endswith("/evaluations")):
        pass
    with page.expect_response(lambda answer: answer.url.endswith("/evaluations")):
        pass  # so the tick before has been drawn, or not, to its end
    assert page.evaluate("window.kept.isConnected && document.querySelector('#evaluate-problems details').open")


def test_figures_of_an_evaluation_that_failed_prove_nothing(page: Page, server: Server, run: str) -> None:
    failed = server.call("POST", f"/api/runs/{run}/evaluations", {"n": 4, "seed": INACTIVE_SEED})["run"]["id"]
    server.wait_state(failed, "failed")
    opened(page, server, f"run={run}&evaluation={failed}")
    page.wait_for_selector("#evaluate-progress [role=alert]")
    expect(page.locator("#evaluate-progress")).to_contain_text("the adapter is inactive")
    sentence = page.locator("#evaluate-sentence")
    expect(sentence).to_contain_text(re.compile("^The evaluation failed, so this proves nothing:"))
    expect(sentence).to_have_attribute("data-verdict", "no_signal")
    expect(page.locator("#evaluate-proof [data-verdict=inactive]")).to_have_count(1)
    page.wait_for_selector("#evaluate-problems .ev-item")  # what was answered can still be read


def test_narrow_and_wide_in_both_languages(browser: Browser, server: Server, evaluated: str) -> None:
    for width in (390, 1440):
        page = open_page(browser, viewport={"width": width, "height": 900})
        opened(page, server, f"run={evaluated}")
        page.wait_for_selector("#evaluate-problems .ev-item")
        for language in ("en", "ko"):
            page.click(f"#language-switch [data-lang={language}]")
            assert overflow(page) <= 0, (width, language)
        left = (
            page.locator("#evaluate-page, .ev-sides")
            .first.locator(".ev-side")
            .evaluate_all("sides => sides.map(side => side.getBoundingClientRect().left)")
        )
        assert (left[0] == left[1]) is (width == 390), "answers side by side where there is room, else stacked"
        page.context.close()


def test_a_control_is_one_click_and_says_what_it_costs(page: Page, server: Server, run: str) -> None:
    opened(page, server, f"run={run}&evaluation=own")
    expect(page.locator("#evaluate-controls")).to_contain_text("trains as long as this run did")
    page.click("#evaluate-control")
    page.wait_for_selector("#evaluate-control-run:visible")
    page.wait_for_selector("#evaluate-control-run [data-state=succeeded]")
    page.wait_for_selector("#evaluate-controls .ev-said")
