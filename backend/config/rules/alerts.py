"""Where alerts may go: an address of the person's own, and none on a public Space."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from backend.config.report import Problem
from backend.config.rules.base import Facts, rule
from backend.config.schema import RunConfig
from backend.settings import on_space
from backend.text import Text

LONGEST = 2000


@rule("alert_webhook")
def webhook(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """The value itself is not repeated: it may hold a token."""
    address = config.alert_webhook
    if not address:
        return
    if on_space():
        text = Text("a public Space tells no address", "공개 Space에서는 알림을 보낼 수 없습니다")
    elif not _sound(address):
        text = Text(
            "must be an http or https address such as https://example.org/hook, of printable ASCII and at most "
            f"{LONGEST} characters",
            f"https://example.org/hook 같은 http(s) 주소여야 합니다(ASCII, {LONGEST}자 이하)",
        )
    else:
        return
    yield Problem("alert_webhook", "…", text, [""], "webhook")


def _sound(address: str) -> bool:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    return bool(
        parts.scheme in ("http", "https")
        and parts.hostname
        and port != 0
        and parts.username is None
        and len(address) <= LONGEST
        and address.isascii()
        and address.isprintable()
        and " " not in address
    )
