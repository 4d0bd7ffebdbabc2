"""The Compare page over recorded trainings: chosen on the page, curves, bands, tables, axes, and links that open the
same."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from sqlalchemy import update

from backend.settings import PROJECT, Settings
from storage import models
from storage.db import Database
from storage.portable import load
from tests.browser.conftest import Server, open_page, settled
from tests.browser.test_access import serious, spills
from tests.support import wait_for

HOSTILE = "<img src=x onerror=\"document.title='owned'\"> & <b>bold</b>"
FORMULA = "＝1+1"  # some spreadsheets take the wide sign for one
PLOT = "#compare-page section[data-name='{}'] .cmp-plot"


CUT = """(all) => all.filter((one) => one.getBoundingClientRect().left
  < one.closest('.cmp-plot').getBoundingClientRect().left).map((one) => one.textContent)"""


@dataclass(frozen=True)
class Recorded:
    """Ids: two seeds of one setting, the second with a hostile name, and a run of another task's length."""

    first: str
    hostile: str
    other: str

    @property
    def all(self) -> str:
        return f"{self.first},{self.hostile},{self.other}"


@pytest.fixture(scope="module")
def runs(server: Server) -> Iterator[Recorded]:
    db = Database(Settings(server.home).database_url)
    traces = PROJECT / "tests" / "data" / "traces"
    first, hostile = (load(db, traces / f"high_lr-{seed}.jsonl.gz") for seed in (1, 2))
    other = load(db, PROJECT / "configs" / "recordings" / "learned.jsonl.gz")
    with db.engine.begin() as connection:
        for run, name in ((hostile, HOSTILE), (other, FORMULA)):
            connection.execute(update(models.run).where(models.run.c.id == run).values(name=name))
    db.close()
    yield Recorded(first, hostile, other)
    for run in (first, hostile, other):
        server.call("DELETE", f"/api/runs/{run}")


def opened(page: Page, server: Server, ids: str = "", lang: str = "en", more: str = "") -> Page:
    page.goto(f"{server.url}?tab=compare&lang={lang}&runs={ids}{more}")
    page.locator("#compare-page h1").wait_for()
    return page


def judged(server: Server, ids: str) -> None:
    """Until no run waits for its diagnosis, whose words make the table above the charts higher."""

    def none_waits() -> bool:
        found = [run["measured"].get("finding") or {} for run in server.call("GET", f"/api/compare?runs={ids}")["runs"]]
        return all(one.get("state") != "pending" for one in found)

    wait_for(none_waits, 60, every=0.2, what="the diagnoses")


def drawn(page: Page, name: str = "reward", traces: int | None = None) -> list[dict[str, Any]]:
    """What plotly holds of a chart, once it has as many traces as told."""
    page.locator(PLOT.format(name)).scroll_into_view_if_needed()
    page.wait_for_function(
        "([s, n]) => { const d = document.querySelector(s)?.data; return d && (n === null || d.length === n); }",
        arg=[PLOT.format(name), traces],
    )
    return page.evaluate(
        "(s) => document.querySelector(s).data.map((d) => ({name: d.name, uid: d.uid, x: [...d.x], y: [...d.y], "
        "up: d.error_y?.array && [...d.error_y.array], fill: d.fill}))",
        PLOT.format(name),
    )


