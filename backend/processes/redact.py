"""Secrets out of logs and exports: tokens by their form, and the values of variables whose name says secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

MARK = b"[redacted]"
MIN_SECRET = 6  # characters; a shorter value would redact ordinary words
SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSW(OR)?D|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|_KEY$|_AUTH$|^AUTH$|COOKIE"
    r"|_(PASS|PWD|PAT|JWT|DSN)$|^JWT$|WEBHOOK|^REDIS_URL$|^MONGO",  # not PWD and OLDPWD
    re.IGNORECASE,
)
NOT_SECRET = re.compile(r"^TOKENIZERS_|_TOKENS$")
SHAPES = (
    rb"hf_[A-Za-z0-9]{16,}",
    rb"sk-[A-Za-z0-9_-]{20,}",
    rb"gh[pousr]_[A-Za-z0-9]{20,}",
    rb"github_pat_[A-Za-z0-9_]{20,}",
    rb"(?i:bearer\s+)[A-Za-z0-9._~+/=-]{16,}",
    rb"(?<=://)[^\s/@:]{1,200}:[^\s/@]{1,200}(?=@)",
)
LONGEST = 4096  # bytes of a held line that are kept back, so that no secret is cut in two


def is_secret_name(name: str) -> bool:
    """Does the name of an environment variable say that its value is secret?"""
    return bool(SECRET_NAME.search(name)) and not NOT_SECRET.search(name)


def secrets_of(environment: Mapping[str, str]) -> list[str]:
    """The values to hide, longest first: secret-looking variables and the password in a database address."""
    found = {value for name, value in environment.items() if is_secret_name(name) and len(value) >= MIN_SECRET}
    try:
        password = urlsplit(environment.get("DATABASE_URL", "")).password
    except ValueError:
        password = None
    if password and len(password) >= MIN_SECRET:
        found |= {password, unquote(password)}
    return sorted(found, key=len, reverse=True)


class Redactor:
    """Bytes in, bytes out, secrets replaced, also those cut in two by the size of a read.

    Whole lines (up to a newline or a carriage return) leave at once; the rest waits for `feed` or `flush`.
    """

    def __init__(self, secrets: list[str]) -> None:
        literal = [re.escape(secret.encode("utf-8", "surrogateescape")) for secret in secrets]
        self._pattern = re.compile(b"|".join([*literal, *SHAPES]))
        self._held = b""

    def clean(self, data: bytes) -> bytes:
        return self._pattern.sub(MARK, data)

    def feed(self, data: bytes, limit: int = 65_536) -> bytes:
        """What may be written now. A line longer than `limit` leaves in parts, its last bytes held back."""
        self._held += data
        end = max(self._held.rfind(b"\n"), self._held.rfind(b"\r")) + 1
        ready, self._held = self._held[:end], self._held[end:]
        out = self.clean(ready) if ready else b""
        if len(self._held) > limit:
            cut = len(self._held) - LONGEST
            for match in self._pattern.finditer(self._held):
                if match.start() < cut < match.end() or match.end() == len(self._held):
                    cut = min(cut, match.start())
            out += self.clean(self._held[:cut])
            self._held = self._held[cut:]
        return out

    def flush(self) -> bytes:
        """What is left of the last line."""
        rest, self._held = self.clean(self._held), b""
        return rest
