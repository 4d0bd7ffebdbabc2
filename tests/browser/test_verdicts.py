"""What each reward read in a completion, and why it gave its score, folded away under the completion."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Server


@pytest.fixture(scope="module")
def ended(server: Server) -> Iterator[str]:
    run = server.new_run(steps=4, num_generations=8, per_device_train_batch_size=8)
    server.wait_state(run, "succeeded")
    yield run
    server.end(run)


def opened(page: Page, server: Server, run: str) -> Page:
    page.goto(f"{server.url}?run={run}&tab=live&step=3")
    page.wait_for_selector("#live-groups")
    page.locator("#live-groups").scroll_into_view_if_needed()
    page.wait_for_selector("#live-groups .completion .verdicts")
    return page


def test_reasons_stand_under_the_completion(page: Page, server: Server, ended: str) -> None:
    opened(page, server, ended)
    group = server.call("GET", f"/api/runs/{ended}/samples?step=3&limit=16")["groups"][0]
    row = page.locator("#live-groups .group").first.locator(".completion:not(.head)").nth(0)
    assert not row.locator(".verdicts dl").is_visible()
    row.locator(".verdicts summary").click()
    said = row.locator(".verdicts dl").inner_text()
    first = group["completions"][0]
    assert first["extracted"][0] in said
    assert first["reasons"][0]["en"] in said
    assert "format" not in said


def test_a_missing_score_says_why_and_hostile_reasons_are_text(page: Page, server: Server, ended: str) -> None:
    opened(page, server, ended)
    row = page.locator("#live-groups .group").first.locator(".completion:not(.head)").nth(7)
    missing = row.locator(".each em")
    assert missing.inner_text() == "–"
    assert missing.get_attribute("title") == "<b>no form</b>[ESC][31m to judge"
    row.locator(".verdicts summary").click()
    assert "<b>no form</b>[ESC][31m to judge" in row.locator(".verdicts dl").inner_text()
    assert row.locator(".verdicts b").count() == 0
