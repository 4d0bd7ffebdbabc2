"""Files and disk in a browser: an export with its proof, the hub after a dry run, a clean-up that frees what it says.

What makes weights is stood in for at the routes of the jobs; the overview, the disk and the documents are the server's.
"""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from backend.settings import Settings
from backend.workers import checkpoints
from tests.browser.chat_home import chat_run
from tests.browser.conftest import Server
from tests.support import wait_for

PROOF = {"prompts": 8, "same_tokens": 8, "tokens": 90, "ties": 0, "max_logit_difference": 1e-6, "device": "cpu"}


@pytest.fixture(scope="module")
def run(server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    run_id = chat_run(server, tmp_path_factory.mktemp("exports") / "base-model", "<b>filed</b>")

    def settled() -> bool:  # what the run's own processes hold is let go of a moment after its end
        return any(part["removable"] for part in server.call("GET", f"/api/runs/{run_id}/disk")["parts"])

    wait_for(settled, 60, every=0.2, what="the run's lock")
    return run_id


def opened(page: Page, server: Server, run: str, lang: str = "en", width: int = 1440) -> Page:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{server.url}?tab=runs&run={run}&files=1&lang={lang}")
    expect(page.locator("#exports-checkpoint option").first).to_be_attached()
    expect(page.locator(".x-part").first).to_be_visible()
    expect(page.locator("#exports-home .x-run", has_text="filed")).to_be_visible()
    return page


class Job:
    """A job at the routes: running for `ticks` questions, then as `ends`."""

    def __init__(self, page: Page, ticks: int = 3, **ends: Any) -> None:
        self.ticks, self.ends, self.stopped, self.bodies = ticks, ends, False, []
        page.route("**/api/exports/jobs/j1", self.tell)
        page.route("**/api/exports/jobs/j1/stop", self.stop)

    def now(self, **more: Any) -> dict[str, Any]:
        what = {"en": "writing the <i>weights</i>", "ko": "가중치를 쓰는 중"}
        return {
            "job": "j1",
            "state": "running",
            "done": 30,
            "total": 100,
            "what": what,
            "answer": None,
            "error": None,
        } | more

    def begin(self, route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        self.bodies.append(route.request.post_data_json)
        route.fulfill(json=self.now())

    def tell(self, route: Route) -> None:
        self.ticks -= 1
        state = {"state": "stopped"} if self.stopped else self.ends if self.ticks <= 0 else {}
        route.fulfill(json=self.now(**state))

    def stop(self, route: Route) -> None:
        self.stopped = True
        route.fulfill(json=self.now())


def made(server: Server, run: str) -> None:
    """An export as `make` leaves it."""
    folder = Settings(server.home).run_dir(run) / "exports" / "adapter-final"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_model.safetensors").write_bytes(b"w" * 5000)
    (folder / "README.md").write_text("# card", encoding="utf-8")
    facts = {"what": "adapter", "checkpoint": "final", "step": 4, "made_at": time.time(), "dtype": "float32"}
    checkpoints.write_manifest(folder, **facts, verified=PROOF, notes=[], base="b", base_shared=True, source="x")


def test_the_runs_page_leads_there_and_back(page: Page, server: Server, run: str) -> None:
    page.goto(f"{server.url}?tab=runs&lang=en")
    row = page.locator(f'tr[data-run="{run}"]')
    row.locator('[data-action="files"]').click()
    expect(page.locator(".x-title h1")).to_have_text("Files of <b>filed</b>")
    expect(page.locator(".x-title h1")).to_be_focused()
    expect(page.locator(".r-page")).to_be_hidden()
    page.locator(".x-back").click()
    expect(row).to_be_visible()
    assert "files=" not in page.url
    page.go_back()
    expect(page.locator(".x-view")).to_be_visible()
    page.click("#nav-live")
    page.click("#nav-runs")
    expect(page.locator(".r-page")).to_be_visible()


def test_what_a_run_takes_is_asked_once(page: Page, server: Server, run: str) -> None:
    """Also where the list of runs, which names it and its state, comes later: what was ticked is not drawn anew."""
    held: list[Route] = []
    page.route("**/api/runs", lambda route: held.append(route), times=1)
    page.goto(f"{server.url}?tab=runs&run={run}&files=1&lang=en")
    page.check('input[data-part="optimizer"]')
    held[0].continue_()
    expect(page.locator(".x-title h1")).to_have_text("Files of <b>filed</b>")
    requests: list[str] = page.watched.requests  # type: ignore[attr-defined]
    assert sum(one.endswith(f"/api/runs/{run}/disk") for one in requests) == 1
    expect(page.locator('input[data-part="optimizer"]')).to_be_checked()


def test_a_start_that_is_under_way_is_not_made_twice(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    page.locator('[data-kind="merged"]').click()
    held: list[Route] = []
    page.route(f"**/api/runs/{run}/exports", lambda route: held.append(route), times=1)
    page.click("#exports-make")
    page.click('#studio-header [data-lang="ko"]')  # which says all of it anew
    expect(page.locator("#exports-make")).to_have_text("내보내기")
    expect(page.locator("#exports-make")).to_be_disabled()
    assert [route.request.method for route in held] == ["POST"]
    page.watched.expect_failures = True  # type: ignore[attr-defined]
    held[0].fulfill(status=409, json={"error": {"en": "no", "ko": "아니요"}})
    expect(page.locator("#exports-make")).to_be_enabled()


def test_an_export_shows_how_far_it_is_is_stopped_fails_and_is_proved(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    job = Job(page, 99)
    page.route(f"**/api/runs/{run}/exports", job.begin)
    expect(page.locator("#exports-checkpoint option")).to_have_text(
        [re.compile("trained, final · step 4"), re.compile("step 2")]
    )
    page.locator('[data-kind="merged"]').click()
    expect(page.locator(".x-about")).to_contain_text("as one model")
    page.click("#exports-make")
    expect(page.locator(".x-job").first).to_contain_text("writing the <i>weights</i> · 30%")
    expect(page.locator(".x-track").first).to_have_attribute("aria-valuenow", "30")
    expect(page.locator("#exports-make")).to_be_disabled()
    assert job.bodies == [{"what": "merged", "checkpoint": "final"}]
    page.locator(".x-stop").first.click()
    expect(page.locator("#studio-toasts")).to_contain_text("Nothing is left of it")
    expect(page.locator(".x-job").first).to_be_hidden()

    job.stopped, job.ticks, job.ends = False, 1, {"state": "failed", "error": {"en": "no <room>", "ko": "공간 부족"}}
    page.click("#exports-make")
    expect(page.locator(".x-note [role=alert]")).to_have_text("no <room>")
    job.ticks, job.ends = 1, {"state": "done", "answer": {}}
    made(server, run)
    page.click("#exports-make")
    item = page.locator('.x-item[data-export="adapter-final"]')
    expect(item.locator(".x-proof")).to_contain_text("verified 8 of 8 prompts")
    expect(page.locator(".x-note [role=alert]")).to_have_count(0)
    with page.expect_download() as download:
        item.locator(".x-download").click()
    assert download.value.path().read_bytes()[:2] == b"PK"
    for button, start in (("#exports-report", b"<!doctype"), ("#exports-card", b"---")):
        with page.expect_download() as document:
            page.click(button)
        assert document.value.path().read_bytes().lower().startswith(start)
    item.locator(".x-delete").click()
    page.locator("dialog[open] .btn.danger").click()
    expect(item).to_have_count(0)


def test_a_push_shows_everything_first_and_sends_only_when_told(page: Page, server: Server, run: str) -> None:
    made(server, run)
    opened(page, server, run)
    plan = {
        "repo": "me/model", "private": True,
        "files": [{"name": "README.md", "bytes": 900}, {"name": "model.safetensors", "bytes": None}],
        "bytes": 900, "exact": False, "card": "# <script>card</script>", "token": False, "why": None,
    }  # fmt: skip
    sent: list[dict[str, Any]] = []
    job = Job(page, 1, state="done", answer={"url": "https://huggingface.co/me/model"})

    def push(route: Route) -> None:
        body = json.loads(route.request.post_data or "{}")
        sent.append(body)
        if body["dry_run"]:
            route.fulfill(json=plan | {"private": body["private"]})
        else:
            job.begin(route)

    page.route(f"**/api/runs/{run}/push", push)
    page.locator(".x-push").first.click()
    expect(page.locator("#push-repo")).to_be_focused()
    page.click("#push-look")
    expect(page.locator("#push-repo-fault")).to_contain_text("org/name")
    expect(page.locator("#push-repo")).to_be_focused()
    page.fill("#push-repo", "me/model")
    page.keyboard.press("Enter")
    expect(page.locator(".x-plan")).to_contain_text("private repository me/model. Nothing is sent yet.")
    expect(page.locator(".x-plan")).to_contain_text("set HF_TOKEN")
    expect(page.locator("#push-send")).to_be_disabled()
    page.locator(".x-plan summary").click()
    expect(page.locator(".x-cardtext")).to_have_text("# <script>card</script>")
    plan["token"] = True
    page.uncheck("#push-private")
    expect(page.locator("#push-send")).to_have_count(0)  # a plan is of what stands in the form
    page.click("#push-look")
    expect(page.locator(".x-plan")).to_contain_text("public repository me/model, which anybody can read")
    assert all(body["dry_run"] for body in sent)
    page.click("#push-send")
    expect(page.locator(".x-plan .notice a")).to_have_attribute("href", "https://huggingface.co/me/model")
    assert sent[-1] == {"name": "adapter-final", "repo": "me/model", "private": False, "dry_run": False}
    page.keyboard.press("Escape")


def test_a_clean_up_says_what_it_frees_and_costs_and_frees_it(page: Page, server: Server, run: str) -> None:
    opened(page, server, run)
    optimizer = Settings(server.home).run_dir(run) / "checkpoints" / "checkpoint-2" / "optimizer.pt"
    assert optimizer.is_file()
    expect(page.locator("#disk-free")).to_be_hidden()
    page.check('input[data-part="optimizer"]')
    expect(page.locator("#disk-free")).to_have_text("Free 9.00 kB…")
    page.click("#disk-free")
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("It frees 9.00 kB and cannot be undone.")
    expect(dialog).to_contain_text("can still be evaluated")
    page.keyboard.press("Escape")
    assert optimizer.is_file()
    page.click("#disk-free")
    dialog.locator(".btn.danger").click()
    expect(page.locator("#studio-toasts")).to_contain_text("9.00 kB are free again.")
    expect(page.locator('input[data-part="optimizer"]')).to_have_count(0)
    assert not optimizer.exists()
    expect(page.locator("#disk-part-data-cost")).to_contain_text("Only deleting the run")


@pytest.mark.parametrize("width", [1440, 390])
def test_korean_is_whole_and_switches_at_once(page: Page, server: Server, run: str, width: int) -> None:
    made(server, run)
    opened(page, server, run, "ko", width)
    page.locator(".x-push").first.click()
    page.locator(".x-see summary").first.click()
    korean = page.locator(".x-view").inner_text()
    page.click('#studio-header [data-lang="en"]')
    expect(page.locator("#exports-make")).to_have_text("Make the export")
    assert not re.search("[가-힣]", page.locator(".x-view").inner_text())
    page.click('#studio-header [data-lang="ko"]')
    expect(page.locator("#exports-make")).to_have_text("내보내기")
    assert re.sub(r"\d+(초|분) 전", "", page.locator(".x-view").inner_text()) == re.sub(r"\d+(초|분) 전", "", korean)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{server.url}?tab=runs&files=1&lang=ko")
    expect(page.locator(".x-view > p.muted")).to_be_visible()
    page.goto(f"{server.url}?tab=runs&files=1&run=20200101-000000-aaaa&lang=ko")
    expect(page.locator(".x-view > .notice")).to_be_visible()
