"""Wall time of one GRPO job, recorded by us against the plain TRL script: python -m bench.overhead [--pairs N]

Both sides train the same model on the same rows with the same settings, seeds and sampled completions (64 a step),
each in a process of its own, in alternating order. Printed: the ratio of the training times (`train_runtime`, which
has generation, rewards, updates, logging and the checkpoint) and of the whole processes, each with a 95% bootstrap
interval over pairs. Aim: the lower bound is at most 1.02.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from backend.config import RunConfig
from backend.settings import PROJECT, Settings
from storage.db import Database, migrate
from storage.reader import Reader
from storage.runs import create_run

SETTINGS: dict[str, Any] = {
    "dataset": "arithmetic",
    "eval_size": 0,
    "evaluate_before": False,
    "evaluate_after": False,
    "per_device_train_batch_size": 64,
    "num_generations": 8,
    "max_completion_length": 48,
    "learning_rate": 1e-5,
    "use_cpu": True,
}


def build_model(folder: Path) -> None:
    """The embedded architecture with fresh weights: its completions never end, so every step costs the same."""
    from backend.workers.device import prepare_environment

    prepare_environment()
    from backend.models.embedded import DEFAULT
    from backend.workers.embedded import build_tokenizer, new_model

    tokenizer = build_tokenizer()
    new_model(DEFAULT, tokenizer).save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))


def train_plain(config_file: Path, out: Path) -> None:
    """The same run as a user of TRL would write it, in this process; its training time goes to `out`."""
    from backend.workers.device import prepare_environment

    prepare_environment()
    from datasets import Dataset
    from transformers import AutoTokenizer
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.grpo_trainer import GRPOTrainer

    from backend import data, rewards
    from backend.workers import device, trl_adapter

    config = RunConfig(**json.loads(config_file.read_text()))
    kwargs = trl_adapter.grpo_kwargs(config, output_dir=str(out.with_suffix("")), device=device.detect(config.use_cpu))
    trainer = GRPOTrainer(
        model=config.model,
        reward_funcs=[rewards.get(name) for name in config.rewards],
        args=GRPOConfig(**kwargs),
        train_dataset=Dataset.from_list(data.load(config).train),
        processing_class=AutoTokenizer.from_pretrained(config.model, padding_side="left"),
    )
    result = trainer.train()
    trainer.save_model(str(out.with_suffix("")) + "-final")
    history = [entry["entropy"] for entry in trainer.state.log_history if "entropy" in entry]
    out.write_text(json.dumps({"train": result.metrics["train_runtime"], "entropy": history}))


class Bench:
    def __init__(self, folder: Path, steps: int, gpu: bool = False) -> None:
        self.settings = Settings(folder)
        migrate(self.settings.database_url)
        self.db = Database(self.settings.database_url)
        build_model(folder / "model")
        self.config = RunConfig(**{**SETTINGS, "model": str(folder / "model"), "max_steps": steps, "use_cpu": not gpu})
        self.config_file = folder / "config.json"
        self.config_file.write_text(json.dumps(self.config.to_dict()))

    def _wall(self, *arguments: str) -> float:
        begin = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", *arguments], cwd=PROJECT, env=os.environ, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{arguments[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return time.perf_counter() - begin

    def recorded(self, number: int) -> dict[str, Any]:
        run_id = f"20261129-{number:06d}-aaaa"
        create_run(self.db, run_id, "overhead", self.config.to_dict(), None)
        wall = self._wall("backend.workers.train", "--home", str(self.settings.home), "--run", run_id)
        reader = Reader(self.db)
        entropy = [row["entropy"] for _, row in reader.table(run_id, "train") if "entropy" in row]
        groups = sum(1 for _ in reader.completions(run_id))
        assert groups * self.config.num_generations == self.config.max_steps * 64, "a completion was not recorded"
        return {"train": reader.latest(run_id)["train", "train_runtime"].value, "entropy": entropy, "wall": wall}

    def plain(self, number: int) -> dict[str, Any]:
        out = self.settings.home / f"plain-{number}.json"
        wall = self._wall("bench.overhead", "--plain", str(self.config_file), str(out))
        return json.loads(out.read_text()) | {"wall": wall}


def interval(ratios: list[float], rounds: int = 10_000) -> tuple[float, float, float]:
    """Geometric mean of the pairs' ratios, with the 2.5 and 97.5 percentiles over resampled pairs."""
    logs = [math.log(r) for r in ratios]
    draw = random.Random(0)
    means = sorted(statistics.fmean(draw.choices(logs, k=len(logs))) for _ in range(rounds))
    low, high = means[int(0.025 * rounds)], means[int(0.975 * rounds)]
    return math.exp(statistics.fmean(logs)), math.exp(low), math.exp(high)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead", description=__doc__)
    parser.add_argument("--pairs", type=int, default=8, help="alternating pairs; one more is run first and not counted")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--gpu", action="store_true", help="train on the first GPU instead of the CPU")
    parser.add_argument("--plain", nargs=2, type=Path, metavar=("CONFIG", "OUT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.plain:
        train_plain(*arguments.plain)
        return 0
    with TemporaryDirectory(prefix="overhead-") as folder:
        bench = Bench(Path(folder), arguments.steps, arguments.gpu)
        ratios: dict[str, list[float]] = {"train": [], "wall": []}
        for pair in range(arguments.pairs + 1):
            sides = [bench.recorded, bench.plain] if pair % 2 else [bench.plain, bench.recorded]
            found = {side.__name__: side(pair) for side in sides}
            ours, plain = found["recorded"], found["plain"]
            # Neither log is rounded: the same completions and updates give the same entropies to the last digit.
            # A GPU's sums are not taken in a fixed order, so there only the steps are compared.
            same = ours["entropy"] == plain["entropy"] or (
                arguments.gpu and len(ours["entropy"]) == len(plain["entropy"])
            )
            assert same, "the two sides did not do the same work"
            note = "  (not counted)" if pair == 0 else ""
            print(
                f"pair {pair}: recorded {ours['train']:.2f} s of {ours['wall']:.2f} s, "
                f"plain {plain['train']:.2f} s of {plain['wall']:.2f} s{note}",
                flush=True,
            )
            if pair:
                for name, values in ratios.items():
                    values.append(ours[name] / plain[name])
        for name, title in (("train", "training"), ("wall", "whole process")):
            mean, low, high = interval(ratios[name])
            span = f"95% interval {low:.4f} to {high:.4f} ({arguments.pairs} pairs)"
            print(f"{title}: recorded / plain = {mean:.4f}, {span}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
