"""Make .venv and install the pinned requirements; the second call sees the stamp and returns at once.

Usage: python3 scripts/setup.py [--dev]
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


def setup(dev: bool) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - the interpreter is the user's, not ours
        found = ".".join(map(str, sys.version_info[:3]))
        sys.stderr.write(f"setup: Python 3.11 or newer is needed, this is {found}. Try PYTHON=python3.12 make setup.\n")
        return 2
    runtime, development = PROJECT / "requirements.txt", PROJECT / "requirements-dev.txt"
    wanted = fingerprint([runtime, development] if dev else [runtime])
    stamp = VENV / (".ready-dev" if dev else ".ready")
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted:
        return 0
    began = time.monotonic()
    if not PYTHON.exists():
        print(f"setup: making {VENV.relative_to(PROJECT)} with Python {sys.version.split()[0]}", flush=True)
        venv.create(VENV, with_pip=True)
    chosen = development if dev else runtime
    print(f"setup: installing {chosen.name} (about a gigabyte the first time; pip shows what it fetches)", flush=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "-r", str(chosen)]
    if subprocess.call(pip) != 0:
        sys.stderr.write(f"setup: pip could not install {chosen.name}; its own message stands above.\n")
        return 1
    stamp.write_text(wanted)
    print(f"setup: done in {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also what the tests need")
    sys.exit(setup(parser.parse_args().dev))
