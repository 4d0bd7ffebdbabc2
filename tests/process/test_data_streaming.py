"""Large files are checked and kept a row at a time: the memory of the process is limited while it does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from backend.settings import PROJECT

# The address space, not the resident memory: the imports alone take most of it (numpy, sqlalchemy).
LIMITED = """
import resource, sys
from pathlib import Path
from backend.data import taking
from backend.data.store import Store
from backend.data.uploads import Uploads
path, home = Path(sys.argv[1]), Path(sys.argv[2])
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (used + (48 << 20),) * 2)
report = taking.check(path, {}, Uploads(home))
meta = taking.store(Store(home), path, "big", {}, Uploads(home), replace=True, needed=())
print(report["rows"], meta["rows"], report["counts"]["duplicate_prompts"])
"""


def lines(rows: int) -> list[str]:
    pad = "abcdefgh " * (9_000_000 // rows)
    return [json.dumps({"prompt": f"{n % (rows - 1000)} {pad}", "ground_truth": str(n)}) for n in range(rows)]


# What is kept of each row, to find those that repeat, is the same for all kinds: many rows are tried with one of them.
@pytest.mark.parametrize(("kind", "rows"), [("jsonl", 150_000), ("json", 40_000), ("csv", 40_000)])
def test_a_file_of_80_mb_is_kept_with_48_mb_of_room(tmp_path: Path, kind: str, rows: int) -> None:
    path = tmp_path / f"big.{kind}"
    with path.open("w", encoding="utf-8") as file:
        if kind == "csv":
            file.write("prompt,ground_truth\n")
            file.writelines(f"{row['prompt']},{row['ground_truth']}\n" for row in map(json.loads, lines(rows)))
        elif kind == "json":
            file.write("[" + ",".join(lines(rows)) + "]")  # one line
        else:
            file.writelines(line + "\n" for line in lines(rows))
    assert path.stat().st_size > 80_000_000
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(tmp_path)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.stdout.split() == [str(rows), str(rows), "1000"], done.stderr[-2000:]
