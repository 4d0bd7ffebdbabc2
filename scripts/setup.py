"""Make .venv and install the pinned requirements; the second call sees the stamp and returns at once.

Usage: python3 scripts/setup.py [--dev] [--extras]
The extras (requirements-extra.txt) are optional: --dev tries them once and goes on where they cannot be built.
Standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
VENV = PROJECT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def fingerprint(files: list[Path]) -> str:
    """A digest of the interpreter and of the requirement files: what the stamp is compared with."""
    digest = hashlib.sha256(sys.version.encode())
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def setup(dev: bool, extras: bool) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - the interpreter is the user's, not ours
        found = ".".join(map(str, sys.version_info[:3]))
        sys.stderr.write(f"setup: Python 3.11 or newer is needed, this is {found}. Try PYTHON=python3.12 make setup.\n")
        return 2
    runtime, development = PROJECT / "requirements.txt", PROJECT / "requirements-dev.txt"
    chosen = [runtime, development] if dev else [runtime]
    if not install(chosen, VENV / (".ready-dev" if dev else ".ready"), "about a gigabyte the first time"):
        return 1
    return add_extras(must=extras) if dev or extras else 0


def install(files: list[Path], stamp: Path, size: str) -> bool:
    """The last of `files`, which names the others. At once where the stamp says that it is there."""
    wanted = fingerprint(files)
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted:
        return True
    began = time.monotonic()
    if not PYTHON.exists():
        print(f"setup: making {VENV.relative_to(PROJECT)} with Python {sys.version.split()[0]}", flush=True)
        venv.create(VENV, with_pip=True)
    print(f"setup: installing {files[-1].name} ({size}; pip shows what it fetches)", flush=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "-r", str(files[-1])]
    if subprocess.call(pip) != 0:
        sys.stderr.write(f"setup: pip could not install {files[-1].name}; its own message stands above.\n")
        return False
    stamp.write_text(wanted)
    print(f"setup: done in {time.monotonic() - began:.0f} s", flush=True)
    return True


def add_extras(*, must: bool) -> int:
    """Optional packages, parts of which are built here. Without `must` they are tried once, and may be missing."""
    extra, tried = PROJECT / "requirements-extra.txt", VENV / ".tried-extra"
    wanted = fingerprint([extra])
    if not must and tried.exists() and tried.read_text() == wanted:
        return 0
    tried.write_text(wanted)
    if install([extra], VENV / ".ready-extra", "some parts are built, which needs a C compiler"):
        return 0
    sys.stderr.write(
        "setup: the optional tasks of reasoning-gym are left out; everything else works. "
        "With a C compiler: make extras\n"
    )
    return 1 if must else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also what the tests need")
    parser.add_argument("--extras", action="store_true", help="also requirements-extra.txt, which must then succeed")
    options = parser.parse_args()
    sys.exit(setup(options.dev, options.extras))
