"""On a real GPU: bf16 and LoRA, memory given back, out of memory in words, throughput. tests/gpu/check.sh runs these.

They share one home folder and run in this order: the first builds the embedded model, the others find it there.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.gpu.conftest import PROJECT, Studio, used_mb
from tests.support import wait_for

pytestmark = pytest.mark.gpu
LIGHT = ("max_steps=20", "eval_size=64", "use_cpu=false", "bf16=true", "peft=lora", "lora_r=16", "learning_rate=1e-3")
LONG = (*LIGHT, "max_steps=100000", "save_steps=1000000", "evaluate_before=false")
SLACK_MB = 64  # the driver's own bookkeeping moves by a little


def test_bf16_and_lora_train_and_record_the_device(studio: Studio) -> None:
    run = studio.train(*LIGHT)
    assert run["state"] == "succeeded"
    shown = studio.run("show", run["run"])
    last = shown["metrics"]
    assert shown["last_step"] == 20
    assert last["memory/device_peak_gb"] > 0
    assert last["memory/device_reserved_gb"] >= last["memory/device_allocated_gb"] > 0
    assert [e["when"] for e in shown["evaluations"]] == ["before", "after"]


def _stepping(studio: Studio, run_id: str) -> bool:
    shown = studio.run("show", run_id)
    assert shown["state"] not in {"failed", "lost"}, shown["reason"]
    return shown["last_step"] >= 3


@pytest.mark.parametrize("how", [(), ("--now",)], ids=["stop", "kill"])
def test_an_end_gives_the_memory_back(studio: Studio, how: tuple[str, ...]) -> None:
    before = used_mb()
    run_id = studio.train(*LONG, wait=False)["run"]
    wait_for(lambda: _stepping(studio, run_id), timeout=120, every=1.0, what="three steps")
    assert used_mb() > before + 2 * SLACK_MB, "the run holds no device memory, so nothing could be given back"
    studio.run("stop", run_id, *how, "--wait")
    assert studio.run("show", run_id)["state"] == "stopped"
    wait_for(lambda: used_mb() <= before + SLACK_MB, timeout=30, every=0.5, what=f"back to {before} MiB")


@contextmanager
def crowded(leave_mb: int) -> Iterator[None]:
    """Another process holds all of the device but about `leave_mb`."""
    program = (
        "import sys, torch\n"
        "free, _ = torch.cuda.mem_get_info()\n"
        f"hold = torch.empty(free - {leave_mb} * 2**20, dtype=torch.uint8, device='cuda')\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == "held"
        yield
    finally:
        holder.kill()
        holder.wait()


def test_out_of_memory_is_told_with_its_phase_its_part_and_a_change(studio: Studio) -> None:
    with crowded(leave_mb=1500):
        run = studio.train(
            *LIGHT, "per_device_train_batch_size=8192", "max_completion_length=256", "evaluate_before=false",
            "dataset_args.rows=6000", code=1,
        )  # fmt: skip
    assert run["state"] == "failed"
    reason = studio.run("show", run["run"])["reason"]
    assert re.search(r"out of memory", reason, re.I), reason
    assert re.search(r"per_device_train_batch_size|max_completion_length|num_generations", reason), reason


def test_throughput_against_the_plain_script() -> None:
    command = [sys.executable, "-m", "bench.overhead", "--gpu", "--pairs", "3", "--steps", "15"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=240)
    sys.stdout.write(done.stdout)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "training: recorded / plain" in done.stdout
