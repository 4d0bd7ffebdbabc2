"""Stored sets on the Data page: generated, made from a run, gone meanwhile; the ways to them by keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, leave
from tests.browser.test_data import opened


def test_sums_are_generated_and_stored(page: Page, server: Server) -> None:
    opened(page, server)
    page.click("#data-way-make")
    page.locator('.d-generator[data-generator="arithmetic"]').click()
    page.locator('.d-arg[data-arg="n"] input').fill("20")
    page.locator(".d-make .d-foot input").fill("sums")
    page.click("#data-make")
    expect(page.locator(".d-set-title")).to_have_text("sums")
    expect(page.locator(".d-set .d-preview tbody tr")).to_have_count(20)
    page.click(".d-back")
    row = page.locator('.d-list tr[data-set="sums"]')
    expect(row.locator(".d-col-rows .d-value")).to_have_text("20")
    expect(row.locator(".d-lab")).to_have_attribute("href", re.compile(r"tab=rewards.*set=sums|set=sums.*tab=rewards"))
    page.set_viewport_size({"width": 390, "height": 844})
    for part in (".d-name", ".d-use", ".d-lab", ".d-delete"):
        expect(row.locator(part)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    leave(page)
    server.call("DELETE", "/api/data/sets/sums")


def test_reasoning_gym_is_offered_or_said_to_be_missing(page: Page, server: Server) -> None:
    offered = {one["name"]: one for one in server.call("GET", "/api/data/generators")["generators"]}
    opened(page, server)
    page.click("#data-way-make")
    page.locator('.d-generator[data-generator="reasoning_gym"]').click()
    if not offered["reasoning_gym"]["available"]:
        expect(page.locator(".d-make-form .notice")).to_contain_text("requirements-extra.txt")
        expect(page.locator("#data-make")).to_be_hidden()
        return
    page.fill("#data-task-search", "propositional")
    expect(page.locator(".d-task-row")).to_have_count(1, timeout=30_000)
    page.locator(".d-task-row").click()
    expect(page.locator(".d-task h3").first).to_have_text("propositional_logic", timeout=30_000)
    expect(page.locator(".d-task .f-example-text")).not_to_be_empty()
    page.locator('.d-generator[data-generator="syllogism"]').click()
    page.locator('.d-arg[data-arg="n"] input').fill("10")
    page.locator(".d-make .d-foot input").fill("syllogisms")
    page.click("#data-make")
    expect(page.locator(".d-set-title")).to_have_text("syllogisms", timeout=60_000)
    page.locator(".d-set .d-use").click()
    expect(page.locator(".f-notice")).to_contain_text("with the rewards that fit it: reasoning_gym, format")
    expect(page.locator(".f-reward code")).to_have_text(["reasoning_gym", "format"])
    leave(page)
    server.call("DELETE", "/api/data/sets/syllogisms")


def test_the_best_completions_of_a_run_become_warm_up_rows(page: Page, server: Server) -> None:
    run = server.new_run(5, name="<b>walk</b>")
    server.wait_state(run, "succeeded")
    opened(page, server)
    page.click("#data-way-best")
    page.select_option("#data-best-run", run)
    expect(page.locator(".d-best .d-foot input")).to_have_value("b-walk-b-best")
    page.fill("#data-best-least", "99")
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.click("#data-best")
    expect(page.locator(".d-best .d-fault")).to_be_visible()  # no completion earned as much
    page.fill("#data-best-least", "")
    page.click("#data-best")
    expect(page.locator(".d-set-title")).to_have_text("b-walk-b-best")
    expect(page.locator(".d-set .d-preview thead")).to_contain_text("completion")
    expect(page.locator(".d-set .d-lab")).to_have_count(0)
    leave(page)
    server.call("DELETE", "/api/data/sets/b-walk-b-best")


def test_a_set_that_is_gone_gives_a_message_and_the_way_back(page: Page, server: Server) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    opened(page, server, set="gone")
    expect(page.locator(".d-set .notice")).to_contain_text("could not be opened")
    page.locator(".d-set .notice .btn").click()
    expect(page.locator(".d-all")).to_be_visible()


def test_the_ways_to_a_set_are_used_with_the_keyboard(page: Page, server: Server) -> None:
    opened(page, server)
    page.focus("#data-way-file")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#data-way-make")).to_be_focused()
    expect(page.locator("#data-panel-make")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#data-panel-best")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#data-way-file")).to_be_focused()
