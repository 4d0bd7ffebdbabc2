"""The page on a public Space: the bar, recorded runs, the building, a run of one's own; and on one's own machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server, leave, open_page

HOST = "org-space.hf.space"
SLOW = 30_000  # milliseconds: other tests may share the cores


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Space from an empty disk; its model is built once `build.go` is there."""
    home = tmp_path_factory.mktemp("space") / "home"
    environment = {"SPACE_ID": "org/space", "SPACE_HOST": HOST, "GRPO_STUDIO_BUILD": "tests.fakes.fake_build"}
    environment["FAKE_STEP_S"] = "1"  # a run is still going when a slow page has a button to stop it
    running = Server(home, 7964, **environment).start()
    yield running
    running.stop()


@pytest.fixture
def page_ko(browser: Browser) -> Iterator[Page]:
    opened = open_page(browser, locale="ko-KR", viewport={"width": 390, "height": 844})
    yield opened
    faults = opened.watched.faults  # type: ignore[attr-defined]
    opened.context.close()
    assert not faults, "\n".join(faults)


def test_a_visitor_explores_then_trains_once(space: Server, page: Page) -> None:
    page.goto(space.url)
    bar = page.locator("#demo-bar")
    expect(bar).to_contain_text("Public demo", timeout=SLOW)
    expect(bar).to_contain_text("step 100 of 500", timeout=SLOW)
    expect(page.locator("#demo-start")).to_be_disabled(timeout=SLOW)
    page.get_by_role("link", name="The reward was hacked").click()
    expect(page.locator("#demo-about")).to_contain_text("fell from 100% to 18%", timeout=SLOW)
    expect(page.locator("#page-live")).to_contain_text("120", timeout=SLOW)
    nothing_is_offered_that_cannot_be(page, space)
    expect(page.locator("#page-live").get_by_role("button", name="Stop and keep checkpoint")).to_have_count(
        0, timeout=SLOW
    )
    (space.home / "build.go").touch()
    expect(page.locator("#demo-building")).to_have_count(0, timeout=SLOW)
    page.locator("#demo-start").click()
    expect(page.locator("#run-picker")).not_to_have_value("", timeout=SLOW)
    expect(page.locator("#demo-about")).to_have_count(0, timeout=SLOW)
    page.get_by_role("button", name="Stop and keep checkpoint").click()
    expect(page.locator("#run-status")).to_contain_text("stopped", timeout=SLOW)


def nothing_is_offered_that_cannot_be(page: Page, space: Server) -> None:
    """While the model is built, with a recorded run chosen: reasons stand where buttons are off."""
    page.locator("#nav-chat").click()
    expect(page.locator("#chat-barred")).to_contain_text("recording", timeout=SLOW)
    expect(page.locator("#chat-no-rows")).to_be_visible()
    page.locator("#nav-data").click()
    expect(page.locator("#data-closed")).to_be_visible(timeout=SLOW)
    expect(page.locator("#data-new")).to_be_hidden()
    page.locator("#nav-new").click()
    expect(page.locator("#f-why")).to_contain_text("still being built", timeout=SLOW)
    expect(page.locator("#f-start")).to_be_disabled()
    page.locator("#nav-live").click()


def test_the_bar_fits_a_telephone_in_korean(space: Server, page_ko: Page) -> None:
    page_ko.goto(space.url)
    expect(page_ko.locator("#demo-bar")).to_contain_text("공개 데모", timeout=SLOW)
    page_ko.get_by_role("link", name="모든 그룹이 죽은 실행").click()
    expect(page_ko.locator("#demo-about")).to_contain_text("기울기도 0", timeout=SLOW)
    assert page_ko.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_on_ones_own_machine_the_recorded_runs_are_opened_when_asked_for(
    browser: Browser, page: Page, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = Server(tmp_path_factory.mktemp("own") / "home", 7966).start()
    try:
        page.goto(own.url + "?tab=runs")
        expect(page.locator("#runs-quickstart")).to_be_visible(timeout=SLOW)
        expect(page.locator("#demo-bar")).to_be_hidden(timeout=SLOW)
        page.locator("#runs-recorded").click()
        expect(page.locator("#demo-about")).to_contain_text("It learned", timeout=SLOW)
        page.locator("#language-switch [data-lang=ko]").click()
        expect(page.locator("#demo-about")).to_contain_text("학습된 실행", timeout=SLOW)
        expect(page.locator("#demo-start")).to_have_count(0, timeout=SLOW)
        leave(page)
    finally:
        own.stop()
