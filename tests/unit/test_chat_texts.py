"""Texts of the Chat page and of the files view: each that a script names is there, in both languages; none is left."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ui import text_chat, text_exports

SCRIPTS = Path(__file__).resolve().parents[2] / "ui" / "static" / "js"
TEXTS = text_chat.TEXTS | text_exports.TEXTS
SOURCE = "\n".join(
    path.read_text(encoding="utf-8")
    for part in ("chat", "exports", "runs", "live")
    for path in (SCRIPTS / part).glob("*.js")
)
SAME = {"chat.top_p", "chat.greedy", "chat.sampled", "chat.from_to"}  # parameters' own names
BUILT = {
    f"chat.{word}"
    for word in ("left", "right", "verdict_right", "verdict_wrong", "verdict_unknown", "mode_held", "mode_own")
}
BUILT |= {f"chat.{name}_{word}" for name in ("checkpoint", "short") for word in ("base", "final", "best")}
BUILT |= {f"exports.{part}_{what}" for part in ("what", "about") for what in ("adapter", "merged", "model")}


def test_every_text_that_a_script_names_exists() -> None:
    named = set(re.findall(r"'((?:chat|exports)\.\w+)'", SOURCE))
    assert named
    assert sorted(named - TEXTS.keys()) == []


def test_no_text_is_left_over() -> None:
    assert sorted(key for key in TEXTS if f"'{key}'" not in SOURCE and key not in BUILT) == []


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_both_languages_say_the_same_things(key: str) -> None:
    text = TEXTS[key]
    assert sorted(set(re.findall(r"\{\w+\}", text.en))) == sorted(set(re.findall(r"\{\w+\}", text.ko)))
    assert text.en.strip()
    assert re.search("[가-힣]", text.ko) or key in SAME, "not translated"


def test_no_script_turns_text_into_html() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", SOURCE)
