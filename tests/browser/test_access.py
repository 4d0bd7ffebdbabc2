"""Every page in both languages and themes, wide and narrow: nothing untranslated, nothing that spills, nothing that
axe-core calls serious, and the keyboard reaches all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import Server, settled

# Each page, and each section of the Lab. `ready` is what stands there once the page has its data.
PAGES = {
    "runs": ("tab=runs", "#runs-root table"),
    "new": ("tab=new", "#new-root .f-field"),
    "live": ("tab=live", "#live-view section.chart:not([hidden])"),
    "samples": ("tab=samples", "#samples-list .s-body .s-row"),
    "samples-prompts": ("tab=samples&view=prompts", "#sa-prompts-table tbody tr"),
    "samples-budget": ("tab=samples&view=budget", "#sa-budget-chart[data-drawn]"),
    "samples-plots": ("tab=samples&view=plots", "#sa-scatter-chart[data-drawn]"),
    "samples-group": ("tab=samples&step=3&place=1", "#samples-cards .s-card"),
    "sweeps": ("tab=sweeps", "#sweeps-root h1"),
    "sweeps-new": ("tab=sweeps&sweep=new", "#sweeps-form [data-add]"),
    "compare": ("tab=compare&runs={run}", "#compare-page section[data-name=reward] .cmp-legend li"),
    "evaluate": ("tab=evaluate", "#evaluate-root h1, #evaluate-root h2"),
    "chat": ("tab=chat", "#chat-root textarea"),
    "data": ("tab=data", "#data-root h1"),
    **{
        f"rewards-{lab}": (f"tab=rewards&lab={lab}", "#rewards-root .lab-section:not([hidden])")
        for lab in ("score", "audit", "advantages", "probe", "replay", "custom")
    },
}
# Names that people search for in English, in a Korean page too. Names of settings, rewards, sets and runs come from
# the server.
NAMES = {"GRPO Studio", "GRPO", "PNG", "CSV", "JSON", "SQL", "vLLM", "JSONL", "HTML", "ZIP", "EOS", "LoRA", "McNemar"}

TEXTS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!/[A-Za-z]{3}|[가-힣]/.test(text) || !element.checkVisibility({visibilityProperty: true})) continue;
    if (element.closest('script, style, code, pre, kbd, option, textarea, .mono, .exact, [data-exact]')) continue;
    found.push(text);
  }
  return found;
}"""

