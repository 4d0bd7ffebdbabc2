"""The Lab's words: every text that a script names exists, in both languages; none is left over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ui.text_lab import TEXTS as BENCH
from ui.text_lab_runs import TEXTS as RUNS

TEXTS = BENCH | RUNS
SCRIPTS = Path(__file__).resolve().parents[2] / "ui" / "static" / "js" / "lab"
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js"))


def named() -> set[str]:
    return set(re.findall(r"'(lab\.\w+)'", SOURCE))


def test_every_text_that_a_script_names_exists_and_none_is_left_over() -> None:
    assert sorted(key for key in named() if key not in TEXTS and f"{key}_1" not in TEXTS) == []
    stems = set(re.findall(r"`(lab\.\w+_)\$\{", SOURCE))
    unused = {key for key in TEXTS if key.removesuffix("_1") not in named() and not key.startswith(tuple(stems))}
    assert sorted(unused) == []


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_both_languages_say_the_same_things(key: str) -> None:
    text = TEXTS[key]
    assert text.en.strip()
    assert not re.search("[가-힣]", text.en)
    assert sorted(re.findall(r"\{\w+\}", text.en)) == sorted(re.findall(r"\{\w+\}", text.ko)) or key.endswith("_1")
    assert re.search("[가-힣]", text.ko) or key in {"lab.interval", "lab.points"}, "not translated"


def test_no_script_turns_text_into_html() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", SOURCE)
