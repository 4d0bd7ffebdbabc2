"""`make bench`: every benchmark, one after another, each in a process of its own so that none warms another up."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = (
    "bench.recorder",
    "bench.reader",
    "bench.explorer",
    "bench.page",
    "bench.overhead",
    "bench.diagnosis",
    "bench.math",
    "bench.sandbox",
)


def main() -> int:
    chosen = sys.argv[1:] or BENCHMARKS
    worst = 0
    for name in chosen:
        module = name if name.startswith("bench.") else f"bench.{name}"
        print(f"\n== {module}", flush=True)
        worst = max(worst, subprocess.call([sys.executable, "-m", module]))
    return worst


if __name__ == "__main__":
    sys.exit(main())