# Text that is wider than its box and may be seen beside it, or is cut without an ellipsis.
SPILLS = """() => {
  const found = [];
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 1) found.push(`the page is ${wide} px too wide`);
  for (const element of document.querySelectorAll('#studio-header *, .page-root *')) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.checkVisibility({visibilityProperty: true})) continue;
    if (element.closest('svg, .visually-hidden')) continue;
    const style = getComputedStyle(element);
    if (style.display === 'inline' || style.textOverflow === 'ellipsis') continue;
    if (['auto', 'scroll'].includes(style.overflowX) || element.clientWidth === 0) continue;
    const over = element.scrollWidth - element.clientWidth;
    const which = `${element.tagName}.${element.className}: ${element.textContent.slice(0, 60)}`;
    if (over > 2) found.push(`${which} (${over} px too wide)`);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def run(server: Server) -> Iterator[str]:
    made = server.new_run(12)
    server.wait_state(made, "succeeded")
    yield made
    server.end(made)


@pytest.fixture(scope="module")
def names(server: Server, run: str) -> set[str]:
    """What may stand in English on a Korean page, since it is a name."""
    found = set(NAMES)

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            found.update(value)
            for item in value.values():
                collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)
        elif isinstance(value, str) and not re.search(r"\s", value):
            found.add(value)

    for path in ("/api/schema", "/api/runs", "/api/lab/setup", f"/api/runs/{run}"):
        collect(server.call("GET", path))
    found.update(each["name"] for each in server.call("GET", "/api/runs")["runs"])  # these may have spaces
    return found


def opened(page: Page, server: Server, run: str, name: str, language: str = "en", theme: str = "light") -> None:
    query, ready = PAGES[name]
    page.goto(f"{server.url}?run={run}&{query.format(run=run)}&lang={language}&theme={theme}")
    page.locator(ready).first.wait_for()
    page.wait_for_function("() => !document.querySelector('.page-root .loading')?.checkVisibility()")


def untranslated(english: list[str], korean: list[str], names: set[str]) -> list[str]:
    """Texts that are the same in both languages, and are no name, number or unit."""
    same = set(english) & set(korean)
    bare = {text: re.sub(r"^[+#×·\s]+|[\s:·…]+$", "", text) for text in same}
    hangul = [text for text in english if re.search("[가-힣]", text) and text not in {"ko", "한국어"}]
    return sorted(text for text, name in bare.items() if name not in names and re.search(r"[a-z]{3}", name)) + hangul


def serious(page: Page) -> list[str]:
    """What axe-core calls serious or critical: labels, roles, contrast AA. Of what stands still: what waits for the
    server, or fades in, is paler for a moment."""
    page.wait_for_function(
        "() => !document.querySelector('.page-root [data-stale]') "
        "&& !document.getAnimations().some((one) => one instanceof CSSTransition)"
    )
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:160]}"
        for rule in Axe().run(page).response["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


def spills(page: Page) -> list[str]:
    """What spills once charts and tables have the width that they are given."""
    return settled(lambda: page.evaluate(SPILLS), [])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_in_both_languages_and_themes_wide_and_narrow(
    page: Page, server: Server, run: str, names: set[str], name: str
) -> None:
    opened(page, server, run, name)
    english, spilt, broken = page.evaluate(TEXTS), spills(page), serious(page)
    page.click("#language-switch [data-lang=ko]")
    page.wait_for_function("() => document.documentElement.lang === 'ko'")
    # Charts are drawn in the next frame.
    assert settled(lambda: untranslated(english, page.evaluate(TEXTS), names), []) == []
    page.click("#theme-switch")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    assert broken + serious(page) == []
    spilt += spills(page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("() => innerWidth === 390")
    spilt += spills(page)
    page.click("#language-switch [data-lang=en]")
    page.wait_for_function("() => document.documentElement.lang === 'en'")
    assert spilt + spills(page) == []


@pytest.mark.parametrize("name", ["runs", "new", "live", "samples", "samples-group", "evaluate", "chat"])
def test_the_keyboard_goes_from_the_header_into_the_page_and_is_seen(
    page: Page, server: Server, run: str, name: str
) -> None:
    """Tab never lands on something that cannot be seen, and reaches the page's own controls after the header's."""
    opened(page, server, run, name)
    places: list[str] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        places.append(
            page.evaluate(
                "() => { const e = document.activeElement; if (e === document.body) return 'body'; "
                "const box = e.getBoundingClientRect(); "
                # A radio button of a row of choices is drawn by its label, which then carries the ring.
                "const ringed = (x) => x && (({outlineStyle: o, boxShadow: s}) => o !== 'none' || s !== 'none')"
                "(getComputedStyle(x)); "
                "const ring = ringed(e) || (e.type === 'radio' && ringed(e.closest('label'))); "
                "const seen = e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && box.width > 0; "
                "const where = e.closest('#studio-header') ? 'header' : e.closest('.page-root') ? 'page' : 'other'; "
                "return seen ? (ring ? where : 'no ring: ' + e.outerHTML.slice(0, 80)) : "
                "'hidden: ' + e.outerHTML.slice(0, 80); }"
            )
        )
        if places[-1] == "page" and places.count("page") > 3:
            break
    assert [place for place in places if place.startswith(("hidden", "no ring"))] == []
    assert "page" in places
    assert places.index("header") < places.index("page")
