"""Words, panels and colours of the page: complete in both languages, checked by plotly, readable in both themes."""

from __future__ import annotations

import re
from pathlib import Path

import plotly.graph_objects as go
import pytest

from ui.layout import STATIC, head
from ui.panels import Panel, Row, Series, find_panels, panels_json
from ui.tabs import find_tabs
from ui.text import all_texts

HANGUL = re.compile("[가-힣]")
SAME = {"app.name", "app.unknown", "stage.grpo", "chart.csv", "chart.png", "sweeps.csv"}  # the same word in both
CHECKED = {
    "app",
    "state",
    "stage",
    "live",
    "tile",
    "chart",
    "eval",
    "groups",
    "log",
    "samples",
    "smore",
    "sweeps",
    "findings",
    "compare",
    "attach",
}
# Folders of scripts whose keys are looked for.
READ = ("js", "js/live", "js/findings", "js/samples", "js/sweeps", "js/compare", "js/runs")
KEY = re.compile(r"""(?:\bt\(|\bt: |label\(\w+(?:\.\w+)*, |title: |body: |action: |toast\()'([a-z_]+\.[a-z_]+)'""")


def test_every_text_is_there_in_both_languages_with_the_same_blanks() -> None:
    for key, text in all_texts().items():
        if key.partition(".")[0] not in CHECKED:
            continue
        assert text["en"], key
        assert not HANGUL.search(text["en"]), key
        words = re.sub(r"\{\w+\}", "", text["ko"])
        assert HANGUL.search(words) or key in SAME or not re.search("[a-z]{3}", words), key
        assert set(re.findall(r"\{\w+\}", text["en"])) == set(re.findall(r"\{\w+\}", text["ko"])), key


def test_every_key_that_the_scripts_name_exists() -> None:
    known = all_texts()
    named = {
        (path.name, key)
        for folder in READ
        for path in STATIC.joinpath(folder).glob("*.js")
        for key in KEY.findall(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 40
    assert {pair for pair in named if pair[1] not in known} == set()


def test_no_script_writes_html() -> None:
    wrong = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    for path in STATIC.rglob("*.js"):
        assert not wrong.search(path.read_text(encoding="utf-8")), path.name


def test_panels_are_found_in_order_and_served_with_what_plotly_accepts() -> None:
    panels = find_panels()
    assert [panel.id for panel in panels][:2] == ["reward", "signal"]
    served = panels_json()["panels"]
    for panel in served:
        go.Layout(panel["layout"])
        for series in panel["series"]:
            go.Scatter(series["trace"])
            assert series["row"] < len(panel["rows"])


def test_a_wrong_style_is_refused_by_plotly() -> None:
    row = Row(title=panels_text())
    bad = Panel("x", panels_text(), 1, (Series("loss", panels_text(), "ink", dash="wavy", width=-1),), (row,))
    with pytest.raises(ValueError):
        bad.to_json()


def panels_text():
    return find_panels()[0].title


def test_bands_come_low_then_high_since_the_fill_reaches_to_the_one_before() -> None:
    for panel in find_panels():
        roles = [series.role for series in panel.series]
        for i, role in enumerate(roles):
            assert (role == "high") == (i > 0 and roles[i - 1] == "low"), panel.id


def test_every_tab_has_its_script_and_both_names() -> None:
    tabs = find_tabs()
    assert [tab.id for tab in tabs] == [
        "runs", "new", "live", "samples", "evaluate", "compare", "sweeps", "chat", "rewards", "data",
    ]  # fmt: skip
    for tab in tabs:
        assert (STATIC / "js" / tab.module).is_file()
        assert HANGUL.search(tab.title.ko)


def test_the_head_names_only_our_own_files() -> None:
    addresses = re.findall(r'(?:href|src)="([^"]+)"', head())
    assert addresses[0] == "/static/css/base.css"
    for address in addresses:
        assert (STATIC / Path(address).relative_to("/static")).is_file(), address


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """WCAG 2.1's ratio of two colours, 1 to 21."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def themes() -> dict[str, dict[str, str]]:
    css = (STATIC / "css" / "base.css").read_text(encoding="utf-8")
    blocks = re.findall(r'^:root(\[data-theme="dark"\])? \{(.*?)^\}', css, re.S | re.M)
    return {
        "dark" if dark else "light": dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", body)) for dark, body in blocks
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_is_aa(theme: str) -> None:
    colors = themes()[theme]
    for text in ("ink", "muted", "faint", "accent", "stop", "warn", "ok"):
        for ground in ("bg", "surface", "sunken"):
            assert contrast(colors[text], colors[ground]) >= 4.5, (text, ground)
    for soft in ("accent-soft", "stop-soft", "warn-soft", "ok-soft"):
        assert contrast(colors["ink"], colors[soft]) >= 4.5, soft
    assert contrast(colors["stop"], colors["stop-soft"]) >= 4.5
    assert contrast(colors["on-accent"], colors["accent"]) >= 4.5
    for hue in (name for name in colors if name.startswith("hue-")):
        assert contrast(colors[hue], colors["surface"]) >= 3, hue
    assert contrast(colors["line-strong"], colors["surface"]) >= 3