def test_three_runs_are_chosen_and_stand_beside_each_other(page: Page, server: Server, runs: Recorded) -> None:
    opened(page, server)
    expect(page.locator("#compare-said")).to_contain_text("Choose runs")
    for run in (runs.first, runs.hostile, runs.other):
        page.select_option("#compare-add", run)
        expect(page.locator(f".cmp-chip [title='{run}']")).to_be_visible()
    assert page.evaluate("new URLSearchParams(location.search).get('runs')") == runs.all
    expect(page.locator("#compare-said")).to_be_hidden()
    # A name is text, wherever it stands.
    expect(page.locator(".cmp-chip .cmp-name").nth(1)).to_have_text(HOSTILE)
    expect(page.locator("#compare-evaluations tbody th").nth(1)).to_have_text(HOSTILE)
    assert page.locator("#compare-page img").count() == 0
    assert page.title() != "owned"
    # Two seeds are a band of low, high and mean, and the third a line of its own.
    traces = drawn(page, traces=4)
    assert [re.sub("-.*", "", trace["uid"]) for trace in traces] == ["low", "high", "mean", "run"]
    low, high, mean, line = (trace["y"] for trace in traces)
    assert all(a <= m <= b for a, m, b in zip(low, mean, high, strict=True))
    assert traces[2]["name"].endswith("(2 seeds of one setting)")
    asked = f"/api/compare/curves?runs={runs.all}&name=reward&axis=step&smoothing=0.6"
    answer = server.call("GET", asked)
    assert line == answer["lines"][2]["y"]
    legend = page.locator("section[data-name=reward] .cmp-legend li")
    expect(legend).to_have_count(2)
    page.check("#compare-singles")
    names = [trace["name"] for trace in drawn(page, traces=6)]
    assert "&lt;img src=x" in names[4]
    assert all("<" not in (name or "") for name in names)


def test_the_tables_tell_what_differs_and_what_the_runs_came_to(page: Page, server: Server, runs: Recorded) -> None:
    opened(page, server, runs.all)
    answer = server.call("GET", f"/api/compare?runs={runs.all}")
    rows = page.locator("#compare-evaluations tbody tr")
    expect(rows).to_have_count(3)
    for at, run in enumerate(answer["runs"]):
        side = run["measured"]["after"]
        expect(rows.nth(at).locator("td").nth(1)).to_contain_text(f"{100 * side['accuracy']:.1f}%")
        expect(rows.nth(at).locator("td").nth(1)).to_contain_text(f"{100 * side['low']:.1f}%")
        expect(rows.nth(at).locator("td").nth(1)).to_contain_text(f"{side['n']} rows")
    expect(rows.nth(0).locator("td").nth(3)).to_have_text("–")
    rate = page.locator("#compare-settings tr", has=page.locator("text=learning_rate")).first
    expect(rate.locator("td")).to_have_text(["0.01", "0.01", "1e-4"])
    fields = page.locator("#compare-settings tbody th .mono").all_inner_texts()
    assert fields == [row["field"] for row in answer["settings"]]
    held = drawn(page, "held_out", traces=3)
    assert [trace["y"][-1] for trace in held] == pytest.approx(
        [run["measured"]["after"]["accuracy"] for run in answer["runs"]]
    )
    assert all(up > 0 for trace in held for up, y in zip(trace["up"], trace["y"], strict=True) if y < 1)
    with page.expect_download() as download:
        page.click("section[data-name=held_out] .ev-csv")
    table = list(csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines()))
    assert [float(row["value"]) for row in table] == pytest.approx([y for trace in held for y in trace["y"]])
    assert {row["names"] for row in table} >= {HOSTILE}


def test_the_axis_changes_and_a_chart_is_a_file(page: Page, server: Server, runs: Recorded) -> None:
    opened(page, server, runs.all)
    steps = drawn(page, traces=4)[3]["x"]
    assert steps[-1] == 150
    for axis, title in (("tokens", "tokens seen"), ("time", "seconds of training")):
        page.click(f"#compare-x-axis [data-mode={axis}]")
        page.wait_for_function(
            "([s, title]) => document.querySelector(s).layout.xaxis.title.text === title",
            arg=[PLOT.format("reward"), title],
        )
        asked = f"/api/compare/curves?runs={runs.all}&name=reward&axis={axis}&smoothing=0.6"
        answer = server.call("GET", asked)
        assert drawn(page, traces=4)[3]["x"] == answer["lines"][2]["x"]
    with page.expect_download() as download:
        page.click("section[data-name=reward] .ev-csv")
    table = list(csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines()))
    single = [row for row in table if row["seeds"] == "1"]
    assert [float(row["time"]) for row in single] == answer["lines"][2]["x"]
    assert [float(row["value"]) for row in single] == answer["lines"][2]["raw"]
    assert {row["names"] for row in single} == {f"'{FORMULA}"}
    assert {row["runs"] for row in table if row["seeds"] == "2"} == {f"{runs.first} {runs.hostile}"}


