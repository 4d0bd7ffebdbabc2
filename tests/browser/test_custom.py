"""The editor of custom rewards in a real browser: write, look, test, save, open, delete."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from backend.custom.naming import ON_SPACE
from tests.browser.conftest import Server, open_page
from tests.custom_support import NO_SANDBOX

SANDBOX = pytest.mark.skipif(NO_SANDBOX, reason="no sandbox on this machine")
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def opened(page: Page, server: Server, lang: str = "en") -> Page:
    page.goto(f"{server.url}?tab=rewards&lab=custom&lang={lang}")
    page.wait_for_selector("#cr-code")
    return page


def write(page: Page, source: str) -> None:
    page.fill("#cr-code", source)


def problem(page: Page, code: str):
    return page.locator(f'.cr-problem[data-code="{code}"]')


@SANDBOX
def test_from_a_template_to_a_saved_version_and_back(page: Page, server: Server) -> None:
    opened(page, server)
    page.select_option("#cr-template", "keywords")
    expect(page.locator("#cr-code")).to_have_value(re.compile("def has_keywords"))
    page.click("#cr-test")
    expect(page.locator(".cr-verdict")).to_have_attribute("data-level", "ok")
    expect(page.locator(".cr-scores tbody tr")).to_have_count(2)
    expect(page.locator(".cr-scores tbody tr").first).to_contain_text("0.500")
    page.click("#cr-rows-real")
    expect(page.locator("#cr-rows")).to_have_value(re.compile('"ground_truth"'))
    page.fill("#cr-name", "words")
    expect(page.locator("#cr-save")).to_have_text("Save as version 1")
    page.click("#cr-save")
    saved = page.locator('.cr-saved li[data-reward="words"]')
    expect(saved).to_contain_text("version 1")
    write(page, page.input_value("#cr-code") + "# more\n")
    expect(page.locator("#cr-save")).to_have_text("Save as version 2")
    page.click("#cr-save")
    expect(saved).to_contain_text("version 2")
    page.select_option("#cr-version", "1")
    expect(page.locator("#cr-code")).not_to_have_value(re.compile("# more"))
    # The form of a new run knows it at once.
    page.goto(f"{server.url}?tab=new")
    page.get_by_role("button", name="Add a reward: words").click()
    expect(page.locator('.f-reward[data-reward="words"]')).to_contain_text("version 2")
    opened(page, server)
    saved.locator(".btn").click()
    page.locator("dialog[open]").get_by_role("button", name="Delete", exact=True).click()
    expect(saved).to_have_count(0)
    assert "words" not in [one["name"] for one in server.call("GET", "/api/custom")["rewards"]]


def test_what_is_wrong_is_told_while_typing_and_mended_by_buttons(page: Page, server: Server) -> None:
    opened(page, server)
    page.fill("#cr-rows", '{"completion": "a", "answer": "5", "topic": "x"}')
    write(page, "def judge(completions, solution):\n    return [1.0\n")
    expect(problem(page, "syntax")).to_be_visible()
    expect(page.locator('.cr-lines li[data-mark="stop"]')).to_have_text("2")
    write(
        page,
        "def judge(completions, solution,\n          more={'a': ':'}):  # of: it\n    return [1.0] * "
        "len(completions)\n",
    )
    problem(page, "kwargs").get_by_role("button", name="Use this signature").click()
    expect(problem(page, "kwargs")).to_have_count(0)
    expect(page.locator("#cr-code")).to_have_value(
        re.compile(r"^def judge\(completions, solution, more=.*\*\*kwargs\):  # of: it\n")
    )
    problem(page, "no_column").get_by_role("button", name="Take answer for solution").click()
    expect(page.locator("#cr-mapping")).to_have_value("solution = answer")
    expect(page.locator(".cr-problem")).to_have_count(0)
    write(page, "import torch\ndef a(completions, **kwargs): pass\ndef b(completions, **kwargs): pass\n")
    problem(page, "choose").get_by_role("button", name="Take b").click()
    expect(page.locator("#cr-function")).to_have_value("b")
    problem(page, "import").get_by_role("button", name="Make it trusted").click()
    expect(page.locator("#cr-level-trusted")).to_be_checked()
    expect(page.locator(".cr-confirm")).to_contain_text("runs code as you")


def test_trusted_is_refused_until_it_is_confirmed_in_words(page: Page, server: Server) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]  # a 422 is what is asked for
    opened(page, server)
    write(
        page,
        "import os\ndef judge(completions, **kwargs):\n    return [float('HOME' in os.environ)] * len(completions)\n",
    )
    page.check("#cr-level-trusted")
    page.click("#cr-test")
    expect(page.locator("#cr-result")).to_contain_text("runs code as you")
    expect(page.locator("#cr-confirm")).to_be_focused()
    page.check("#cr-confirm")
    page.click("#cr-test")
    expect(page.locator(".cr-verdict")).to_have_attribute("data-level", "ok")
    expect(page.locator(".cr-scores tbody tr").first).to_contain_text("1.00")


@SANDBOX
def test_faults_extras_and_hostile_texts_are_text(page: Page, server: Server) -> None:
    opened(page, server)
    page.fill("#cr-rows", "\n".join(json.dumps({"completion": text}) for text in (HOSTILE, "")))
    write(
        page,
        f"""
