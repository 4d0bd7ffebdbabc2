"""Samples at a million completions: python -m bench.explorer [--completions N] [--texts FILE]

The first page of each filter (aim: 300 ms at most, on a connection that was opened just now and on a warm one), the
next page, a text that is everywhere and one that is nowhere but once, a prompt's biography, the budget, the histogram's
numbers. And the bytes that a completion takes, by part, against rows of their own in the form before schema 0005.

FILE: lines of {"prompt", "completions": [{"text", "tokens", "truncated"}]} in gzip, as `python -m bench.texts` has a
real small model write them. Without it they are those of a recorded training: short sums, which do not tell the bytes
of 200 tokens. The texts of the million are their sentences, shuffled, in blocks of the size and compression that stays
(only made in less time: they are read as fast); the bytes are those of the real ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from storage import frames
from storage.blocks import SMALL, encode
from storage.columns import ENCODE, pack
from storage.db import Database, migrate
from storage.explore import Explorer, SampleFilter
from storage.reader import Reader, run_key
from storage.records import Completion, Generation, Group
from storage.runs import create_run
from storage.sampled import Prompts, add_generations
from storage.usage import rows_bytes

RUN = "20261129-134500-ab2c"
NAMES = ("accuracy", "format")
RECORDED = Path(__file__).parent.parent / "tests" / "data" / "traces" / "healthy-quickstart.jsonl.gz"
SIZE, GROUPS, PROMPTS = 8, 80, 5000  # completions of a group, groups of a block, prompts of the run
ONCE = "xylophone quartz"
QUICK = 4  # of brotli: a million completions in a minute instead of five


def read(path: Path | None) -> list[dict[str, Any]]:
    """Groups of a file of texts, or of the recorded training."""
    with gzip.open(path or RECORDED, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return found if path else [one for one in found if one.get("is") == "group"]


def advantages(totals: Sequence[float]) -> list[float]:
    """As TRL computes them, in float32."""
    scores = np.array(totals, np.float32)
    return ((scores - scores.mean()) / (scores.std(ddof=1) + np.float32(1e-4))).tolist()


def completions(
    texts: Sequence[tuple[str, int, bool]], rate: float, rng: np.random.Generator
) -> tuple[Completion, ...]:
    right = rng.random(len(texts)) < rate
    formatted = rng.random(len(texts)) < 0.9
    totals = [float(r) + 0.25 * float(f) for r, f in zip(right, formatted, strict=True)]
    if rate in (0.0, 1.0):
        totals = [1.25 * rate] * len(texts)
    answers = rng.integers(0, 500, len(texts)).tolist()
    return tuple(
        Completion(
            text, tokens, cut, (float(r), float(f)), total, advantage, (str(answer), None),
            ("equal" if r else "not equal", None), bool(r),
        )
        for (text, tokens, cut), r, f, total, advantage, answer in zip(
            texts, right, formatted, totals, advantages(totals), answers, strict=True
        )
    )  # fmt: skip


def made(real: list[dict[str, Any]], count: int) -> Iterator[Generation]:
    """`count` groups, 8 a step, of the real texts' sentences."""
    rng = np.random.default_rng(1)
    sentences = [s + ". " for one in real for c in one["completions"] for s in c["text"].split(". ") if s]
    length = statistics.mean(len(s) for s in sentences)
    take = max(1, round(800 / length))
    for step in range(1, count // 8 + 1):
        groups = []
        for place in range(8):
            number = int(rng.integers(PROMPTS))
            rate = float(rng.choice([0.0, 1.0, 0.3, 0.6]))
            chosen = rng.integers(0, len(sentences), (SIZE, take))
            texts = [("".join(sentences[i] for i in row), 200, False) for row in chosen.tolist()]
            if rng.random() < 1e-3:
                texts[0] = (texts[0][0], 256, True)
            if step == count // 16 and place == 3:
                texts[2] = (f"{texts[2][0]} {ONCE}", 200, False)
            kind = "all_wrong" if rate == 0 else "all_right" if rate == 1 else "live"
            prompt = f"Problem {number}: " + sentences[number % len(sentences)]
            members = completions(texts, rate, rng)
            groups.append(Group(f"p{number}", prompt, "text", str(number), members, kind))
        yield Generation(step, "train", NAMES, tuple(groups))


def fill(db: Database, generations: Iterator[Generation]) -> None:
    """Through the same encoder as the writer, in blocks of the size that stays."""
    prompts, waiting = Prompts(), []
    kept, frames.QUALITY = frames.QUALITY, QUICK
    with db.read() as connection:
        key = run_key(connection, RUN)
    assert key is not None
    for generation in generations:
        waiting.append(generation)
        if len(waiting) * 8 >= GROUPS:
            with db.begin() as connection:
                add_generations(connection, key, 1, waiting, prompts, SMALL, settled=True)
            waiting = []
    if waiting:
        with db.begin() as connection:
            add_generations(connection, key, 1, waiting, prompts, SMALL, settled=True)
    frames.QUALITY = kept


FILTERS: dict[str, SampleFilter] = {
    "everything": SampleFilter(),
    "20 steps in the middle": SampleFilter(step_from=5000, step_to=5019),
    "one prompt": SampleFilter(prompt_id="p77"),
    "another phase (none)": SampleFilter(phase="eval"),
    "dead groups": SampleFilter(kind="dead"),
    "all right": SampleFilter(kind="all_right"),
    "tied (none)": SampleFilter(kind="tied"),
    "correct": SampleFilter(correct=True),
    "wrong": SampleFilter(correct=False),
    "truncated (1 of 8,000)": SampleFilter(truncated=True),
    "total of 1 and more": SampleFilter(low=1.0),
    "total of 2 and more (none)": SampleFilter(low=2.0),
    "accuracy 0 to 0.5": SampleFilter(reward="accuracy", low=0.0, high=0.5),
    "format of 2 and more (none)": SampleFilter(reward="format", low=2.0),
    "wrong, truncated, live": SampleFilter(correct=False, truncated=True, kind="live"),
    "text that is everywhere": SampleFilter(text="e"),  # in prose and in <answer> alike
    "text that is there once": SampleFilter(text=ONCE),
}


def pages(url: str) -> None:
    print(
        f"{'first page of 50, ms (of CPU)':32} new connection |          warm |     next page | hits, searched of all"
    )
    for what, filter in FILTERS.items():
        fresh = []
        for _ in range(3):
            db = Database(url)
            fresh.append(taken(Explorer(db).find, RUN, filter))
            db.close()
        db = Database(url)
        explorer = Explorer(db)
        page = explorer.find(RUN, filter)
        warm = min(taken(explorer.find, RUN, filter) for _ in range(5))
        after = words(taken(explorer.find, RUN, filter, page.cursor)) if page.cursor else f"{'-':>13}"
        print(
            f"  {what:30} {words(min(fresh)):>14} | {words(warm)} | {after} | "
            f"{len(page.hits)}, {page.searched:,} of {page.of:,}",
            flush=True,
        )
        db.close()


def others(url: str) -> None:
    db = Database(url)
    explorer = Explorer(db)
    asked, begun, spent, cursor = 0, time.perf_counter(), time.process_time(), None
    found = 0.0, 0
    while True:
        page = explorer.find(RUN, SampleFilter(text=ONCE), cursor)
        asked, cursor = asked + 1, page.cursor
        if page.hits:
            found = time.perf_counter() - begun, asked
        if cursor is None:
            break
    whole, cpu = time.perf_counter() - begun, time.process_time() - spent
    print(
        f"the text that is there once: found after {found[0]:.1f} s ({found[1]} pages), all looked through in "
        f"{whole:.1f} s, {cpu:.1f} of CPU ({asked} pages)"
    )
    for what, ask in {
        "biography": lambda: explorer.biography(RUN, "p77"),
        "budget": lambda: explorer.budget(RUN),
        "prompts": lambda: explorer.prompts(RUN),
        "prompts, again": lambda: explorer.prompts(RUN),
        "100,000 completions as arrays": lambda: explorer.columns(RUN),
        "the newest group": lambda: Reader(db).groups(RUN, limit=1),
    }.items():
        print(f"  {what:30} {words(taken(ask)):>14}")
    db.close()


def taken(ask: Callable[..., Any], *given: Any) -> tuple[float, float]:
    """Milliseconds by the clock, and of CPU: on a machine that does other things too only these say much."""
    begun, cpu = time.perf_counter(), time.process_time()
    ask(*given)
    return 1000 * (time.perf_counter() - begun), 1000 * (time.process_time() - cpu)


def words(found: tuple[float, float]) -> str:
    return f"{found[0]:6.1f} ({found[1]:4.0f})"


# --- bytes ---


def sizes(path: Path, real: list[dict[str, Any]], folder: Path) -> None:
    """A completion's bytes: its block's from the real texts, all else (groups, indexes, prompts) from the file."""
    rng = np.random.default_rng(2)
    groups = [
        (one, completions([(c["text"], c["tokens"], c["truncated"]) for c in one["completions"]], 0.4, rng))
        for one in real
    ]
    count = sum(len(members) for _, members in groups)
    tokens = sum(c.tokens for _, members in groups for c in members) / count
    begun = time.process_time()
    packed = encode([(n, NAMES, members) for n, (_, members) in enumerate(groups, 1)], SMALL)
    spent = time.process_time() - begun
    text, numbers = len(packed.texts) / count, len(packed.numbers) / count
    connection = sqlite3.connect(path)
    inside, many = connection.execute(
        "SELECT sum(length(numbers) + length(texts)), sum(completions) FROM sample_block"
    ).fetchone()
    connection.close()
    rest = (path.stat().st_size - inside) / many
    if tokens < 100:
        print(f"no bytes of 200 tokens: these {count:,} completions have {tokens:.0f}; give --texts (bench.texts)")
        return
    at = 200 / tokens
    new = text * at + numbers + rest
    old = before(folder, groups)
    print(
        f"{count} real completions of {tokens:.0f} tokens ({packed.size / count:.0f} characters and what was extracted)"
    )
    print(f"bytes a completion of 200 tokens: texts {text * at:.1f} + numbers {numbers:.1f} + groups, indexes, prompts")
    print(f"  and pages {rest:.1f} = {new:.0f} (aim: 250)")
    print(f"  in one block of {packed.size / 1024:.0f} KB (of 512 there), {1000 * spent / count:.2f} ms of CPU each")
    print(f"as rows of their own, before: {old * at:.0f}, {old * at / new:.1f} times as much")


def before(folder: Path, groups: list[tuple[dict[str, Any], tuple[Completion, ...]]], times: int = 20) -> float:
    """Bytes a completion in the form of schema 0004."""
    path = folder / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE g (id INTEGER PRIMARY KEY, run_key INTEGER, attempt INTEGER, step INTEGER, phase TEXT, prompt_id "
        "TEXT, prompt BLOB, prompt_format TEXT, ground_truth BLOB, reward_names TEXT);"
        "CREATE INDEX a ON g (run_key, id); CREATE INDEX b ON g (run_key, step);"
        "CREATE TABLE c (id INTEGER PRIMARY KEY, group_id INTEGER, position INTEGER, text BLOB, tokens INTEGER, "
        "truncated BOOLEAN, rewards TEXT, total REAL, advantage REAL, verdicts BLOB, UNIQUE (group_id, position));"
    )
    for n in range(times):
        for step, (one, members) in enumerate(groups):
            row = (1, 1, n * len(groups) + step, "train", "p1", pack(one["prompt"]), "text", pack("3"), ENCODE(NAMES))
            ident = connection.execute("INSERT INTO g VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row).lastrowid
            connection.executemany(
                "INSERT INTO c VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (ident, k, pack(c.text), c.tokens, c.truncated, ENCODE(c.rewards), c.total, c.advantage,
                     pack(ENCODE([c.extracted, c.reasons])))
                    for k, c in enumerate(members)
                ],
            )  # fmt: skip
    connection.commit()
    connection.close()
    return path.stat().st_size / (times * sum(len(members) for _, members in groups))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--completions", type=int, default=1_000_000)
    parser.add_argument("--texts", type=Path)
    options = parser.parse_args()
    real = read(options.texts)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "studio.db"
        url = f"sqlite:///{path}"
        migrate(url)
        db = Database(url)
        create_run(db, RUN, "bench", {}, None, NAMES)
        begun = time.perf_counter()
        groups = options.completions // SIZE
        fill(db, made(real, groups))
        took = time.perf_counter() - begun
        db.close()
        every = groups * SIZE
        print(f"{every:,} completions in {groups:,} groups: {path.stat().st_size / 2**20:,.0f} MB in {took:.0f} s")
        db = Database(url)
        guess = rows_bytes(db, RUN)[RUN] / path.stat().st_size
        db.close()
        if not math.isclose(guess, 1, abs_tol=0.1):
            print(f"what `disk` says a run takes is {guess:.2f} of that")
        pages(url)
        others(url)
        sizes(path, real, Path(folder))


if __name__ == "__main__":
    main()
