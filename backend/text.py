"""Text for people, in both languages, standing beside the thing it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Lang = Literal["en", "ko"]


@dataclass(frozen=True, slots=True)
class Text:
    """One message in English and Korean. `str(text)` is the English one, for logs and the command line."""

    en: str
    ko: str

    def get(self, lang: str) -> str:
        """The message in `lang`; English for any language that is not Korean."""
        return self.ko if lang == "ko" else self.en

    def to_json(self) -> dict[str, str]:
        return {"en": self.en, "ko": self.ko}

    def __str__(self) -> str:
        return self.en


def words(text: Text, lang: str | None) -> str | dict[str, str]:
    """One language, or both as {"en", "ko"} when `lang` is None (the page switches without asking again)."""
    return text.to_json() if lang is None else text.get(lang)
