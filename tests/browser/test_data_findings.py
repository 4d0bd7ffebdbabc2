"""What the Data page makes of a file's changes, of Boolean answers and of a public Space's limits, said once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server
from tests.browser.test_data import brought, opened


@pytest.mark.parametrize(
    ("lang", "note", "offer", "out"),
    [
        ("en", "is called self_ here", 'make them the texts "true" and "false"', "leave out the row that cannot"),
        ("ko", "self 열은 여기서 self_입니다", '"true", "false" 글자로 바꾸기', "쓸 수 없는 1개 행 빼기"),
    ],
)
def test_a_renamed_column_is_said_once_and_a_boolean_answer_becomes_text(
    page: Page, server: Server, tmp_path: Path, lang: str, note: str, offer: str, out: str
) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"prompt": f"{n}+1", "ground_truth": str(n + 1) if n else True, "self": 1} for n in range(5)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    opened(page, server, lang)
    brought(page, path)
    expect(page.locator(".d-report").get_by_text(note)).to_have_count(1)
    expect(page.locator(".d-problems tbody tr")).to_have_count(1)
    expect(page.locator(".d-problems tbody tr .num")).to_have_text("1")
    expect(page.locator(".d-offer", has_text=out)).to_be_visible()
    page.locator(".d-offer", has_text=offer).click()
    expect(page.locator(".d-verdict")).to_have_attribute("data-ok", "true")
    expect(page.locator(".d-problems tbody tr")).to_have_attribute("data-level", "warn")  # "true" is no number
    expect(page.locator(".d-taken-offer")).to_be_visible()
    expect(page.locator("#data-import")).to_be_enabled()


def test_a_limit_of_megabytes_and_a_space_without_paths(page: Page, server: Server) -> None:
    def sets(route) -> None:
        answer = json.dumps({"sets": [], "largest_upload": 50_000_000, "paths": False})
        route.fulfill(status=200, content_type="application/json", body=answer)

    page.route("**/api/data/sets", sets)
    opened(page, server)
    expect(page.locator(".d-drop .caption").first).to_contain_text("at most 50 MB")
    expect(page.get_by_label("Or a hub name (org/name)")).to_be_visible()
