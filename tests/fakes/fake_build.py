"""A build of the embedded model without torch: it may fail once (FAKE_BUILD_FAILS), then writes what looks like one."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from backend.demo.build import PROGRESS
from backend.models import embedded
from backend.processes.runfiles import write_json
from backend.settings import Settings


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", required=True, type=Path)
    settings = Settings(parser.parse_args().home)
    (settings.home / "build.environ").write_bytes(b"\0".join(f"{k}={v}".encode() for k, v in os.environ.items()))
    write_json(settings.home / PROGRESS, {"step": 100, "total": 500})
    gate = settings.home / "build.go"
    while not gate.exists():
        time.sleep(0.02)
    first = settings.home / "build.failed"
    if os.environ.get("FAKE_BUILD_FAILS") and not first.exists():
        first.touch()
        return 1
    folder = embedded.folder(settings.models_dir)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(b"")
    return 0


if __name__ == "__main__":
    sys.exit(main())
