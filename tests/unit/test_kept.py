"""Answers about runs that have ended are worked out once, and no more of them are kept than was said."""

from __future__ import annotations

from backend.kept import Kept


def test_what_lasts_is_made_once_and_what_does_not_each_time() -> None:
    kept, made = Kept(2), []

    def make(name: str) -> dict[str, str]:
        made.append(name)
        return {"name": name}

    for _ in range(2):
        assert kept.get("ended", True, lambda: make("ended")) == {"name": "ended"}
        assert kept.get("goes on", False, lambda: make("goes on")) == {"name": "goes on"}
    assert made == ["ended", "goes on", "goes on"]


def test_the_longest_unused_goes_first() -> None:
    kept = Kept(2)
    for key in ("a", "b", "a", "c"):
        kept.get(key, True, lambda: {"key": 1})
    again: list[str] = []
    for key in ("a", "c", "b"):
        kept.get(key, True, lambda key=key: {"made": again.append(key)})
    assert again == ["b"]
