"""The Reward Lab in a real browser: score and edit, audit, advantages, probe, replay, and the way to a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.conftest import Server, open_page, quiet
from tests.browser.test_data import brought, korean, menu

SECTIONS = ("score", "audit", "advantages", "probe", "replay", "custom")
LOOSE = """
def loose(completions, ground_truth, **kwargs):
    texts = [one if isinstance(one, str) else one[-1]["content"] for one in completions]
    return [1.0 if str(gold) in text else 0.0 for text, gold in zip(texts, ground_truth)]
"""


@pytest.fixture(scope="module")
def run(server: Server) -> Iterator[str]:
    """A finished run with stored groups, hostile texts among them."""
    run_id = server.new_run(4, name="bench run")
    server.wait_state(run_id, "succeeded")
    yield run_id
    server.end(run_id)


def opened(page: Page, server: Server, lab: str = "score", lang: str = "en", **query: str) -> Page:
    more = "".join(f"&{key}={value}" for key, value in query.items())
    page.goto(f"{server.url}?tab=rewards&lab={lab}&lang={lang}{more}")
    page.wait_for_selector(f"#lab-{lab}", state="visible")
    return page


def scored(page: Page) -> Locator:
    """The rows of the table, once each has its scores."""
    rows = page.locator("#lab-table .lab-group-rows .lab-row")
    expect(rows.first).to_be_visible()
    page.wait_for_function("!document.querySelector('#lab-table [data-stale]')")
    return rows


def save(server: Server, name: str, source: str) -> None:
    """A custom reward, saved beside the server."""
    from backend.custom.library import Library

    Library(server.home).save(name, source, level="sandboxed", confirmed=False)


def cell(row: Locator, reward: str) -> Locator:
    return row.locator(f'.lab-line[data-reward="{reward}"]')


def test_rewards_are_picked_rows_scored_and_an_edit_is_scored_again(page: Page, server: Server) -> None:
    opened(page, server, rewards="accuracy,format:0.2", set="arithmetic", rows="3")
    rows = scored(page)
    expect(rows).to_have_count(3)
    for at in range(3):
        expect(cell(rows.nth(at), "accuracy").locator(".lab-line-score")).to_have_text("1.00")
        expect(rows.nth(at).locator(".lab-total .num")).to_have_text("1.20")
    page.select_option("#lab-add-reward", "repetition")
    expect(cell(rows.first, "repetition")).to_be_visible()
    assert "repetition" in page.url
    expect(page.locator("#lab-histograms .lab-hist-card")).to_have_count(4)  # three rewards and the total
    box = rows.nth(1).bounding_box()
    text = rows.first.locator("textarea")
    text.fill("It must be <answer>-1</answer>")
    expect(cell(rows.first, "accuracy").locator(".lab-line-score")).to_have_text("0")
    expect(cell(rows.first, "accuracy").locator(".lab-read")).to_have_text("-1")
    expect(cell(rows.first, "accuracy").locator(".lab-reason")).to_contain_text("ground truth")
    expect(cell(rows.nth(1), "accuracy").locator(".lab-line-score")).to_have_text("1.00")
    expect(text).to_be_focused()
    assert rows.nth(1).bounding_box() == box, "nothing jumps under the hands of a person who types"


def test_arguments_have_controls_of_their_kind_and_change_the_scores(page: Page, server: Server) -> None:
    opened(page, server, rewards="format", set="arithmetic", rows="2")
    rows = scored(page)
    page.locator('.lab-reward[data-reward="format"] .lab-arguments summary').click()
    specs = server.call("GET", "/api/lab/setup")["rewards"]
    arguments = next(one for one in specs if one["name"] == "format")["arguments"]
    for argument in arguments:
        expect(page.locator(f'[id^="lab-arg-format-{argument["name"]}"]').first).to_be_attached()
    page.select_option("#lab-arg-format-template", label="thinking_boxed")
    expect(page.locator(".lab-given")).to_have_text("template = thinking_boxed")
    assert json.loads(page.evaluate("new URLSearchParams(location.search).get('args')")) == {
        "rewards": {"format": {"template": "thinking_boxed"}}
    }
    scored(page)
    for text in ("<answer>1</answer>", "<think>one and one</think> so \\boxed{2}"):
        rows.first.locator("textarea").fill(text)
        page.wait_for_function("!document.querySelector('#lab-table [data-stale]')")
        expect(cell(rows.first, "format").locator(".lab-line-score")).to_have_text(re.compile(r"^(0|1\.00)$"))
    expect(cell(rows.first, "format").locator(".lab-line-score")).to_have_text("1.00")


def test_the_bench_is_in_the_address_and_survives_a_reload(page: Page, server: Server, browser: Browser) -> None:
    opened(page, server, rewards="accuracy,format:0.2", set="article-math", rows="2")
    scored(page)
    page.locator('.lab-reward[data-reward="format"] .lab-weight').fill("0.5")
    page.wait_for_function("location.search.includes('format%3A0.5')")
    address = page.url
    page.goto(f"{server.url}?tab=rewards&lang=en")
    expect(page.locator("#lab-dataset")).to_have_value("article-math")
    expect(page.locator('.lab-reward[data-reward="format"] .lab-weight')).to_have_value("0.5")
    expect(page.locator("#lab-rows")).to_have_value("2")
    other = open_page(browser)  # another person, with the link alone
    other.goto(address)
    expect(other.locator('.lab-reward[data-reward="format"] .lab-weight')).to_have_value("0.5")
    expect(other.locator("#lab-dataset")).to_have_value("article-math")
    assert not other.watched.faults  # type: ignore[attr-defined]
    other.context.close()
    page.click("#nav-runs")
    page.wait_for_selector("#page-runs", state="visible")
    assert "rewards" not in page.url.replace("tab=", ""), "what stands on the bench is nothing to another page"


def test_own_completions_are_typed_or_pasted_and_kept(page: Page, server: Server) -> None:
    opened(page, server, rewards="accuracy", set="arithmetic", rows="2")
    scored(page)
    page.click('[data-source="own"]')
    rows = scored(page)
    expect(rows.first.locator("textarea")).to_have_value("")
    page.click("#lab-paste-open")
    page.fill("#lab-paste", '{"completion": "<answer>7</answer>", "ground_truth": "7"}\n{"completion": "7"}')
    page.locator(".lab-paste .btn").click()
    rows = scored(page)
    expect(cell(rows.first, "accuracy").locator(".lab-line-score")).to_have_text("1.00")
    expect(cell(rows.nth(1), "accuracy").locator(".lab-line-score")).to_have_text("0")
    rows.first.locator("textarea").fill("<answer>8</answer>\u202e")
    expect(rows.first.locator(".lab-hidden")).to_contain_text("U+202E")
    expect(cell(rows.first, "accuracy").locator(".lab-line-score")).to_have_text("0")
    page.reload()
    page.click('[data-source="own"]')
    expect(scored(page).nth(1).locator("textarea")).to_have_value("7")


def test_completions_of_a_run_are_scored_literally(page: Page, server: Server, run: str) -> None:
    opened(page, server, rewards="accuracy,format:0.2", rows="4")
    page.click('[data-source="run"]')
    page.select_option("#lab-score-run", run)
    rows = scored(page)
    assert rows.count() > 8
    texts = page.evaluate("[...document.querySelectorAll('.lab-text')].map((area) => area.value)")
    assert any("<script>" in text or "<style>" in text or "javascript:" in text for text in texts)
    assert page.evaluate("document.title") != "owned"
    assert page.locator("#lab-score :is(img, style, script)").count() == 0
    assert page.evaluate("getComputedStyle(document.body).display") != "none"
    assert page.locator(".lab-hidden:visible").count() > 0
    assert f"run={run}" in page.url, "one chosen run for the whole app"
    expect(page.locator("#run-picker")).to_have_value(run)
    page.click("#lab-nav-replay")
    expect(page.locator("#lab-replay-run")).to_have_value(run)


def test_an_unknown_reward_and_an_unknown_set_are_said_in_words(page: Page, server: Server) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    opened(page, server, rewards="nothing_such", set="arithmetic", rows="2")
    expect(page.locator(".lab-unknown")).to_have_text("no such reward")
    expect(page.locator("#lab-score .notice")).to_contain_text("nothing_such")
    opened(page, server, rewards="accuracy", set="nowhere.jsonl", rows="2")
    expect(page.locator("#lab-score .notice")).to_contain_text("nowhere.jsonl")
    assert page.locator("#lab-table .lab-group").count() == 0


def test_the_audit_of_good_rewards_passes_in_words(page: Page, server: Server) -> None:
    opened(page, server, "audit", rewards="accuracy,format:0.2", set="arithmetic", rows="8")
    page.click("#lab-audit-run")
    verdict = page.locator("#lab-audit-verdict")
    expect(verdict).to_have_attribute("data-verdict", "pass", timeout=60_000)
    expect(verdict).to_contain_text("Nothing speaks against these rewards")
    expect(page.locator('.lab-audit-reward[data-reward="accuracy"] > header .lab-verdict')).to_have_text(
        re.compile("pass")
    )
    page.locator('.lab-reward[data-reward="format"] .lab-weight').fill("3")
    expect(page.locator("#lab-audit .lab-status")).to_contain_text("changed since")
    expect(verdict).to_be_visible()


def test_the_audit_of_a_bad_custom_reward_shows_the_offending_text(page: Page, server: Server) -> None:
    save(server, "loose", LOOSE)
    opened(page, server, "audit", rewards="loose", set="arithmetic", rows="8")
    expect(page.locator('.lab-reward[data-reward="loose"]')).to_contain_text("version 1")
    page.click("#lab-audit-run")
    expect(page.locator("#lab-audit-verdict")).to_have_attribute("data-verdict", "fail", timeout=90_000)
    failing = page.locator('.lab-audit-reward[data-reward="loose"] .lab-check[data-verdict="fail"]')
    example = failing.locator(".lab-example").first
    expect(example).to_be_visible()
    expect(example.locator(".exact")).to_contain_text("</answer>")
    expect(example).to_contain_text("scored 1.00")
    expect(example).to_contain_text("expected less than the maximum")
    page.click("#lab-nav-score")  # what passed is a text to be edited: the same reward, by hand
    rows = scored(page)
    rows.first.locator("textarea").fill("It is not " + page.locator(".lab-truth .mono").first.inner_text())
    expect(cell(rows.first, "loose").locator(".lab-line-score")).to_have_text("1.00")
    page.wait_for_function("!document.querySelector('#lab-table [data-stale]')")


def advantages(page: Page, scale: str = "group") -> list[str]:
    return page.locator(f'#lab-adv-table td[data-scale="{scale}"] > .num').all_inner_texts()


def test_advantages_by_hand_are_those_of_the_second_reference_document(page: Page, server: Server) -> None:
    opened(page, server, "advantages")
    expect(page.locator('#lab-adv-table td[data-scale="group"] > .num').first).to_have_text("+0.8659")
    assert advantages(page) == ["+0.8659", "−0.8659", "−0.8659", "+0.8659", "0", "0", "0", "0"]
    assert advantages(page, "none")[:4] == ["+0.5000", "−0.5000", "−0.5000", "+0.5000"]
    expect(page.locator('[data-group="1"]')).to_contain_text("all equal: every advantage is 0 and nothing is learnt")
    expect(page.locator('[data-group="0"]')).to_contain_text("mean 0.5000, std 0.5774")
    expect(page.locator(".lab-adv-words")).to_contain_text("1 of 2 groups is dead (50%)")
    bars = page.locator('#lab-adv-table td[data-scale="group"] .advantage-bar i')
    assert [bars.nth(at).get_attribute("class") for at in range(2)] == ["plus", "minus"]
    first = page.locator("#lab-adv-table tr[data-row='7'] input")
    first.fill("0")
    expect(page.locator('[data-group="1"]')).not_to_contain_text("all equal")
    first.fill("")  # no score at all
    expect(page.locator("#lab-adv-table tr[data-row='7'] td[data-scale='group'] > .num")).to_have_text("–")
    first.fill("much")
    expect(first).to_have_attribute("aria-invalid", "true")


def test_two_weighted_rewards_that_pull_against_each_other_are_flagged(page: Page, server: Server) -> None:
    opened(page, server, "advantages")
    page.click("#lab-adv-column")
    first = page.locator("#lab-adv-table tr[data-row='0'] input").first
    lines = "\n".join(f"{at % 2} {1 - at % 2}" for at in range(16))
    first.evaluate(
        "(input, text) => { const data = new DataTransfer(); data.setData('text', text);"
        "input.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})); }",
        lines,
    )
    expect(page.locator("#lab-adv-table tr[data-row]")).to_have_count(16)
    pair = page.locator('#lab-advantages [data-pair="reward/reward 2"]')
    expect(pair).to_have_attribute("data-verdict", "warn")
    expect(pair).to_contain_text("pull against each other")
    expect(page.locator(".lab-adv-words")).to_contain_text("4 of 4 groups are dead")  # 1 each: the totals are equal
    page.get_by_label("Weight of reward 2").fill("0.5")
    expect(page.locator(".lab-adv-words")).to_contain_text("0 of 4 groups")
    page.click('[data-way="normalize_then_sum"]')
    expect(page.locator('th[data-scale="batch"]')).to_be_hidden()


def test_a_group_is_taken_from_a_run(page: Page, server: Server, run: str) -> None:
    opened(page, server, "advantages")
    page.select_option("#lab-adv-run", run)
    expect(page.locator("#lab-adv-table th.lab-adv-name")).to_have_count(2)
    expect(page.locator("#lab-adv-size")).to_have_value("8")
    expect(page.locator("#lab-adv-table thead")).to_contain_text("accuracy")


def test_of_two_runs_picked_the_last_one_stays(page: Page, server: Server, run: str) -> None:
    """The answer about the one before comes late."""
    opened(page, server, "advantages")
    small = [{"reward_names": ["accuracy"], "completions": [{"rewards": [1.0]}, {"rewards": [0.0]}]}]
    held: list[Route] = []
    page.route(f"**/api/runs/{run}/samples?*", lambda route: held.append(route), times=1)
    with page.expect_request(f"**/api/runs/{run}/samples?*"):
        page.select_option("#lab-adv-run", run)
    page.fill("#lab-adv-step", "2")  # the same run at a step
    page.press("#lab-adv-step", "Enter")
    expect(page.locator("#lab-adv-size")).to_have_value("8")
    with page.expect_response(f"**/api/runs/{run}"):  # its settings, the last that is asked about it
        held[0].fulfill(json={"groups": small})
    quiet(page)
    expect(page.locator("#lab-adv-size")).to_have_value("8")
    expect(page.locator("#lab-adv-table th.lab-adv-name")).to_have_count(2)


def test_a_probe_runs_reports_and_makes_the_filtered_set(page: Page, server: Server) -> None:
    opened(page, server, "probe", rewards="accuracy,format:0.2", set="arithmetic", rows="4")
    page.fill("#lab-probe_prompts", "12")
    page.fill("#lab-probe_completions", "8")
    page.click("#lab-probe-start")
    expect(page.locator("#lab-probe-status")).to_contain_text("of 12 prompts")
    report = page.locator("#lab-probe-report")
    advice = report.locator("[data-advice]")
    expect(page.locator(".lab-probe-head .badge")).to_have_attribute("data-state", "succeeded", timeout=60_000)
    expect(advice).to_be_visible()
    for size in (4, 8):
        expect(report.locator(f'#lab-dead tr[data-size="{size}"]')).to_contain_text("%")
    expect(report.locator('#lab-dead tr[data-size="16"]')).to_contain_text("– needs at least 16 completions")
    expect(report.locator('[data-fact="accuracy"] .tile-value')).to_have_text(re.compile(r"^\d+%$"))
    assert report.locator(".lab-bars.wide .lab-bar").count() == 10
    probe = page.evaluate("new URLSearchParams(location.search).get('run')")
    found = server.call("GET", f"/api/lab/probe/{probe}")
    if found["live_band"]["count"] not in (0, found["prompts"]):
        page.fill("#lab-filter-name", "learnable")
        page.click("#lab-filter")
        expect(page.locator("#lab-dataset")).to_have_value("learnable")
        assert server.call("GET", "/api/lab/setup")["sets"][0]["rows"] == found["live_band"]["count"]
    page.goto(f"{server.url}?tab=rewards&lab=probe&lang=en")
    page.locator(".lab-earlier-run").first.click()
    expect(advice).to_be_visible()
    assert f"run={probe}" in page.url


def test_a_probe_is_stopped_and_what_was_sampled_is_kept(page: Page, server: Server) -> None:
    opened(page, server, "probe", rewards="accuracy", set="arithmetic", rows="4")
    page.fill("#lab-probe_prompts", "2000")
    page.click("#lab-probe-start")
    expect(page.locator("#lab-probe-status")).to_contain_text(re.compile(r"[1-9]\d* of 2,000"), timeout=30_000)
    page.click("#lab-probe-stop")
    expect(page.locator(".lab-probe-head .badge")).to_have_attribute("data-state", "stopped", timeout=30_000)
    expect(page.locator("#lab-probe-stop")).to_be_hidden()
    expect(page.locator("#lab-probe-report [data-advice]")).to_be_visible()


def test_a_wrong_setting_of_a_probe_is_said_at_its_field(page: Page, server: Server) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    opened(page, server, "probe", rewards="accuracy", set="arithmetic", rows="4")
    page.fill("#lab-probe_completions", "1")
    page.click("#lab-probe-start")
    expect(page.locator("#lab-probe_completions")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#lab-probe .notice")).to_be_visible()


def test_a_probe_of_a_reward_that_cannot_be_right_is_refused_with_the_reason(page: Page, server: Server) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    save(server, "never", "def never(completions, ground_truth, **kwargs):\n    return [0.0] * len(completions)\n")
    opened(page, server, "probe", rewards="never", set="arithmetic", rows="4")
    page.click("#lab-probe-start")
    notice = page.locator("#lab-probe .notice")
    expect(notice).to_have_attribute("data-level", "error", timeout=60_000)
    expect(notice.locator("li")).not_to_have_count(0)
    expect(page.locator(".lab-probe-run")).to_be_hidden()


def test_one_reward_that_refuses_does_not_keep_the_others_from_scoring(page: Page, server: Server) -> None:
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    opened(page, server, rewards="accuracy,length", set="arithmetic", rows="2")
    rows = scored(page)
    expect(cell(rows.first, "accuracy").locator(".lab-line-score")).to_have_text("1.00")
    expect(cell(rows.first, "length").locator(".lab-line-score")).to_have_text("–")
    expect(page.locator('.lab-reward[data-reward="length"] .lab-problem')).to_contain_text("length.target")
    page.locator('.lab-reward[data-reward="length"] .lab-arguments summary').click()
    page.fill("#lab-arg-length-target", "20")
    expect(page.locator('.lab-reward[data-reward="length"] .lab-problem')).to_be_hidden()


def test_a_replay_shows_what_other_rewards_would_have_changed(page: Page, server: Server, run: str) -> None:
    opened(page, server, "replay", rewards="format", set="arithmetic", rows="2")
    expect(page.locator("#lab-replay-run-it")).to_be_disabled()
    page.select_option("#lab-replay-run", run)
    expect(page.locator('#lab-replay button[data-scale=""]')).to_have_attribute("aria-pressed", "true")
    page.click("#lab-replay-run-it")
    result = page.locator("#lab-replay-result")
    expect(result.locator(".lab-replay-words")).to_contain_text(
        "All groups of the run: 8, with 64 completions", timeout=60_000
    )
    table = result.locator(".lab-before-after")
    expect(table).to_contain_text("mean of accuracy")
    accuracy = table.locator("tr", has_text="mean of accuracy")
    expect(accuracy.locator("td").nth(0)).not_to_have_text("–")
    expect(accuracy.locator("td").nth(1)).to_have_text("–")  # it is none of the rewards above
    assert result.locator(".lab-stack").count() == 2
    page.locator('.lab-reward[data-reward="format"] .lab-weight').fill("2")
    expect(result).to_have_attribute("data-stale", "")
    expect(page.locator("#lab-replay .lab-status")).to_contain_text("changed since")


def test_from_here_new_run_has_exactly_these_rewards_and_rows(page: Page, server: Server) -> None:
    opened(page, server, rewards="accuracy:2,repetition:0.25", set="article-math", rows="2")
    scored(page)
    page.click("#lab-start")
    page.wait_for_selector("#page-new", state="visible")
    expect(page.locator("#f-dataset")).to_have_value("article-math")
    expect(page.locator(".f-reward")).to_have_count(2)
    expect(page.locator('.f-reward[data-reward="accuracy"] .f-weight')).to_have_value("2")
    expect(page.locator('.f-reward[data-reward="repetition"] .f-weight')).to_have_value("0.25")


def test_from_a_cp949_file_to_a_run(page: Page, server: Server, tmp_path: Path) -> None:
    """Upload, map, audit, probe, start: the whole way, as a person who has a file and a reward goes it."""
    page.goto(f"{server.url}?tab=data&lang=en")
    brought(page, korean(tmp_path / "sums.csv"))
    menu(page, "Prompt").select_option(label="질문")
    menu(page, "Ground truth").select_option(label="정답")
    page.locator(".d-offer", has_text="cannot be used").click()
    page.fill("#data-name", "덧셈 문제")
    page.click("#data-import")
    page.locator(".d-set .d-lab").click()
    page.wait_for_selector("#lab-score", state="visible")
    expect(page.locator("#lab-dataset")).to_have_value("덧셈 문제")
    rows = scored(page)
    expect(page.locator(".lab-group .lab-prompt").first).to_contain_text("은?")
    expect(cell(rows.first, "accuracy").locator(".lab-line-score")).to_have_text("1.00")
    page.click("#lab-nav-audit")
    page.click("#lab-audit-run")
    expect(page.locator("#lab-audit-verdict")).to_have_attribute("data-verdict", "pass", timeout=60_000)
    page.click("#lab-nav-probe")
    page.fill("#lab-probe_prompts", "8")
    page.fill("#lab-probe_completions", "4")
    page.click("#lab-probe-start")  # 59 rows: fewer than the form holds out, which is nothing to a probe
    expect(page.locator(".lab-probe-head .badge")).to_have_attribute("data-state", "succeeded", timeout=60_000)
    expect(page.locator("#lab-probe-report [data-advice]")).to_be_visible()
    page.click("#lab-start")
    page.wait_for_selector("#page-new", state="visible")
    expect(page.locator("#f-dataset")).to_have_value("덧셈 문제")
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
    assert (config["dataset"], config["rewards"]) == ("덧셈 문제", ["accuracy", "format"])
    server.end(run)


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_every_section_fits_a_narrow_screen_in_both_languages(page: Page, server: Server, lang: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for lab in SECTIONS:
        opened(page, server, lab, lang, rewards="accuracy,format:0.2", set="arithmetic", rows="2")
        if lab == "score":
            scored(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, lab
    expect(page.locator("#lab-fold")).to_contain_text("accuracy + 0.2 × format")
    expect(page.locator("#lab-dataset")).to_be_hidden()
    page.click("#lab-fold")
    expect(page.locator("#lab-dataset")).to_be_visible()
    if lang == "ko":
        expect(page.locator("#lab-nav-audit")).to_have_text("점검")
        page.click('#studio-header [data-lang="en"]')
        expect(page.locator("#lab-nav-audit")).to_have_text("Audit")
        assert not re.search("[가-힣]", page.locator("#rewards-root").inner_text())


def test_sections_are_reached_with_the_keyboard_and_have_addresses(page: Page, server: Server) -> None:
    opened(page, server, rewards="accuracy", set="arithmetic", rows="1")
    page.focus("#lab-nav-score")
    for lab in SECTIONS[1:4]:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#lab-{lab}", state="visible")
        assert f"lab={lab}" in page.url
        expect(page.locator(f"#lab-nav-{lab}")).to_have_attribute("aria-current", "true")
    page.go_back()
    page.wait_for_selector("#lab-advantages", state="visible")
