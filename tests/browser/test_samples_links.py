"""Links on Samples: one completion marked in its group, the address of a group, presses that are the browser's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server, open_page
from tests.browser.test_samples import ROW, SIZE, address, hostile_group, opened

NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', {value: undefined})"  # as over plain http from elsewhere


@pytest.fixture(scope="module")
def run(server: Server) -> str:
    run_id = server.new_run(steps=12)
    server.wait_state(run_id, "succeeded")
    return run_id


@pytest.fixture
def reading(browser: Browser) -> Iterator[Page]:
    """A page whose clipboard may be read."""
    page = open_page(browser)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield page
    faults = page.watched.faults  # type: ignore[attr-defined]
    page.context.close()
    assert not faults, "\n".join(faults)


def test_the_completion_of_a_row_is_marked_in_its_group(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    row = page.locator(ROW).nth(5)
    index = row.get_attribute("data-index")
    row.click()
    expect(page.locator(".s-card[data-picked]")).to_have_attribute("data-index", str(index))
    expect(page.locator(".s-card[data-picked]")).to_be_in_viewport(ratio=0.5)
    # A row of cards that is scrolled stays so, whatever the list of runs says meanwhile.
    page.locator("#samples-cards").evaluate("(row) => { row.scrollLeft = 0; }")
    page.evaluate("import('/static/js/runlist.js').then((runs) => runs.refresh())")
    assert page.locator("#samples-cards").evaluate("(row) => row.scrollLeft") < 10
    page.reload()
    expect(page.locator(".s-card[data-picked]")).to_have_attribute("data-index", str(index))
    page.click("#samples-previous")
    page.wait_for_function("!new URLSearchParams(location.search).has('index')")
    expect(page.locator(".s-card")).to_have_count(SIZE)
    expect(page.locator(".s-card[data-picked]")).to_have_count(0)
    page.click("#samples-back")
    page.wait_for_selector(ROW)
    assert set(address(page)) == {"tab", "run", "lang"}


def test_a_completion_of_a_large_group_is_shown_where_the_address_names_it(
    page: Page, server: Server, run: str
) -> None:
    """Only the first cards of a large group stand at first; the one that is named stands too."""
    large = server.new_run(steps=2, num_generations=32)
    server.wait_state(large, "succeeded")
    group = server.call("GET", f"/api/runs/{large}/samples/at?step=1&place=0")["group"]
    last = group["completions"][-1]["index"]
    page.goto(f"{server.url}?tab=samples&lang=en&run={large}&group={group['id']}&index={last}")
    expect(page.locator(".s-card[data-picked]")).to_have_attribute("data-index", str(last))
    expect(page.locator(".s-card")).to_have_count(32)


def test_the_export_menu_is_whole_on_a_telephone(page: Page, server: Server, run: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, server, run, "&from=3")
    expect(page.locator("#samples-chips .s-chip").first).to_contain_text("from step 3 on")
    page.locator("#sa-export > summary").click()
    links = page.locator(".sa-way a")
    expect(links.first).to_be_visible()
    for box in [page.locator(".sa-menu").bounding_box(), *(link.bounding_box() for link in links.all())]:
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_a_reward_that_is_called_total_is_not_the_sum(page: Page, server: Server, run: str) -> None:
    found = server.call("GET", "/api/runs")
    for one in found["runs"]:
        one["reward_names"] = ["total", "format"]
    page.route("**/api/runs", lambda route: route.fulfill(json=found))
    opened(page, server, run)
    values = page.locator("#samples-reward option").evaluate_all("(all) => all.map((one) => one.value)")
    assert values == ["total", "reward:total", "format"]


def test_the_address_of_a_group_can_be_copied_and_opens_it(reading: Page, server: Server, run: str) -> None:
    opened(reading, server, run, "&correct=true")
    reading.locator(ROW).nth(3).click()
    title = reading.locator("#samples-title").inner_text()
    reading.evaluate("navigator.clipboard.writeText('before')")
    reading.click("#samples-link")
    reading.wait_for_function("async () => (await navigator.clipboard.readText()) !== 'before'")
    copied = reading.evaluate("navigator.clipboard.readText()")
    group = address(reading)["group"]
    assert copied == f"{server.url}?tab=samples&run={run}&group={group}"
    reading.goto(copied)
    expect(reading.locator("#samples-title")).to_have_text(title)


def test_a_copy_is_exact_where_the_browser_has_no_clipboard_of_its_own(reading: Page, server: Server, run: str) -> None:
    group = hostile_group(server, run)
    one = next(one for one in group["completions"] if "document.title" in one["text"])
    reader = reading.context.new_page()
    reader.goto(server.url)
    reader.evaluate("navigator.clipboard.writeText('before')")
    reading.add_init_script(NO_CLIPBOARD)
    opened(reading, server, run, f"&group={group['id']}", ".s-card")
    reading.bring_to_front()
    reading.locator(f".s-card[data-index='{one['index']}'] .s-copy").click()
    expect(reading.locator(".toasts .notice")).to_contain_text("Copied")
    reader.bring_to_front()
    assert reader.evaluate("navigator.clipboard.readText()") == one["text"]


@pytest.mark.parametrize("place", ["#nav-runs", "#samples-view-budget", f"{ROW} .s-open"])
def test_a_press_with_a_modifier_is_the_browsers(page: Page, server: Server, run: str, place: str) -> None:
    opened(page, server, run)
    before = page.evaluate("location.href")
    link = page.locator(place).first
    with page.context.expect_page() as other:
        link.click(modifiers=["Control"])
    other.value.close()
    with page.context.expect_page() as other:
        link.click(button="middle")
    other.value.close()
    assert page.evaluate("location.href") == before
    link.click()
    page.wait_for_function("(before) => location.href !== before", arg=before)
