"""Find a Chromium for the browser tests, or get one; print its path, or say in words why there is none.

Order: $CHROMIUM, an installed browser, Debian's package where that is allowed, Playwright's own download.
Nothing is skipped in silence: exit code 1 makes `make test` fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WHY = """browser tests: there is no Chromium, and none could be installed.
  tried: $CHROMIUM, {names} on the PATH, `apt-get install chromium`, `playwright install chromium`
  what would do: install Chromium or Chrome, or set CHROMIUM=/path/to/it"""


def installed() -> str | None:
    given = os.environ.get("CHROMIUM")
    if given and Path(given).exists():
        return given
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def from_debian() -> str | None:
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    sys.stderr.write("browser tests: installing Debian's chromium\n")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-qy", "--no-install-recommends", "chromium"]):
        if subprocess.call(command, stdout=sys.stderr, env=environment) != 0:
            return None
    return installed()


def from_playwright() -> str | None:
    sys.stderr.write("browser tests: asking Playwright for its own Chromium\n")
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    if subprocess.call(command, stdout=sys.stderr, timeout=600) != 0:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def find() -> str | None:
    for way in (installed, from_debian, from_playwright):
        try:
            path = way()
        except (OSError, subprocess.SubprocessError) as error:
            sys.stderr.write(f"browser tests: {way.__name__} failed: {error}\n")
            continue
        if path:
            return path
    return None


if __name__ == "__main__":
    found = find()
    if found is None:
        sys.exit(WHY.format(names=", ".join(NAMES)))
    print(found)
