"""The texts of the New run and Runs pages: each that a script names is there, in both languages; none is left over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ui.text_form import TEXTS

SCRIPTS = Path(__file__).resolve().parents[2] / "ui" / "static" / "js"
SOURCE = "\n".join(
    path.read_text(encoding="utf-8") for part in ("form", "runs") for path in (SCRIPTS / part).glob("*.js")
)
SAME = {"form.between"}  # "1~8" has no word in it
KINDS = ("control", "probe", "attached", "evaluate")  # of a run, as the list of runs names them
COLUMNS = set(re.findall(r"key: '(\w+)'", SOURCE))


def test_every_text_that_a_script_names_exists() -> None:
    named = set(re.findall(r"'((?:form|runs)\.\w+)'", SOURCE))
    assert named
    # `plural` and `one` add the ending for one themselves.
    assert sorted(name for name in named if name not in TEXTS) == []


def test_no_text_is_left_over() -> None:
    built = {f"runs.{column}" for column in COLUMNS}
    built |= {f"form.{figure}" for figure in re.findall(r"'(\w+)'", re.search(r"FIGURES = \[(.*)\]", SOURCE).group(1))}  # type: ignore[union-attr]
    built |= {f"form.step_{step}{end}" for step in ("model", "data", "rewards", "training") for end in ("", "_lead")}
    built |= {f"runs.kind_{kind}{end}" for kind in KINDS for end in ("", "_of")}
    unused = {key for key in TEXTS if f"'{key.removesuffix('_1')}'" not in SOURCE} - built
    assert sorted(unused) == []


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_both_languages_say_the_same_things(key: str) -> None:
    text = TEXTS[key]
    assert sorted(re.findall(r"\{\w+\}", text.en)) == sorted(re.findall(r"\{\w+\}", text.ko)) or key.endswith("_1")
    assert text.en.strip()
    assert text.ko.strip()
    assert re.search("[가-힣]", text.ko) or key in SAME, "not translated"


def test_no_script_turns_text_into_html() -> None:
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|window\.(confirm|alert|prompt)", SOURCE
    )