@pytest.fixture
def hacked(server: Server) -> Iterator[str]:
    db = Database(Settings(server.home).database_url)
    run = load(db, PROJECT / "configs" / "recordings" / "hacked.jsonl.gz")
    db.close()
    yield run
    server.call("DELETE", f"/api/runs/{run}")


def test_a_list_breaks_between_its_values(server: Server, hacked: str, page: Page, runs: Recorded) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, server, f"{hacked},{runs.other}")
    values = page.locator("#compare-settings tr", has=page.locator("text=reward_args.length")).locator(".cmp-value")
    expect(values.first).to_have_text('{"mode": "target", "target": 16, "tolerance": 8}')
    # Both runs are in sight beside each other, and the page's table needs no scrolling for it.
    box = page.locator("#compare-settings").locator("xpath=..")
    assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    # No line ends inside a word: each word is as high as one line.
    tall = """(nodes) => nodes.flatMap((node) => {
      const text = node.firstChild, range = document.createRange(), found = [];
      if (text?.nodeType !== 3) return [];
      for (const word of text.data.matchAll(/[^ ]+/g)) {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        if (range.getClientRects().length > 1 && word[0].length < 24) found.push(word[0]);
      }
      return found;
    })"""
    assert page.locator("#compare-settings .cmp-value").evaluate_all(tall) == []


def test_two_runs_of_one_name_are_told_apart(page: Page, server: Server, runs: Recorded) -> None:
    with page.expect_response("**/api/compare?*"):
        page.route(
            "**/api/compare?*",
            lambda route: route.fulfill(
                json=renamed(server.call("GET", f"/api/compare?runs={runs.first},{runs.other}"))
            ),
        )
        opened(page, server, f"{runs.first},{runs.other}")
    wanted = [f"twin · {run[-4:]}" for run in (runs.first, runs.other)]
    expect(page.locator("#compare-evaluations tbody th")).to_have_text(wanted)
    expect(page.locator("#compare-settings thead th").nth(2)).to_have_text(wanted[1])
    page.locator(PLOT.format("reward")).scroll_into_view_if_needed()
    expect(page.locator("section[data-name=reward] .cmp-legend li")).to_have_text(wanted)


def renamed(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "runs": [{**run, "name": "twin"} for run in answer["runs"]]}


def test_a_diagnosis_that_is_under_way_is_asked_for_again(page: Page, server: Server, runs: Recorded) -> None:
    asked: list[str] = []
    pending = True

    def answer(route: Route) -> None:
        found = server.call("GET", f"/api/compare?runs={runs.first},{runs.other}")
        if pending:
            words = {"en": "being diagnosed", "ko": "진단하는 중"}
            found["runs"][0]["measured"]["finding"] = {"state": "pending", "text": words}
        asked.append(route.request.url)
        route.fulfill(json=found)

    page.route("**/api/compare?*", answer)
    opened(page, server, f"{runs.first},{runs.other}")
    said = page.locator("#compare-evaluations .cmp-said").first
    expect(said).to_have_text("being diagnosed")
    pending = False
    expect(said).not_to_have_text("being diagnosed", timeout=60_000)
    assert len(asked) > 1


def test_a_click_on_a_line_opens_the_samples_of_its_step(page: Page, server: Server, runs: Recorded) -> None:
    judged(server, f"{runs.first},{runs.other}")
    opened(page, server, f"{runs.first},{runs.other}")
    drawn(page, traces=2)
    x, y, step = page.evaluate(
        "(s) => { const p = document.querySelector(s), a = p._fullLayout, line = p.data[1];"
        " return [a.xaxis.l2p(line.x[9]), a.yaxis.l2p(line.y[9]), line.x[9]]; }",
        PLOT.format("reward"),
    )
    # A place in the chart, not on the screen: what stands above it may still move it.
    page.locator(f"{PLOT.format('reward')} .nsewdrag").click(position={"x": x, "y": y})
    page.wait_for_selector("#samples-list .s-body .s-row")
    asked = page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")
    assert (asked["tab"], asked["run"], asked["step"]) == ("samples", runs.other, str(step))


