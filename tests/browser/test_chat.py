"""The Chat page in a browser: both sides, problems, streams and stops, what changed, history, languages, widths.

The answers come from a stand-in for the chat's process (tests/fakes/fake_chat.py): the prompt says what it does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chat_home import chat_run
from tests.browser.conftest import Server

IDLE = "사용하지 않으면"
TIMED = r"\d+:\d\d|\d+(초|분) 전|[\d.]+ GB"


@pytest.fixture(scope="module")
def run(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    run_id = chat_run(server, tmp_path_factory.mktemp("chat") / "base-model", "chatty")
    yield run_id
    server.call("POST", "/api/chat/free")


def opened(page: Page, server: Server, run: str, lang: str = "en", width: int = 1440) -> Page:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{server.url}?tab=chat&run={run}&lang={lang}")
    expect(page.locator("#chat-ask")).to_be_enabled()
    return page


def asked(page: Page, prompt: str | None = None, n: int = 1) -> Locator:
    """Ask, wait for the end; the newest turn."""
    if prompt is not None:
        page.click("#chat-mode-own")
        page.fill("#chat-prompt", prompt)
    page.fill("#chat-n", str(n))
    page.click("#chat-ask")
    expect(page.locator("#chat-ask")).to_be_visible()
    return page.locator(".c-turn").first


def column(turn: Locator, side: str) -> Locator:
    return turn.locator(f'.c-column[data-side="{side}"]')


def exact(answer: Locator) -> str:
    """The whole text of an answer, its folded reasoning too, without the summary that the page adds."""
    gone = "c.querySelectorAll('summary').forEach(s => s.remove())"
    return answer.evaluate(f"(n) => {{ const c = n.cloneNode(true); {gone}; return c.textContent }}")


def test_a_held_out_problem_is_answered_by_base_and_trained_and_scored(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    expect(page.locator("#chat-left-checkpoint option:checked")).to_have_text("base, before training")
    expect(page.locator("#chat-right-checkpoint option:checked")).to_have_text("trained, final")
    expect(page.locator("#chat-state")).to_contain_text("loads with the first question")
    expect(page.locator(".c-problem")).to_contain_text("What is 2 + 3?")
    expect(page.locator("#chat-gold")).to_have_text("5")
    page.click("#chat-next")
    expect(page.locator(".c-problem")).to_contain_text("What is 3 + 3?")
    expect(page.locator(".c-ask")).to_contain_text("problem 2 of 12")

    turn = asked(page, n=8)
    left, right = column(turn, "left"), column(turn, "right")
    expect(left.locator(".c-answer")).to_have_count(8)
    expect(left.locator(".c-summary strong")).to_have_text("right 0 of 8")
    expect(right.locator(".c-summary strong")).to_have_text("right 6 of 8")
    expect(left.locator(".c-weights")).to_contain_text("no adapter")
    expect(right.locator(".c-weights")).to_contain_text("with its adapter")
    assert left.get_attribute("data-weights") != right.get_attribute("data-weights")
    first = right.locator(".c-answer").first
    expect(first.locator(".c-verdict")).to_have_text("✓right")
    expect(first.locator(".c-facts")).to_contain_text("7 tokens")
    expect(first.locator(".c-facts")).to_contain_text("ended by itself")
    expect(first.locator(".c-score").first).to_contain_text("equal to the ground truth")
    expect(first.locator(".c-score .c-read").first).to_have_text("6")
    assert exact(first.locator(".c-text")) == "<think>I add them up, 0.</think>It is\n<answer>6</answer>"
    expect(page.locator("#chat-state")).to_contain_text("when idle")

    expect(first.locator(".c-thought-text")).to_be_hidden()
    first.locator("summary").click()
    expect(first.locator(".c-thought-text")).to_be_visible()
    again = asked(page, n=1)  # an opened fold stays a preference of this person
    expect(column(again, "right").locator(".c-thought-text")).to_be_visible()
    expect(page.locator(".c-turn")).to_have_count(2)
    page.click("#chat-swap")
    expect(page.locator("#chat-left-checkpoint option:checked")).to_have_text("trained, final")
    page.click("#chat-free")
    expect(page.locator("#chat-state")).to_contain_text("loads with the first question")


def test_what_a_model_writes_is_shown_to_the_letter_and_never_acts(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    turn = asked(page, "HOSTILE <img src=x onerror=\"document.title='owned'\">")
    text = column(turn, "left").locator(".c-text")
    expect(text).to_contain_text("<img src=x onerror=\"document.title='owned'\"><style>body{display:none}</style>")
    expect(text).to_contain_text("ESC[31mred")
    expect(text).to_contain_text("U+202Etxet 한글 🧮")
    expect(turn.locator(".c-prompt")).to_contain_text("<img src=x")
    assert page.locator("#chat-root :is(img, style, script)").count() == 0
    assert page.evaluate("document.title") != "owned"


def test_a_stream_is_followed_stopped_by_escape_and_leaves_the_reader_alone(
    page: Page, server: Server, run: str
) -> None:
    opened(page, server, run)
    page.click("#chat-mode-own")
    page.fill("#chat-prompt", "SLOW please")
    page.fill("#chat-max_tokens", "2000")
    page.fill("#chat-n", "1")
    page.keyboard.press("Control+Enter")
    text = page.locator(".c-column[data-side=left] .c-text")
    expect(text).to_contain_text("word20 ")
    node = text.locator(".c-said").evaluate_handle("(n) => n.firstChild")
    expect(text).to_contain_text("word120 ")
    assert node.evaluate("(n) => n.isConnected && n.data.includes('word120')"), "text is appended, not painted anew"
    box = "(n) => n.scrollHeight - n.scrollTop - n.clientHeight"
    page.wait_for_function(
        "document.querySelector('.c-text').scrollHeight > document.querySelector('.c-text').clientHeight + 60"
    )
    assert text.evaluate(box) < 30, "it follows its end"
    text.evaluate("(n) => { n.scrollTop = 0 }")
    words = len(text.inner_text().split())
    page.wait_for_function(f"document.querySelector('.c-text').innerText.split(' ').length > {words + 10}")
    assert text.evaluate("(n) => n.scrollTop") == 0, "a reader who scrolled up is left alone"
    expect(page.locator("#chat-stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#chat-ask")).to_be_visible()
    expect(page.locator(".c-column[data-side=left] .c-facts")).to_contain_text("stopped")
    expect(text).to_contain_text("word20 ")
    expect(page.locator("#chat-prompt")).to_have_value("SLOW please")


def test_what_changed_is_coloured_marked_and_said(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    right = column(asked(page, "What is 20 + 3?"), "right")
    right.locator(".c-what").click()
    tokens = right.locator(".c-tokens .c-token")
    expect(tokens).to_have_count(7)
    assert [tokens.nth(at).get_attribute("data-sign") for at in range(7)] == [
        "plus",
        "",
        "",
        "plus",
        "",
        "minus",
        "plus",
    ]
    expect(right.locator(".c-legend")).to_contain_text("likelier on the right")
    tokens.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(tokens.last).to_be_focused()
    expect(right.locator(".c-token-said")).to_contain_text("left −4.00, right −1.00, difference +3.00")
    expect(tokens.last.locator("sup")).to_have_text("▴")
    right.locator(".c-what").click()
    expect(tokens.first).to_be_hidden()


def test_history_is_reopened_exported_and_deleted(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    asked(page, "What is 40 + 4?")
    page.locator("#chat-history summary").click()
    newest = page.locator(".c-chats li").first
    expect(newest.locator(".c-chat-open")).to_have_text("What is 40 + 4?")
    expect(newest.locator(".c-chat-name .caption")).to_have_text("chatty: base ↔ final")
    expect(page).to_have_url(re.compile("chat="))
    page.fill("#chat-prompt", "not asked yet")
    page.fill("#chat-seed", "7")
    page.reload()  # a link to the conversation; the question under way is this tab's own
    expect(page.locator(".c-turn")).to_have_count(1)
    expect(page.locator("#chat-prompt")).to_have_value("not asked yet")
    expect(page.locator("#chat-seed")).to_have_value("7")
    page.click("#nav-evaluate")
    expect(page).not_to_have_url(re.compile("chat="))
    page.click("#nav-chat")
    expect(page.locator(".c-turn")).to_have_count(1)
    expect(page).to_have_url(re.compile("chat="))
    page.locator("#chat-history summary").click()
    page.click("#chat-new")
    expect(page).not_to_have_url(re.compile("chat="))
    expect(page.locator(".c-turn")).to_have_count(0)
    newest.locator(".c-chat-open").click()
    turn = page.locator(".c-turn")
    expect(turn).to_have_count(1)
    expect(column(turn, "right").locator(".c-text")).to_contain_text("<answer>44</answer>")
    expect(column(turn, "right").locator(".c-who")).to_have_text("trained, final · chatty")
    with page.expect_download() as download:
        newest.locator(".c-chat-export").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert "What is 40 + 4?" in json.dumps(json.loads(lines[0]), ensure_ascii=False)
    newest.locator(".c-chat-delete").click()
    page.locator("dialog[open] .btn.danger").click()
    expect(page.locator(".c-chats li", has_text="What is 40 + 4?")).to_have_count(0)
    expect(page.locator(".c-turn")).to_have_count(0)


def test_sides_that_never_differ_and_failures_are_said(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    asked(page, "SAME", n=3)
    expect(page.locator("#chat-same")).to_contain_text("the same answer 3 times out of 3")
    asked(page, "What is 1 + 1?")
    expect(page.locator("#chat-same")).to_be_hidden()
    asked(page, "FAIL")
    expect(page.locator(".c-view > [role=alert]")).to_have_text("the model is <b>gone</b>")
    expect(column(page.locator(".c-turn").first, "right").locator(".c-wait")).to_have_text("No answer: it failed.")
    asked(page, "What is 2 + 2?")
    expect(page.locator(".c-view > [role=alert]")).to_be_hidden()
    asked(page, "BREAK")
    expect(page.locator(".c-view > [role=alert]")).to_contain_text("exit code 3")
    expect(column(page.locator(".c-turn").first, "left").locator(".c-text")).not_to_be_empty()
    page.fill("#chat-temperature", "99")
    expect(page.locator("#chat-ask")).to_be_disabled()
    expect(page.locator("#chat-temperature-fault")).to_have_text("0 to 2")
    page.fill("#chat-temperature", "0")
    page.fill("#chat-prompt", "   ")
    expect(page.locator("#chat-why")).to_have_text("Write a prompt first.")
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.route(
        "**/api/chat/ask",
        lambda route: route.fulfill(status=422, json={"error": {"en": "n is <too> large", "ko": "n이 큼"}}),
    )
    page.fill("#chat-prompt", "hello")
    before = page.locator(".c-turn").count()
    page.click("#chat-ask")
    expect(page.locator(".c-view > [role=alert]")).to_have_text("n is <too> large")
    expect(page.locator(".c-turn")).to_have_count(before)


def test_it_says_while_a_model_loads_and_when_weights_are_missing(
    page: Page, server: Server, run: str, tmp_path: Path
) -> None:
    opened(page, server, run)
    page.click("#chat-mode-own")
    page.fill("#chat-prompt", f"LOADING {tmp_path / 'loaded'}")
    page.click("#chat-ask")
    expect(page.locator(".c-wait:visible").first).to_contain_text("Loading the model")
    expect(page.locator("#chat-stop")).to_be_focused()
    (tmp_path / "loaded").touch()
    expect(page.locator("#chat-ask")).to_be_visible()
    bare = server.new_run(1, name="bare")
    server.wait_state(bare, "succeeded")
    page.goto(f"{server.url}?tab=chat&run={bare}&lang=en")
    expect(page.locator("#chat-barred")).to_be_visible()
    expect(page.locator("#chat-ask")).to_be_disabled()
    page.select_option("#chat-left", label="chatty")
    page.select_option("#chat-right", label="nobody (one side only)")
    page.click("#chat-mode-own")
    page.fill("#chat-prompt", "What is 7 + 1?")
    expect(page.locator("#chat-ask")).to_be_enabled()
    assert column(asked(page), "right").count() == 0


def level(page: Page, one: str, other: str) -> bool:
    """Whether two elements begin at one height, measured at one moment."""
    tops = [f"document.querySelector({json.dumps(which)}).getBoundingClientRect().top" for which in (one, other)]
    return page.evaluate(" === ".join(tops))


@pytest.mark.parametrize("width", [1440, 390])
def test_korean_is_whole_and_switches_at_once(page: Page, server: Server, run: str, width: int) -> None:
    opened(page, server, run, "ko", width)
    expect(page.locator("#chat-left-checkpoint")).to_be_visible()
    wide = width == 1440
    assert level(page, "#chat-left", "#chat-left-checkpoint") == wide, "on a telephone each has a line of its own"
    turn = asked(page, n=2)
    column(turn, "right").locator(".c-what").first.click()
    expect(turn.locator(".c-token").first).to_be_visible()
    left, right = (f'.c-turn .c-column[data-side="{side}"]' for side in ("left", "right"))
    assert level(page, left, right) == wide, "side by side, or one under the other"
    turn.locator(".c-token").first.focus()
    expect(page.locator("#chat-state")).to_contain_text(IDLE)  # it tells of the answer until it has asked again
    korean = page.locator("#chat-root").inner_text()
    page.click('#studio-header [data-lang="en"]')
    expect(page.locator("#chat-ask")).to_have_text("Ask")
    assert not re.search("[가-힣]", page.locator("#chat-root").inner_text())
    page.click('#studio-header [data-lang="ko"]')
    expect(page.locator("#chat-ask")).to_have_text("질문하기")
    expect(page.locator("#chat-state")).to_contain_text(IDLE)
    untimed = [re.sub(TIMED, "", text) for text in (page.locator("#chat-root").inner_text(), korean)]
    assert untimed[0] == untimed[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
