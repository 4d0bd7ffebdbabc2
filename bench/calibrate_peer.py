"""rldoctor (0.2) on the recorded runs, for bench.calibrate: run by the Python of an environment that has it.

    PYTHON -P bench/calibrate_peer.py FILE ...    prints {file name: {detector: {"severity", "first"}}}

Standard library and rldoctor only. It gets what its callback for TRL gets: the log of each step under TRL's names,
the trainer's arguments, and the held-out accuracy as `eval_accuracy` at the steps where there was one. It is asked
after every fifth step from the tenth on, without the 60 steps that its live monitor would wait, and at the end.
"""

from __future__ import annotations

import gzip
import importlib
import json
import sys
from pathlib import Path
from typing import Any

OURS = ("signal/", "time/", "memory/", "completions_per_s")  # what TRL does not log
CONFIG = (
    "num_generations", "per_device_train_batch_size", "learning_rate", "beta", "epsilon", "epsilon_high",
    "max_completion_length", "entropy_coef", "loss_type",
)  # fmt: skip


def logs(path: Path, recomputed: bool) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(config, one record a step). `recomputed`: our share of dead groups in place of TRL's, which rounding blinds."""
    steps: dict[int, dict[str, Any]] = {}
    config: dict[str, Any] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            if "run" in document:
                given = document["run"]["config"]
                config = {name: given.get(name) for name in CONFIG} | {"algorithm": "grpo"}
            elif document["is"] == "series" and document["phase"] == "train":
                name = document["name"]
                if recomputed and name in ("signal/zero_std", "frac_reward_zero_std"):
                    name = "frac_reward_zero_std" if name == "signal/zero_std" else "signal/trl"
                if name.startswith(OURS):
                    continue
                for step, value in zip(document["step"], document["value"], strict=True):
                    steps.setdefault(step, {"step": step})[name] = value
            elif document["is"] == "evaluation":
                steps.setdefault(document["step"], {"step": document["step"]})["eval_accuracy"] = document["accuracy"]
    return config, [steps[step] for step in sorted(steps)]


def asked(path: Path, recomputed: bool = False) -> dict[str, dict[str, Any]]:
    """Detector -> its worst severity and the first step at which it warned (None: it never did)."""
    ingest, diagnosis = importlib.import_module("rl_doctor.ingest.base"), importlib.import_module("rl_doctor.diagnosis")
    config, records = logs(path, recomputed)
    said: dict[str, dict[str, Any]] = {}
    for end in sorted({*range(10, len(records), 5), len(records)}):
        run = ingest.run_from_records(records[:end], config=config)
        for finding in diagnosis.diagnose(run).findings:
            one = said.setdefault(
                finding.detector, {"severity": "SKIPPED", "first": None, "last": "SKIPPED", "rank": 0}
            )
            one["last"] = finding.severity.name
            if int(finding.severity) > one["rank"]:
                one["severity"], one["rank"] = finding.severity.name, int(finding.severity)
            if one["first"] is None and finding.severity.name in ("WARNING", "CRITICAL"):
                one["first"] = records[end - 1]["step"]
    return said


if __name__ == "__main__":
    helped = "--recomputed" in sys.argv
    print(json.dumps({Path(f).name: asked(Path(f), helped) for f in sys.argv[1:] if not f.startswith("--")}))
