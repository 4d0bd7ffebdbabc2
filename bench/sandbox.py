"""Untrusted programs: our sandbox against a fresh `python -I` subprocess, in one run: python -m bench.sandbox [--n N]

The subprocess confines nothing: it is what a guard that starts Python anew costs before it guards anything. Both run
the same short programs, in turn (latency) and as many at a time as there are cores (rate), in alternating blocks so
that both see the same machine. Aim: at least 100 programs a second on two cores, and under 20 ms at the median.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from backend.sandbox import Program, at_once, open_session, report, run_many
from backend.sandbox.running import run

SOURCE = "a, b = map(int, input().split())\nprint(a + b)"
STDIN, STDOUT = "2 3\n", "5\n"
BLOCKS = 5


def ours(_: int = 0) -> None:
    ran = run(Program(SOURCE, stdin=STDIN))
    assert (ran.outcome, ran.stdout) == ("pass", STDOUT), ran


def fresh(_: int = 0) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", SOURCE], input=STDIN, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == STDOUT


def ours_together(count: int) -> None:
    rans = run_many([Program(SOURCE, stdin=STDIN)] * count)
    assert all(ran.stdout == STDOUT for ran in rans)


def fresh_together(count: int) -> None:
    with ThreadPoolExecutor(at_once()) as pool:
        list(pool.map(fresh, range(count)))


def latencies(call: Callable[[], None], count: int) -> list[float]:
    """Milliseconds of each call."""
    found = []
    for _ in range(count):
        begun = time.perf_counter()
        call()
        found.append((time.perf_counter() - begun) * 1000)
    return found


def rate(together: Callable[[int], None], count: int) -> float:
    """Programs a second."""
    begun = time.perf_counter()
    together(count)
    return count / (time.perf_counter() - begun)


def told(name: str, times: list[float], rates: list[float]) -> tuple[float, float]:
    median, ninetyfifth = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    a_second = statistics.median(rates)
    print(f"{name:28} p50 {median:6.1f} ms   p95 {ninetyfifth:6.1f} ms   {a_second:6.1f} programs/s")
    return median, a_second


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200, help="programs of each kind and measure")
    count = max(BLOCKS, parser.parse_args().n // BLOCKS)
    print(report().words.en)
    ours_together(20)
    fresh_together(4)
    times: dict[str, list[float]] = {"ours": [], "fresh": []}
    rates: dict[str, list[float]] = {"ours": [], "fresh": []}
    for _ in range(BLOCKS):
        times["ours"] += latencies(ours, count)
        times["fresh"] += latencies(fresh, count)
        rates["ours"].append(rate(ours_together, count))
        rates["fresh"].append(rate(fresh_together, count))
    median, a_second = told("the sandbox", times["ours"], rates["ours"])
    fresh_median, fresh_a_second = told("a fresh python -I, unguarded", times["fresh"], rates["fresh"])
    print(f"{'ratio':28} p50 {fresh_median / median:6.2f} x    {'':13}   {a_second / fresh_a_second:6.2f} x the rate")
    with open_session("def handle(request): return request") as session:
        session.call({}, 10)
        calls = latencies(lambda: session.call({"x": 1}, 10) and None, 10 * count)
    print(f"{'a call of a session':28} p50 {statistics.median(calls):6.3f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
