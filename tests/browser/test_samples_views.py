"""Prompts, the signal budget, plots and the Export menu, over a recording of a real training."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, Page

from backend.services import Services
from backend.settings import PROJECT, Settings
from storage import portable
from tests.browser.conftest import Server, open_page

RECORDING = PROJECT / "configs" / "recordings" / "learned.jsonl.gz"
DRAWN = "[data-drawn]"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    home = tmp_path_factory.mktemp("recorded") / "home"
    services = Services(Settings(home))
    run = portable.load(services.db, RECORDING)
    services.close()
    server = Server(home, 7984).start()
    yield server, run
    server.stop()


def opened(page: Page, recorded: tuple[Server, str], view: str, ready: str, more: str = "&lang=en") -> str:
    server, run = recorded
    page.goto(f"{server.url}?tab=samples&run={run}&view={view}{more}")
    page.wait_for_selector(ready)
    return run


def query(page: Page) -> dict[str, str]:
    asked = page.evaluate("location.search").removeprefix("?")
    return {name: values[0] for name, values in parse_qs(asked).items()}


def test_where_the_tokens_went(page: Page, recorded: tuple[Server, str]) -> None:
    run = opened(page, recorded, "budget", f"#sa-budget-chart{DRAWN}")
    found = recorded[0].call("GET", f"/api/runs/{run}/samples/budget")
    assert 0 < found["total"]["taught"] < 1
    assert page.locator("#sa-budget-said").inner_text() == found["text"]["en"]
    shares = page.locator("#sa-budget-table tbody td:nth-child(3)").all_inner_texts()
    assert sum(float(share.rstrip("%")) for share in shares) == pytest.approx(100, abs=0.3)
    drawn = page.locator("#sa-budget-chart").get_attribute("data-drawn")
    page.select_option("#sa-budget-unit", "seconds")
    page.wait_for_function(f"document.getElementById('sa-budget-chart').dataset.drawn > {drawn}")
    page.click("#language-switch [data-lang=ko]")
    assert page.locator("#sa-budget-said").inner_text() == found["text"]["ko"]
    # A step of the chart opens its samples.
    page.evaluate("document.getElementById('sa-budget-chart').emit('plotly_click', {points: [{customdata: [3, 3]}]})")
    page.wait_for_selector("#samples-list .s-body .s-row")
    assert (query(page)["from"], query(page)["to"]) == ("3", "3")
    assert "view" not in query(page)


def test_from_a_prompt_to_its_story_and_its_group(page: Page, recorded: tuple[Server, str]) -> None:
    run = opened(page, recorded, "prompts", "#sa-prompts-table tbody tr")
    of = recorded[0].call("GET", f"/api/runs/{run}/samples/prompts?limit=1")["of"]
    shown = page.locator("#sa-prompts-table tbody tr")
    assert shown.count() == min(50, of)
    if of > 50:
        page.click("#sa-prompts-more")
        page.wait_for_function("document.querySelectorAll('#sa-prompts-table tbody tr').length > 50")
    page.select_option("#sa-prompts-sort", "solve_last")
    page.wait_for_function("new URLSearchParams(location.search).get('sort') === 'solve_last'")
    page.wait_for_selector("#sa-prompts-table:not([data-stale])")
    page.locator("#sa-prompts-table tbody a").first.click()
    page.wait_for_selector(f"#sa-biography-chart{DRAWN}")
    told = recorded[0].call("GET", f"/api/runs/{run}/samples/prompt?prompt={query(page)['prompt']}")
    assert page.locator("#sa-biography-said").inner_text() == told["story"]["text"]["en"]
    assert page.locator("#sa-biography-table tbody tr").count() == len(told["groups"])
    answers = page.locator(".sa-sides .sa-answer").all_inner_texts()
    wanted = [told["first"]["best"]["text"], told["latest"]["best"]["text"]]
    assert [text.strip() for text in answers] == [text.strip() for text in wanted[: len(answers)]]
    page.locator(".sa-sides a").first.click()
    page.wait_for_selector("#samples-cards .s-card")
    assert query(page)["group"] == str(told["first"]["id"])
    page.go_back()
    page.wait_for_selector("#sa-biography:visible")


def test_advantages_and_a_point_that_opens_its_sample(page: Page, recorded: tuple[Server, str]) -> None:
    run = opened(page, recorded, "plots", f"#sa-scatter-chart{DRAWN}")
    page.wait_for_selector(f"#sa-advantage-chart{DRAWN}")
    assert "standard deviation" in page.locator("#sa-advantage-said").inner_text()
    told = recorded[0].call("GET", f"/api/runs/{run}/samples/histogram")
    edges = page.evaluate("document.getElementById('sa-advantage-chart').data[0].x")
    assert edges == [0.5, *(last + 0.5 for _, last in told["spans"])], "a column covers its steps and no more"
    page.select_option("#sa-scatter-x", "correct")
    found = recorded[0].call("GET", f"/api/runs/{run}/samples/scatter?x=correct")
    page.wait_for_function(
        f"document.getElementById('sa-scatter-said').textContent === {json.dumps(found['text']['en'])}"
    )
    assert found["within"]["low"] > 0.5, "what this run was paid for was the right answer"
    group = page.evaluate(
        "(() => { const chart = document.getElementById('sa-scatter-chart'), point = chart.data[0].customdata[0];"
        " chart.emit('plotly_click', {points: [{customdata: point}]}); return point[0]; })()"
    )
    page.wait_for_selector("#samples-cards .s-card")
    assert query(page)["group"] == str(group)


def test_a_chart_that_left_the_screen_and_came_back_between_two_looks_is_drawn(
    page: Page, recorded: tuple[Server, str]
) -> None:
    """A busy page is told both at once: the last is how it is now."""
    page.add_init_script(
        "const Real = IntersectionObserver; window.IntersectionObserver = class extends Real {"
        " constructor(tell, options) { super((all, self) =>"
        " tell([...all.map(({ target }) => ({ target, isIntersecting: false })), ...all], self), options); } }"
    )
    opened(page, recorded, "plots", f"#sa-advantage-chart{DRAWN}")


def test_a_reward_of_any_name_is_named_as_it_is(page: Page, recorded: tuple[Server, str]) -> None:
    server, run = recorded
    found = server.call("GET", f"/api/runs/{run}/samples/scatter")
    found["choices"] += [
        {"x": "a<b>", "name": "a<b>", "meaning": "reward"},
        {"x": "reward:tokens", "name": "tokens", "meaning": "reward"},
    ]
    page.route("**/samples/scatter?*", lambda route: route.fulfill(json=found))
    opened(page, recorded, "plots", f"#sa-scatter-chart{DRAWN}")
    offered = page.locator("#sa-scatter-x option")
    assert offered.all_inner_texts()[-2:] == ["a<b>", "tokens"]
    with page.expect_response(lambda answer: "x=reward%3Atokens" in answer.url):
        page.select_option("#sa-scatter-x", "reward:tokens")


def test_the_menu_gives_files_of_the_present_filter(page: Page, recorded: tuple[Server, str], tmp_path: Path) -> None:
    server, run = recorded
    page.goto(f"{server.url}?tab=samples&run={run}&lang=en&correct=false")
    page.wait_for_selector("#samples-list .s-body .s-row")
    page.click("#sa-export > summary")
    page.wait_for_selector(".sa-way[data-what=pairs] a")
    for what, form, keys in (
        ("completions", "jsonl", {"completion", "correct", "step"}),
        ("pairs", "jsonl", {"prompt", "chosen", "rejected"}),
    ):  # fmt: skip
        with page.expect_download() as waiting:
            page.click(f".sa-way[data-what={what}] a[data-form={form}]")
        path = tmp_path / f"{what}.{form}"
        waiting.value.save_as(path)
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert rows
        assert all(keys <= row.keys() for row in rows)
        if what == "completions":
            assert {row["correct"] for row in rows} == {False}
    page.keyboard.press("Escape")
    assert page.locator("#sa-export[open]").count() == 0


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_nothing_is_wider_than_the_page(browser: Browser, recorded: tuple[Server, str], width: int) -> None:
    page = open_page(browser, viewport={"width": width, "height": 844})
    for view, ready in (
        ("budget", f"#sa-budget-chart{DRAWN}"), ("plots", f"#sa-scatter-chart{DRAWN}"),
        ("prompts", "#sa-prompts-table tbody tr"),
    ):  # fmt: skip
        opened(page, recorded, view, ready, "&lang=ko&theme=dark")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view
        if view == "budget":
            cut = "(nodes) => nodes.filter((one) => one.getBoundingClientRect().right > innerWidth).length"
            assert page.locator("#sa-budget-table .sa-means > *").evaluate_all(cut) == 0, "what a part taught is read"
    assert not page.watched.faults  # type: ignore[attr-defined]
    page.context.close()
