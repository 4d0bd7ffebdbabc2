"""The texts of the custom-reward editor: each that a script names is there, in both languages; none is left over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ui.text_custom import TEXTS

SCRIPTS = Path(__file__).resolve().parents[2] / "ui" / "static" / "js"
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in (SCRIPTS / "rewards").glob("*.js"))
# Keys made of a value: a level, a shape, a column of the table of scores.
MADE = {
    *(f"custom.{level}{end}" for level in ("sandboxed", "trusted") for end in ("", "_help")),
    *(f"custom.shape_{shape}" for shape in ("rows", "plain", "messages")),
    *(f"custom.{column}" for column in ("row", "score", "completion", "said")),
}


def test_every_text_that_a_script_names_exists() -> None:
    assert sorted(set(re.findall(r"'(custom\.\w+)'", SOURCE)) - set(TEXTS)) == []
    assert set(TEXTS) >= MADE


def test_no_text_is_left_over() -> None:
    assert sorted(key for key in set(TEXTS) - MADE if f"'{key}'" not in SOURCE) == []


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_both_languages_say_the_same_things(key: str) -> None:
    text = TEXTS[key]
    assert sorted(re.findall(r"\{\w+\}", text.en)) == sorted(re.findall(r"\{\w+\}", text.ko))
    assert re.search("[가-힣]", text.ko)
    assert not re.search("[가-힣]", text.en)
