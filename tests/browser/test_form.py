"""The New run page in a real browser: presets, errors at the field, the draft, Start."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import Server

READY = "#f-start:not([disabled])"


def opened(page: Page, server: Server, lang: str = "en", **query: str) -> Page:
    """The New run page with its first check answered."""
    more = "".join(f"&{key}={value}" for key, value in query.items())
    page.goto(f"{server.url}?tab=new&lang={lang}{more}")
    page.wait_for_selector(READY)
    return page


def preset(server: Server, name: str = "quickstart") -> dict[str, Any]:
    """The preset's own values: what the page must show, whatever they are tuned to."""
    found = next(one for one in server.call("GET", "/api/schema")["presets"] if one["name"] == name)
    return found["values"]


def figure(page: Page, key: str):
    return page.locator(f'.f-figure-value[data-figure="{key}"]')


def test_the_plan_of_the_preset_is_said_before_anything_is_touched(page: Page, server: Server) -> None:
    opened(page, server)
    values = preset(server)
    batch = values["per_device_train_batch_size"] * values.get("gradient_accumulation_steps", 1)
    expect(page.locator('.f-card[data-preset="quickstart"] input')).to_be_checked()
    expect(figure(page, "prompts_per_step")).to_have_text(str(batch // values["num_generations"]))
    expect(figure(page, "completions_per_step")).to_have_text(str(batch))
    expect(figure(page, "total_steps")).to_have_text(str(values["max_steps"]))
    expect(page.locator(".f-story")).to_contain_text(str(batch))
    expect(page.locator(".f-memory-sum")).to_contain_text("GB")
    assert page.locator(".f-memory-part").count() >= 4


def test_every_setting_of_the_schema_has_one_row(page: Page, server: Server) -> None:
    opened(page, server)
    fields = page.evaluate("fetch('/api/schema').then((r) => r.json()).then((s) => s.fields.map((f) => f.name))")
    rows = page.evaluate("[...document.querySelectorAll('.f-field')].map((f) => f.dataset.field)")
    # The weights stand beside the rewards, the name beside Start.
    assert sorted(rows) == sorted(set(fields) - {"reward_weights", "name"})


def test_broken_group_arithmetic_is_mended_by_a_button_at_the_field(page: Page, server: Server) -> None:
    opened(page, server)
    page.fill("#f-per_device_train_batch_size", "64")
    page.fill("#f-gradient_accumulation_steps", "1")
    field = page.locator('[data-field="num_generations"]')
    page.fill("#f-num_generations", "7")
    expect(field).to_have_attribute("data-wrong", "")
    expect(field.locator(".f-problem-text")).to_contain_text("64")
    expect(page.locator("#f-num_generations")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#f-start")).to_be_disabled()
    expect(page.locator("#f-why")).to_have_text("1 value must change first.")
    expect(page.locator(".f-jump[data-wrong]")).to_contain_text("Training")
    field.locator('.f-chip[data-suggest="num_generations"]', has_text=re.compile("^4$")).click()
    expect(page.locator("#f-num_generations")).to_have_value("4")
    expect(field.locator(".f-problem")).to_have_count(0)
    page.wait_for_selector(READY)
    expect(figure(page, "prompts_per_step")).to_have_text("16")


def test_a_suggestion_for_another_setting_changes_that_one(page: Page, server: Server) -> None:
    opened(page, server)
    page.fill("#f-num_generations", "7")
    other = page.locator('[data-field="num_generations"] .f-chip:not([data-suggest="num_generations"])').first
    expect(other).to_be_visible()
    name = other.get_attribute("data-suggest")
    other.click()
    page.wait_for_selector(READY)
    expect(page.locator(f'[data-field="{name}"]')).to_have_attribute("data-changed", "")
    expect(page.locator("#f-num_generations")).to_have_value("7")


def test_what_cannot_be_read_is_said_and_nothing_is_lost(page: Page, server: Server) -> None:
    opened(page, server)
    page.fill("#f-learning_rate", "fast")
    field = page.locator('[data-field="learning_rate"]')
    expect(field.locator(".f-problem")).to_be_visible()
    page.locator("#f-temperature").focus()
    expect(page.locator("#f-learning_rate")).to_have_value("fast")
    field.locator(".f-reset").click()
    shown = float(page.locator("#f-learning_rate").input_value())
    assert shown == preset(server)["learning_rate"]
    page.wait_for_selector(READY)


def test_the_draft_survives_a_reload_and_can_be_discarded_and_brought_back(page: Page, server: Server) -> None:
    opened(page, server)
    page.fill("#f-max_steps", "33")
    page.fill("#f-temperature", "0.7")
    expect(figure(page, "total_steps")).to_have_text("33")
    page.reload()
    page.wait_for_selector(READY)
    expect(page.locator("#f-max_steps")).to_have_value("33")
    expect(page.locator("#f-temperature")).to_have_value("0.7")
    expect(page.locator(".f-only")).to_contain_text("(2)")
    page.click(".f-discard")
    expect(page.locator("#f-max_steps")).to_have_value(str(preset(server)["max_steps"]))
    page.click(".f-notice .btn.small:not(.ghost)")
    expect(page.locator("#f-max_steps")).to_have_value("33")


def test_another_preset_sets_the_changes_aside_and_gives_them_back(page: Page, server: Server) -> None:
    opened(page, server)
    page.fill("#f-max_steps", "33")
    page.check('.f-card[data-preset="math-lora"] input')
    expect(page.locator("#f-model")).to_have_value("Qwen/Qwen2.5-0.5B-Instruct")
    expect(page.locator(".f-notice")).to_be_visible()
    expect(page.locator(".f-source")).to_be_visible()
    page.click(".f-notice .btn.small:not(.ghost)")
    expect(page.locator("#f-model")).to_have_value("embedded")
    expect(page.locator("#f-max_steps")).to_have_value("33")


def test_a_named_method_sets_its_values_and_is_recognised_by_them(page: Page, server: Server) -> None:
    opened(page, server)
    gspo = next(one for one in server.call("GET", "/api/schema")["algorithms"] if one["name"] == "gspo")["values"]
    page.select_option("#f-method", "gspo")
    expect(page.locator("#f-method")).to_have_value("gspo")
    assert float(page.locator("#f-epsilon").input_value()) == gspo["epsilon"]
    chosen = page.evaluate("document.getElementById('f-loss_type').selectedOptions[0].textContent")
    assert chosen == gspo["loss_type"]
    page.wait_for_selector(READY)
    page.reload()
    page.wait_for_selector(READY)
    expect(page.locator("#f-method")).to_have_value("gspo")
    page.locator('.f-fold[data-group="loss"] summary').click()
    page.fill("#f-epsilon", "0.2")
    expect(page.locator("#f-method")).to_have_value("")


def test_search_finds_by_plain_and_by_trl_name_in_both_languages(page: Page, server: Server) -> None:
    opened(page, server)

    def shown() -> list[str]:
        return page.evaluate(
            "[...document.querySelectorAll('.f-field')].filter((f) => f.checkVisibility()).map((f) => f.dataset.field)"
        )

    page.fill("#f-search", "importance_sampling_level")
    assert shown() == ["importance_sampling_level"]
    page.fill("#f-search", "learning rate")
    assert "learning_rate" in shown()
    page.fill("#f-search", "학습률")
    assert "learning_rate" in shown()
    page.fill("#f-search", "reward_weights")
    assert shown() == ["rewards"]
    page.fill("#f-search", "<img src=x>")
    expect(page.locator(".f-found")).to_contain_text("<img src=x>")
    assert shown() == []
    page.press("#f-search", "Escape")
    assert len(shown()) > 15
    assert "importance_sampling_level" not in shown()


def test_a_folded_field_with_an_error_is_counted_and_reached_from_the_plan(page: Page, server: Server) -> None:
    opened(page, server)
    page.fill("#f-search", "adam_beta1")
    page.fill("#f-adam_beta1", "1.5")
    expect(page.locator('[data-field="adam_beta1"] .f-problem')).to_be_visible()
    page.fill("#f-search", "")
    fold = page.locator('.f-fold[data-group="training"]')
    expect(fold).not_to_have_attribute("open", "")
    expect(fold.locator(".f-fold-wrong")).to_have_text("1 to mend")
    page.locator(".f-note[data-severity=stop] .f-note-field").click()
    expect(page.locator("#f-adam_beta1")).to_be_focused()


def test_rewards_and_their_weights_are_one_list(page: Page, server: Server) -> None:
    opened(page, server)
    rows = page.locator(".f-reward")
    expect(rows).to_have_count(2)
    weight = page.locator('.f-reward[data-reward="format"] .f-weight')
    weights = dict(zip(preset(server)["rewards"], preset(server)["reward_weights"], strict=True))
    expect(weight).to_have_value(f"{weights['format']:g}")
    weight.fill(f"{weights['accuracy']:g}")
    expect(page.locator('.f-reward[data-reward="accuracy"] .f-share-text')).to_have_text("50% of the total")
    page.locator('.f-reward[data-reward="format"] .f-icon').click()
    expect(rows).to_have_count(1)
    page.locator(".f-offered .f-chip", has_text="Format").click()
    expect(rows).to_have_count(2)
    for row in ("accuracy", "format"):
        page.locator(f'.f-reward[data-reward="{row}"] .f-icon').click()
    expect(page.locator(".f-rewards-none")).to_be_visible()
    expect(page.locator('[data-field="rewards"] .f-problem')).to_be_visible()
    page.locator('[data-field="rewards"] .f-reset').click()
    expect(rows).to_have_count(2)


def test_a_late_answer_to_an_older_question_is_dropped(page: Page, server: Server) -> None:
    opened(page, server)
    held: list = []

    def check(route) -> None:
        if '"num_generations":7' in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/check", check)
    page.fill("#f-per_device_train_batch_size", "64")
    with page.expect_request(lambda request: '"num_generations":7' in (request.post_data or "")):
        page.fill("#f-num_generations", "7")
    page.fill("#f-num_generations", "16")
    page.wait_for_selector(READY)
    assert held
    with page.expect_response("**/api/check"):
        held[0].continue_()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.locator('[data-field="num_generations"] .f-problem')).to_have_count(0)
    expect(figure(page, "prompts_per_step")).to_have_text("4")


def test_a_pasted_config_fills_the_form_and_unknown_names_can_be_left_out(page: Page, server: Server) -> None:
    opened(page, server)
    page.click(".f-paste-open")
    page.fill(
        ".f-paste-area",
        "# from a tutorial\nlearning_rate: 2e-5\nnum_generations: 4\nwarmup_ratio: 0.2\nno_such_thing: <b>1</b>\n",
    )
    page.click(".f-paste-take")
    expect(page.locator("#f-learning_rate")).to_have_value("2e-5")
    expect(page.locator("#f-num_generations")).to_have_value("4")
    expect(page.locator("#f-warmup_steps")).to_have_value("0.2")  # under its name of today, and said so
    expect(page.locator(".f-notice-text")).to_contain_text("warmup_ratio is called warmup_steps now")
    note = page.locator(".f-note[data-severity=stop]", has_text="no_such_thing")
    expect(note).to_be_visible()
    note.locator(".f-leave-out").click()
    page.wait_for_selector(READY)
    expect(note).to_have_count(0)


def test_start_opens_the_live_page_of_the_new_run(page: Page, server: Server) -> None:
    opened(page, server)
    page.fill("#f-max_steps", "5")
    page.fill("#f-name", "<b>첫 실행</b>")
    expect(page.locator("#f-why")).to_have_text("Ready.")
    expect(figure(page, "total_steps")).to_have_text("5")
    page.click(READY)
    page.wait_for_function("document.body.dataset.tab === 'live'")
    run_id = page.evaluate("new URLSearchParams(location.search).get('run')")
    assert server.wait_state(run_id, "succeeded", "failed") == "succeeded"
    run = server.call("GET", f"/api/runs/{run_id}")
    assert run["name"] == "<b>첫 실행</b>"
    assert run["total_steps"] == 5
    page.go_back()
    page.wait_for_selector(READY)
    expect(page.locator("#f-max_steps")).to_have_value("5")  # the form is as it was, but for the name
    expect(page.locator("#f-name")).to_have_value("")


def test_a_server_that_does_not_answer_is_said_beside_start(page: Page, server: Server) -> None:
    opened(page, server)
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    page.route("**/api/check", lambda route: route.abort())
    page.fill("#f-max_steps", "7")
    expect(page.locator("#f-why")).to_have_text("The server does not answer.")
    expect(page.locator("#f-start")).to_be_disabled()
    page.unroute("**/api/check")
    page.wait_for_selector(READY)  # by itself
    expect(figure(page, "total_steps")).to_have_text("7")


def test_korean_is_whole_and_switches_without_a_reload(page: Page, server: Server) -> None:
    opened(page, server, lang="ko")
    page.fill("#f-num_generations", "7")
    problem = page.locator('[data-field="num_generations"] .f-problem-text')
    expect(problem).to_contain_text("약수")
    expect(page.locator("#f-start")).to_have_text("실행 시작")
    korean = page.locator("#new-root").inner_text()
    page.click('#studio-header [data-lang="en"]')
    expect(page.locator("#f-start")).to_have_text("Start the run")
    expect(problem).not_to_contain_text("약수")
    assert not re.search("[가-힣]", page.locator("#new-root").inner_text())
    page.click('#studio-header [data-lang="ko"]')
    expect(page.locator("#f-start")).to_have_text("실행 시작")
    assert page.locator("#new-root").inner_text() == korean


def test_nothing_overflows_at_390_px_and_the_plan_unfolds(page: Page, server: Server) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for lang in ("ko", "en"):
        opened(page, server, lang=lang)
        page.evaluate("for (const d of document.querySelectorAll('.f-fold')) d.open = true")
        wide = page.evaluate(
            "[...document.querySelectorAll('#new-root *')].filter((e) => e.checkVisibility()"
            " && e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.f-jumps')).map((e) => e.className)"
        )
        assert wide == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator(".f-story")).to_be_hidden()
    expect(page.locator("#f-start")).to_be_in_viewport()
    page.click(".f-sheet-toggle")
    expect(page.locator(".f-story")).to_be_in_viewport()
    expect(page.locator("#f-start")).to_be_in_viewport()


def test_start_is_in_sight_wherever_the_form_is_scrolled(page: Page, server: Server) -> None:
    page.set_viewport_size({"width": 1440, "height": 800})
    opened(page, server)
    for share in (0, 0.1, 0.5, 1):
        page.evaluate("(share) => scrollTo(0, share * document.documentElement.scrollHeight)", share)
        expect(page.locator("#f-start")).to_be_in_viewport(ratio=1)
        expect(page.locator("#f-plan-title")).to_be_in_viewport(ratio=1)


def test_another_dataset_starts_without_the_presets_arguments(page: Page, server: Server) -> None:
    """What the check does not use must not stand in the form; and back again with the preset's dataset."""
    opened(page, server)
    arguments = page.locator('.f-field[data-field="dataset_args"]')
    names = "node => [...node.querySelectorAll('input')].map((input) => input.value).filter(Boolean)"
    given = arguments.evaluate(names)
    assert "operations" in given
    page.locator('.f-field[data-field="dataset"] input').first.fill("article-math")
    page.wait_for_function(
        """() => ![...document.querySelectorAll('.f-field[data-field="dataset_args"] input')]
            .some((input) => input.value === 'operations')"""
    )
    page.wait_for_selector(READY)
    assert arguments.evaluate("node => node.hasAttribute('data-changed')") is False
    page.locator('.f-field[data-field="dataset"] input').first.fill("arithmetic")
    page.wait_for_function(
        """() => [...document.querySelectorAll('.f-field[data-field="dataset_args"] input')]
            .some((input) => input.value === 'operations')"""
    )
    assert arguments.evaluate(names) == given
