"""A run has one headline: the report's is that of the Live page."""

from __future__ import annotations

import html
from pathlib import Path

from backend.services import Services
from backend.settings import PROJECT, Settings
from storage.portable import load
from tests.support import wait_for


def test_the_report_says_what_the_live_page_says(tmp_path: Path) -> None:
    services = Services(Settings.from_environment(tmp_path / "home"))
    run = load(services.db, PROJECT / "configs" / "recordings" / "hacked.jsonl.gz")
    wait_for(lambda: services.diagnosis.report(run)["pending"] is False, 120, what="the diagnosis")
    said = services.headline(run)["text"]
    assert said["en"].startswith("Did not learn")
    for lang in ("en", "ko"):
        _, page, _ = services.exports.document(run, "report", lang)
        assert said[lang] in html.unescape(page)