def test_ticks_are_whole_and_tell_one_from_another(page: Page, server: Server, runs: Recorded) -> None:
    """A rate of 1e-4 is not a row of noughts, and 0.5% is not 0%."""
    opened(page, server, runs.other)
    for name in [one["name"] for one in server.call("GET", f"/api/compare?runs={runs.other}")["charts"]]:
        drawn(page, name, traces=1)
        page.wait_for_function("(s) => document.querySelectorAll(s + ' .ytick').length > 1", arg=PLOT.format(name))
        ticks = page.locator(f"{PLOT.format(name)} .ytick").all_text_contents()
        assert len(set(ticks)) == len(ticks), (name, ticks)
        cut = page.locator(f"{PLOT.format(name)} .ytick")
        # Plotly makes room for them in a second pass.
        assert settled(lambda cut=cut: cut.evaluate_all(CUT), []) == [], name


def test_one_is_taken_out_and_the_back_button_brings_it_back(page: Page, server: Server, runs: Recorded) -> None:
    opened(page, server, runs.all)
    drawn(page, traces=4)
    page.locator(".cmp-chip", has=page.locator(f"[title='{runs.first}']")).get_by_role("button").click()
    expect(page.locator(".cmp-chip")).to_have_count(2)
    assert [trace["uid"] for trace in drawn(page, traces=2)] == [f"run-{runs.hostile}", f"run-{runs.other}"]
    expect(page.locator("#compare-evaluations tbody tr")).to_have_count(2)
    page.go_back()
    expect(page.locator(".cmp-chip")).to_have_count(3)
    drawn(page, traces=4)
    # A run that is not there is named, and the rest is compared.
    opened(page, server, f"{runs.first},20200101-000000-aaaa")
    expect(page.locator("#compare-page")).to_contain_text("Deleted since: 20200101-000000-aaaa")
    expect(page.locator("#compare-said")).to_contain_text("Add a second run")


def test_runs_are_ticked_in_the_list_and_compared(page: Page, server: Server, runs: Recorded) -> None:
    page.goto(f"{server.url}?tab=runs&lang=en")
    page.wait_for_selector(".r-page[data-ready]")
    expect(page.locator("#runs-compare")).to_be_hidden()
    for run in (runs.other, runs.first):
        page.check(f"tr[data-run='{run}'] .r-pick")
    expect(page.locator("#runs-compare")).to_have_text("Compare 2 runs")
    page.click("#runs-compare")
    expect(page.locator("#compare-evaluations tbody tr")).to_have_count(2)
    assert page.evaluate("new URLSearchParams(location.search).get('runs')") == f"{runs.other},{runs.first}"
    page.goto(f"{server.url}?tab=live&lang=en&run={runs.other}")
    page.click("#live-compare")
    expect(page.locator(".cmp-chip")).to_have_count(1)


def test_korean_on_a_telephone_and_both_themes(browser: Browser, server: Server, runs: Recorded) -> None:
    page = open_page(browser, viewport={"width": 390, "height": 844})
    opened(page, server, runs.all, "ko")
    drawn(page, traces=4)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#compare-evaluations thead")).to_contain_text("첫 실행 대비")
    cut = page.locator("#compare-evaluations tbody :is(th, td)").evaluate_all(
        "(all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.textContent)"
    )
    assert cut == [], "a run is a card: no figure is beyond the edge"
    assert serious(page) + spills(page) == []
    page.click("#theme-switch")
    assert serious(page) + spills(page) == []
    page.click("#language-switch [data-lang=en]")
    expect(page.locator("#compare-evaluations thead")).to_contain_text("Against the first")
    assert not page.watched.faults  # type: ignore[attr-defined]
    page.context.close()
