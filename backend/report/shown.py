"""Text of models and people made visible and harmless: what would act, hide or reorder becomes a symbol.

The same characters as on the page (ui/static/js/plain.js), and the invisible tag characters with them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from markupsafe import Markup, escape

from backend.processes.redact import Redactor, secrets_of
from backend.settings import PROJECT, Settings

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
BACKSLASH = "\\"
NAMES = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI", "DLE",
    "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
]  # fmt: skip


def symbol(character: str) -> str:
    """The short name of a hidden character (NUL, ESC), else its number (U+202E)."""
    code = ord(character)
    if code < 0x20:
        return NAMES[code]
    return "DEL" if code == 0x7F else f"U+{code:04X}"


def visible(text: str) -> str:
    """For names, attributes and markdown: each hidden character as [its symbol]. The result is valid UTF-8."""
    return HIDDEN.sub(lambda found: f"[{symbol(found[0])}]", text)


def exact(text: str) -> Markup:
    """For blocks of HTML: the text as it is, escaped, each hidden character as a marked symbol."""
    out, start = [], 0
    for found in HIDDEN.finditer(text):
        out.append(escape(text[start : found.start()]))
        out.append(Markup('<span class="control">{}</span>').format(symbol(found[0])))
        start = found.end()
    out.append(escape(text[start:]))
    return Markup("").join(out)


def clipped(text: str, most: int) -> tuple[str, int]:
    """(the first `most` characters, how many there are in all)."""
    return text[:most], len(text)


class Shareable:
    """What may leave this machine: secrets are taken out, and of local paths only the last name stays."""

    def __init__(self, settings: Settings) -> None:
        self._redactor = Redactor(secrets_of(os.environ))
        places = {str(settings.home), str(PROJECT), str(Path.home())}
        self._places = sorted((place for place in places if len(place) > 1), key=len, reverse=True)

    def __call__(self, value: Any) -> Any:
        """A JSON-like value with all its texts cleaned."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self(item) for item in value]
        return value

    def text(self, text: str) -> str:
        if _is_path(text):
            text = f"…/{(PureWindowsPath if BACKSLASH in text else PurePosixPath)(text).name}"
        for place in self._places:
            text = text.replace(place, "…")
        cleaned = self._redactor.clean(text.encode("utf-8", "surrogatepass"))
        return cleaned.decode("utf-8", "surrogatepass")


def _is_path(text: str) -> bool:
    """Whether the whole text is the absolute path of a file or folder, of this kind of system or another."""
    if "\n" in text or len(text) > 4096:
        return False
    if text.startswith(("~/", "~" + BACKSLASH)) or re.match(r"[A-Za-z]:[\\/]", text):
        return True
    path = PurePosixPath(text)
    return path.is_absolute() and len(path.parts) > 2
