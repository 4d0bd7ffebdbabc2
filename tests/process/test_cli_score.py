"""Every case of public bug reports through the real command."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from backend.settings import PROJECT

CASES = PROJECT / "tests" / "data" / "verifier.jsonl"


def test_the_whole_of_the_cases(tmp_path: Path) -> None:
    wanted = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "backend", "score", str(CASES), "--home", str(tmp_path / "home")],
        cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [set(line) for line in found] == [{"score", "extracted", "reason"}] * len(wanted)
    wrong = {
        case["id"]: (case["want"], line)
        for case, line in zip(wanted, found, strict=True)
        if case["want"] != line["score"]
    }
    assert wrong == {}
    assert all(line["reason"] for line in found if line["score"] is None)
    kinds = Counter(case["reward"] for case in wanted)
    assert set(kinds) == {"math", "exact", "choice", "format", "json", "sql", "code", "regex"}
    assert time.monotonic() - begin < 110
