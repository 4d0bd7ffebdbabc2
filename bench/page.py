"""The page in a real browser on a run of 100,000 steps, beside one of 100: python -m bench.page [--steps N]

Time to the first chart, by a link into a fresh browser and by choosing the run on a page that is open (aim for the
latter: at most 1 s), and what one tick costs over HTTP with nothing new. Both runs are measured in turn; the ratio is
what the length costs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from backend import config
from backend.settings import PROJECT, Settings
from bench.reader import Bench
from scripts.browser import installed
from storage.records import RunState
from storage.runs import transition

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
NAMES = [
    "reward", "reward_std", "frac_reward_zero_std", "rewards/accuracy/mean", "rewards/format/mean", "signal/live",
    "signal/all_right", "signal/all_wrong", "signal/tied", "signal/zero_std", "completions/mean_length",
    "completions/min_length", "completions/max_length", "completions/mean_terminated_length",
    "completions/clipped_ratio", "entropy", "loss", "grad_norm", "learning_rate", "step_time", "time/generate",
    "time/reward", "time/update", "memory/process_gb", "completions_per_s", "num_tokens", "epoch",
    "rewards/accuracy/std", "rewards/format/std", "clip_ratio/region_mean",
]  # fmt: skip
LONG, SHORT = "20261129-134500-aaaa", "20261129-134500-bbbb"
# The reward chart is drawn when Plotly has laid out its data and the browser has painted once more.
DRAWN = (
    "document.querySelector('#chart-reward .main-svg') && document.getElementById('chart-reward')._fullData[0].x.length"
)
CHOOSE = """([run, last]) => new Promise((done) => {
  const picker = document.getElementById('run-picker');
  const begin = performance.now();
  picker.value = run;
  picker.dispatchEvent(new Event('change'));
  const look = () => {
    const chart = document.getElementById('chart-reward');
    const x = chart?._fullData?.[0]?.x;
    const there = new URLSearchParams(location.search).get('run') === run && x && x[x.length - 1] === last;
    if (there) requestAnimationFrame(() => done(performance.now() - begin));
    else requestAnimationFrame(look);
  };
  look();
})"""


def quickstart() -> dict[str, Any]:
    checked = config.check(config.load_preset("quickstart").values).config
    assert checked is not None
    return checked.to_dict()


def fill(folder: Path, steps: int) -> None:
    for run, count in ((SHORT, 100), (LONG, steps)):
        bench = Bench(folder, run, NAMES, quickstart())
        bench.fill(count)
        transition(bench.db, run, RunState.QUEUED, RunState.SUCCEEDED, last_step=count, total_steps=count)
        bench.db.close()


@contextmanager
def server(home: Path) -> Iterator[str]:
    """The app in a process of its own; its address."""
    command = [sys.executable, "app.py", "--home", str(home), "--port", "7980"]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        yield next(line.strip() for line in process.stdout if line.startswith("http://"))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def cold(browser: Browser, url: str, run: str) -> float:
    """Seconds from following a link, in a browser that has nothing cached, to the first chart."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    begin = time.perf_counter()
    page.goto(f"{url}?run={run}&tab=live", wait_until="commit")
    page.wait_for_function(DRAWN, timeout=60_000)
    taken = time.perf_counter() - begin
    context.close()
    return taken


def choose(page: Page, run: str, steps: int) -> float:
    """Seconds from choosing a run on an open page to its reward chart."""
    return page.evaluate(CHOOSE, [run, steps]) / 1000


def tick(url: str, run: str) -> tuple[float, int]:
    """(milliseconds at the median, bytes of the body) of a poll with nothing new, over HTTP on loopback."""

    def get(path: str) -> bytes:
        with urllib.request.urlopen(f"{url}api/runs/{run}/{path}") as answer:
            return answer.read()

    history: dict[str, Any] = json.loads(get("history?points=10"))
    path = f"live?after={history['cursor']}&revision={history['run']['revision']}&group_after={history['group_cursor']}"
    taken, size = [], 0
    for _ in range(100):
        before = time.perf_counter()
        size = len(get(path))
        taken.append(time.perf_counter() - before)
    return 1000 * statistics.median(taken), size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    executable = installed()
    if executable is None:
        sys.exit("bench.page needs Chromium: python scripts/browser.py finds or installs one")
    with TemporaryDirectory(prefix="page-") as folder, sync_playwright() as playwright:
        home = Settings(Path(folder)).home
        fill(home, options.steps)
        with server(home) as url:
            url = url.split("?")[0]
            browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
            cold(browser, url, SHORT)  # the server's own first page is not counted
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{url}?run={SHORT}&tab=live")
            page.wait_for_function(DRAWN)
            rows: dict[str, list[tuple[float, float]]] = {"a link, fresh browser": [], "chosen on an open page": []}
            for _ in range(options.times):
                rows["a link, fresh browser"].append((cold(browser, url, SHORT), cold(browser, url, LONG)))
                long = choose(page, LONG, options.steps)
                rows["chosen on an open page"].append((choose(page, SHORT, 100), long))
            browser.close()
            print(f"first chart, seconds (median of {options.times}): 100 steps | {options.steps:,} steps | ratio")
            for what, pairs in rows.items():
                short, long = (statistics.median(side) for side in zip(*pairs, strict=True))
                print(f"  {what:24} {short:7.2f} | {long:7.2f} | {long / short:.2f}")
            (short_ms, short_bytes), (long_ms, long_bytes) = tick(url, SHORT), tick(url, LONG)
            print("one tick with nothing new, over HTTP: 100 steps | long | ratio")
            print(f"  milliseconds             {short_ms:7.2f} | {long_ms:7.2f} | {long_ms / short_ms:.2f}")
            print(f"  bytes                    {short_bytes:7d} | {long_bytes:7d}")


if __name__ == "__main__":
    main()