def judge(completions, log_extra, log_metric, **kwargs):
    print({HOSTILE!r}, "\\x1b[31m")
    log_extra({HOSTILE!r}, [c for c in completions])
    log_metric({HOSTILE!r}, 0.5)
    return [1 / len(c) for c in completions]
""",
    )
    page.click("#cr-test")
    result = page.locator("#cr-result")
    expect(result.locator(".cr-verdict")).to_have_attribute("data-level", "warn")
    expect(result).to_contain_text("1 of 2 rows failed")
    expect(result).to_contain_text("ZeroDivisionError")
    result.get_by_role("button", name="Line 6").click()
    assert "1 / len(c)" in page.evaluate(
        "const a = document.getElementById('cr-code'); a.value.slice(a.selectionStart, a.selectionEnd)"
    )
    expect(result.locator(".control").first).to_have_text("ESC")
    assert page.locator("#lab-custom img").count() == 0
    assert page.title() != "owned"


def test_the_keyboard_indents_and_is_not_caught(page: Page, server: Server) -> None:
    opened(page, server)
    write(page, "")
    page.locator("#cr-code").focus()
    page.keyboard.type("def judge(completions, **kwargs):")
    page.keyboard.press("Enter")
    page.keyboard.type("x = 1")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("y")
    expect(page.locator("#cr-code")).to_have_value("def judge(completions, **kwargs):\n    x = 1\ny")
    page.keyboard.press("Control+A")
    page.keyboard.press("Tab")
    expect(page.locator("#cr-code")).to_have_value("    def judge(completions, **kwargs):\n        x = 1\n    y")
    page.keyboard.press("Control+Z")
    expect(page.locator("#cr-code")).to_have_value("def judge(completions, **kwargs):\n    x = 1\ny")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.locator("#cr-code")).not_to_be_focused()
    # What is not saved is there after a reload.
    page.reload()
    expect(page.locator("#cr-code")).to_have_value("def judge(completions, **kwargs):\n    x = 1\ny")


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_it_fits_a_phone(browser: Browser, server: Server, lang: str) -> None:
    page = open_page(browser, viewport={"width": 390, "height": 844})
    opened(page, server, lang)
    source = (
        f"def {'long_' * 12}(completions, **kwargs):\n    return [1.0 / len(c) for c in completions]  # {'x' * 300}\n"
    )
    with page.expect_response(
        lambda answer: answer.url.endswith("/look") and "long_" in (answer.request.post_data or "")
    ):
        write(page, source)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#cr-save")).to_contain_text("Save" if lang == "en" else "저장")
    assert page.watched.faults == []  # type: ignore[attr-defined]
    page.context.close()


def test_on_a_public_space_it_is_off_in_words(page: Page, server: Server) -> None:
    answer = {**server.call("GET", "/api/custom"), "allowed": False, "why": ON_SPACE.to_json(), "templates": []}
    page.route("**/api/custom", lambda route: route.fulfill(json=answer))
    page.goto(f"{server.url}?tab=rewards&lab=custom&lang=ko")
    expect(page.locator("#cr-off")).to_contain_text("공개 Space")
    expect(page.locator("#cr-code")).to_have_count(0)
