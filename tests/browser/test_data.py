"""The Data page in a browser: a CP949 file from the drop to a run, hostile cells, generators, languages, widths."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, leave

HOSTILE = [
    "<img src=x onerror=\"document.title='owned'\">",
    "</td></table><script>document.title='owned'</script>",
    "<style>body{display:none}</style>",
    "[x](javascript:alert(1)) {{constructor.constructor('alert(1)')()}} ${alert(1)}",
    "\u202etxet \u200b\x1b[31mred",
]


def korean(path: Path, rows: int = 60) -> Path:
    """A CP949 CSV with one blank question (row 4) and one asked twice with two answers (rows 5 and 6)."""
    table = [
        {"번호": f"{n:03d}", "질문": f"{n} + {n + 7}은?", "정답": str(2 * n + 7), "분류": "덧셈"} for n in range(rows)
    ]
    table[3]["질문"] = ""
    table[5]["질문"] = table[4]["질문"]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(table[0]))
    writer.writeheader()
    writer.writerows(table)
    path.write_bytes(out.getvalue().encode("cp949"))
    return path


def opened(page: Page, server: Server, lang: str = "en", **query: str) -> None:
    more = "".join(f"&{key}={value}" for key, value in query.items())
    page.goto(f"{server.url}?tab=data&lang={lang}{more}")
    page.wait_for_selector(".d-page")


def brought(page: Page, path: Path) -> None:
    """A file chosen and checked."""
    page.set_input_files("#data-file", str(path))
    page.wait_for_selector(".d-report:not([hidden])")


def menu(page: Page, label: str):
    return page.get_by_label(label, exact=True)


def test_a_cp949_file_is_mapped_imported_and_used_in_a_run(page: Page, server: Server, tmp_path: Path) -> None:
    opened(page, server)
    brought(page, korean(tmp_path / "수학.csv"))
    expect(menu(page, "Encoding").locator("option:checked")).to_have_text("found: cp949")
    expect(page.locator(".d-verdict")).to_contain_text("Say first which column is the prompt")
    expect(page.locator("#data-import")).to_be_disabled()
    expect(page.locator("#data-why")).to_have_text("Choose the prompt’s column first.")

    menu(page, "Prompt").select_option(label="질문")
    expect(page.locator(".d-verdict")).to_have_text("1 problem keeps this file out.")
    menu(page, "Ground truth").select_option(label="정답")
    problems = page.locator(".d-problems tbody tr")
    expect(problems.first).to_contain_text("blank")
    expect(problems.first.locator("td.num")).to_have_text("4")
    expect(page.locator('.d-count[data-count="duplicate_prompts"] dd')).to_have_text("1")
    expect(page.locator(".d-preview .d-role-of")).to_have_text(["Prompt", "Ground truth"])
    expect(page.locator(".d-file .d-preview tbody tr")).to_have_count(50)

    page.locator(".d-offer", has_text="cannot be used").click()
    expect(page.locator(".d-verdict")).to_have_text("59 rows can be used.")
    expect(page.locator(".d-taken-offer")).to_be_visible()
    menu(page, "Prompt").select_option(label="Made from a template…")
    page.fill(".d-template", "문제: {질문}\n답:")
    expect(page.locator(".d-live-text")).to_have_text("문제: 0 + 7은?\n답:")
    page.fill("#data-name", "수학 문제")
    expect(page.locator("#data-import")).to_be_enabled()
    page.click("#data-import")

    expect(page.locator(".d-set-title")).to_have_text("수학 문제")
    expect(page).to_have_url(re.compile("set="))
    expect(page.locator(".d-set .d-preview td").first).to_contain_text("문제: 0 + 7은?")
    expect(page.locator(".d-set .d-fact-list")).to_contain_text("cp949")
    page.locator(".d-set .d-use").click()
    expect(page.locator("#f-dataset")).to_have_value("수학 문제")
    expect(page.locator(".f-notice")).to_contain_text("The dataset is now 수학 문제.")
    expect(page.locator('.f-field[data-field="dataset"] [data-set="수학 문제"]')).to_have_attribute(
        "aria-pressed", "true"
    )
    # The quickstart holds out 200 rows, and the file has 59: the form says so, and what would do.
    page.locator(".f-note[data-severity=stop] .f-note-field").first.click()
    page.locator('.f-field[data-field="eval_size"] .f-chip').first.click()
    page.wait_for_selector("#f-start:not([disabled])")
    page.click("#f-start")
    page.wait_for_function("document.body.dataset.tab === 'live' || document.querySelector('#f-anyway')")
    if page.locator("#f-anyway").count():
        page.click("#f-anyway")
    page.wait_for_function("document.body.dataset.tab === 'live'")
    run = page.evaluate("new URLSearchParams(location.search).get('run')")
    config = server.call("GET", f"/api/runs/{run}")["config"]
    assert config["dataset"] == "수학 문제"
    assert config["dataset_sha256"]
    server.end(run)
    page.go_back()
    page.wait_for_selector("#f-start:not([disabled])")
    page.locator('.f-field[data-field="dataset"] [data-set="arithmetic"]').click()
    expect(page.locator("#f-dataset")).to_have_value("arithmetic")
    opened(page, server, set="수학 문제")
    expect(page.locator(".d-set .d-run")).to_have_count(1)
    page.locator(".d-set .d-delete").click()
    expect(page.locator("dialog[open]")).to_contain_text("Runs that used it: 1.")
    page.click("dialog[open] .btn.danger")
    expect(page.locator("#studio-toasts")).to_contain_text("수학 문제 is deleted.")
    expect(page.locator(".d-all")).to_be_visible()


def test_what_a_file_holds_is_shown_and_never_acted_on(page: Page, server: Server, tmp_path: Path) -> None:
    column = "<b onmouseover=alert(1)>질문"
    path = tmp_path / "<img src=x onerror=alert(1)>.jsonl"
    path.write_text("".join(json.dumps({column: f"{text} {n}", "정답": text}) + "\n" for n, text in enumerate(HOSTILE)))
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        opened(page, server)
        brought(page, path)
        expect(page.locator(".d-file-name").last).to_have_text(path.name)
        menu(page, "Prompt").select_option(label=column)
        expect(page.locator(".d-verdict")).to_have_text("5 rows can be used.")
        cells = page.locator(".d-file .d-preview td .d-cell")
        expect(cells.nth(0)).to_have_text(f"{HOSTILE[0]} 0")
        expect(cells.nth(8)).to_contain_text("U+202E")
        expect(cells.nth(8)).to_contain_text("ESC")
        expect(page.locator(".d-file .d-preview th", has_text="onmouseover")).to_have_count(1)
        assert page.locator("#data-root :is(img, style, script, b)").count() == 0
        assert page.evaluate("document.title") != "owned"
        assert page.evaluate("getComputedStyle(document.body).display") != "none"
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_wrong_encoding_can_be_overridden(page: Page, server: Server, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("prompt,ground_truth\n대한민국의 수도는?,서울\n".encode("cp949"))
    opened(page, server)
    brought(page, path)
    expect(page.locator(".d-rendered")).to_contain_text("대한민국의 수도는?")
    menu(page, "Encoding").select_option(label="latin-1")
    expect(page.locator(".d-rendered")).not_to_contain_text("대한민국")
    menu(page, "Encoding").select_option(label="found out by itself")
    expect(page.locator(".d-rendered")).to_contain_text("대한민국의 수도는?")


def test_conversations_become_warm_up_rows(page: Page, server: Server, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    talk = [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]
    path.write_text("".join(json.dumps({"messages": talk, "id": n}) + "\n" for n in range(12)))
    opened(page, server)
    brought(page, path)
    page.locator(".d-mapping .f-segment input").nth(1).check()
    expect(page.locator(".d-verdict")).to_have_text("12 rows can be used.")
    expect(page.locator(".d-rendered-row").first).to_contain_text("assistant")
    page.fill("#data-name", "talk")
    page.click("#data-import")
    expect(page.locator(".d-set-title")).to_have_text("talk")
    page.locator(".d-set .d-use").click()
    expect(page.locator(".f-notice")).to_contain_text("warm-up on talk")
    expect(page.locator("#f-sft_dataset")).to_have_value("talk")
    leave(page)
    server.call("DELETE", "/api/data/sets/talk")


def test_an_upload_shows_how_far_it_is_and_can_be_cancelled(page: Page, server: Server, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text("".join(json.dumps({"prompt": "x" * 1000}) + "\n" for _ in range(3000)))
    opened(page, server)
    page.route("**/api/data/upload*", lambda route: None)  # never answered
    page.set_input_files("#data-file", str(path))
    expect(page.locator(".d-progress")).to_contain_text("long.jsonl")
    expect(page.locator(".d-progress [role=progressbar]")).to_be_visible()
    page.locator(".d-progress .btn").click()
    expect(page.locator("#data-choose")).to_be_focused()
    page.unroute("**/api/data/upload*")
    brought(page, path)
    expect(page.locator(".d-verdict")).to_have_text("3,000 rows can be used.")


def test_a_file_that_is_none_and_one_that_is_not_read_are_refused_in_words(
    page: Page, server: Server, tmp_path: Path
) -> None:
    opened(page, server)
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.fill("#data-path", str(tmp_path / "none.jsonl"))
    page.keyboard.press("Enter")
    expect(page.locator(".d-fault:visible")).to_contain_text("none.jsonl")
    page.get_by_role("button", name="Another file").click()
    (tmp_path / "x.exe").write_bytes(b"MZ")
    page.set_input_files("#data-file", str(tmp_path / "x.exe"))
    expect(page.locator(".d-fault:visible")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 390])
def test_korean_is_whole_and_switches_without_a_reload(page: Page, server: Server, tmp_path: Path, width: int) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"prompt": f"{n}?", "ground_truth": n}) + "\n" for n in range(9)))
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, server, lang="ko")
    brought(page, path)
    expect(page.locator(".d-verdict")).to_have_text("9행을 쓸 수 있습니다.")
    # The rewards that it may be tried with are asked for beside it, and may come later.
    expect(page.locator(".d-mapping option", has_text="accuracy").first).to_be_attached()
    korean_text = page.locator(".d-new").inner_text()  # in the list of sets stands how long ago
    page.click('#studio-header [data-lang="en"]')
    expect(page.locator(".d-verdict")).to_have_text("9 rows can be used.")
    assert not re.search("[가-힣]", page.locator("#data-root").inner_text())
    page.click('#studio-header [data-lang="ko"]')
    expect(page.locator(".d-verdict")).to_have_text("9행을 쓸 수 있습니다.")
    assert page.locator(".d-new").inner_text() == korean_text
    assert page.evaluate("document.documentElement.scrollWidth") <= width
