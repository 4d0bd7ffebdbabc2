"""What the reason of a failed run says about the settings, the rewards or the rows: by the forms in which this studio
(and plain TRL) puts it."""

from __future__ import annotations

import re

from backend.diagnosis.records import Window

GROUPS = re.compile(
    r"num_generations|generation_batch_size|global (?:train|eval) batch size|one generation needs|"
    r"steps_per_generation|whole groups|per_device_(?:train|eval)_batch_size"
)
ROWS = re.compile(r"(\d+) usable training rows.*?one generation needs (\d+)", re.S)
REWARD = re.compile(r"[Tt]he reward(?: function)? '?([\w.]+)'? (returned|failed on every|gave \d+ verdicts)")
CALLED = re.compile(r"TypeError[^\n]*?([\w.]+)\(\) (?:got an unexpected|missing \d+|takes \d+)")
CALL = re.compile(
    r"TypeError.*?(?:unexpected keyword argument|missing \d+ required (?:positional|keyword-only)|takes \d+)", re.S
)
COLUMN = re.compile(r"(?:(\w+) needs (\w+), and the rows have no column|the reward (\w+) needs the column ([\w, ]+);)")
NO_GOLD = re.compile(
    r"no column '?\w+'? for the (?:ground_truth|answer)|ground[_ ]truth.*(?:null|missing|unreadable)", re.I
)

MEMORY = re.compile(
    r"out of memory|OutOfMemory|MemoryError|can(?:no|')t allocate memory|std::bad_alloc|ALLOC_FAILED|"
    r"no available memory for the cache",
    re.I,
)


def reason(window: Window) -> str | None:
    """Why the run failed; None where it did not, or nobody said."""
    records = window.records
    return records.reason if records.ended and records.state == "failed" and records.reason else None
