"""The small parts of running a process: identity, locks, files, counters, words."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from backend import device, runs, views
from backend.config import RunConfig
from backend.errors import NotFound, Refused
from backend.export import cell, safe_header
from backend.processes import oom, reasons, runfiles
from backend.processes.cgroup import oom_kills
from backend.processes.identity import Identity, alive, boot_id, identify, send, start_ticks
from backend.processes.launcher import absolute_url, environment, withheld
from backend.processes.locks import FileLock, held
from backend.processes.runfiles import Exit, Pids, Stop
from backend.settings import RUN_ID, Settings
from storage.records import MetricPoint, Run, RunState

RUN = Run(
    id="20260101-000000-aaaa", name="n", state=RunState.RUNNING, reason=None, config={}, preset=None, created_at=1.0,
    started_at=2.0, ended_at=None, attempt=1, revision=1, stage=None, stage_step=0, stage_total=None, last_step=0,
    total_steps=None, step_at=None, eta_s=None, stop_requested=None, log_tail=None, reward_names=(),
)  # fmt: skip


def test_identity_is_this_very_process() -> None:
    me = identify(os.getpid())
    assert me is not None
    assert alive(me)
    assert not alive(replace(me, ticks=me.ticks + 1))
    assert not alive(replace(me, boot="another"))
    assert not send(replace(me, ticks=me.ticks + 1), 9)  # or this test would not go on
    assert Identity.from_json(me.to_json()) == me
    assert Identity.from_json({"pid": 1}) is None
    assert Identity.from_json(None) is None


def test_a_process_that_never_was() -> None:
    assert start_ticks(2**22 + 1) is None
    assert not send(Identity(boot_id(), 2**22 + 1, 1), 9)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_command_name_with_parentheses(tmp_path: Path) -> None:
    program = tmp_path / "a) S 1 (b"
    program.symlink_to(sys.executable)
    child = subprocess.Popen([str(program), "-c", "input()"], stdin=subprocess.PIPE)
    try:
        found = identify(child.pid)
        assert found is not None
        assert found.ticks > 1000
    finally:
        child.communicate(b"\n")


def test_a_lock_is_exclusive_and_can_be_handed_over(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "run.lock"
    assert not held(path)
    lock = FileLock.take(path)
    assert lock is not None
    assert held(path)
    assert FileLock.take(path) is None
    os.set_inheritable(lock.fd, True)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[lock.fd])
    lock.hand_over()
    assert held(path)
    child.communicate(b"\n")
    assert not held(path)


def test_files_of_another_attempt_or_another_version_are_no_news(tmp_path: Path) -> None:
    runfiles.write_exit(tmp_path, Exit(1, 0, None, 0, None, False, 1.0))
    assert runfiles.read_exit(tmp_path, 1) == Exit(1, 0, None, 0, None, False, 1.0)
    assert runfiles.read_exit(tmp_path, 2) is None
    runfiles.write_json(tmp_path / "exit.json", {"attempt": 1, "news": True})
    assert runfiles.read_exit(tmp_path, 1) is None
    (tmp_path / "exit.json").write_text('{"attempt": 1, "co')
    assert runfiles.read_exit(tmp_path, 1) is None
    runfiles.write_pids(tmp_path, Pids(3, Identity("b", 1, 2), None))
    assert runfiles.read_pids(tmp_path, 3) == Pids(3, Identity("b", 1, 2), None)
    runfiles.write_stop(tmp_path, Stop(3, "now", 1.5))
    assert runfiles.read_stop(tmp_path, 3) == Stop(3, "now", 1.5)
    assert runfiles.read_stop(tmp_path, 4) is None
    assert sorted(p.name for p in tmp_path.iterdir()) == ["exit.json", "pid.json", "stop.json"]


def test_oom_counter_of_both_cgroup_versions(tmp_path: Path) -> None:
    proc, root = tmp_path / "cgroup", tmp_path / "fs"
    proc.write_text("0::/a/b\n")
    assert oom_kills(proc, root) is None
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "memory.events").write_text("low 0\noom 3\noom_kill 2\noom_group_kill 0\n")
    assert oom_kills(proc, root) == 2
    proc.write_text("5:memory:/x\n1:cpu:/x\n0::/\n")
    (root / "memory").mkdir()
    (root / "memory" / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n")
    assert oom_kills(proc, root) == 7
    (root / "memory" / "x").mkdir()
    (root / "memory" / "x" / "memory.oom_control").write_text("oom_kill 1\n")
    assert oom_kills(proc, root) == 1
    assert oom_kills(tmp_path / "none", root) is None


def test_every_fixed_reason_has_korean() -> None:
    for text in reasons.FIXED:
        assert text.ko != text.en
        assert reasons.in_both(text.en) == text
    assert reasons.in_both("exit code 3").ko == "종료 코드 3"
    both = reasons.in_both(f"exit code 1; {reasons.CHILD_OUT_OF_MEMORY.en}")
    assert both.ko == f"종료 코드 1; {reasons.CHILD_OUT_OF_MEMORY.ko}"
    assert reasons.in_both("ValueError: x; y").ko == "ValueError: x; y"


def test_what_a_run_gets_of_the_environment() -> None:
    source = {
        "PATH": "/bin",
        "HF_TOKEN": "t",
        "DATABASE_URL": "u",
        "WANDB_API_KEY": "w",
        "OPENAI_API_KEY": "o",
        "GRADIO_PASSWORD": "p",
        "FAKE_STEPS": "3",
    }
    got = environment(source, Settings(Path("/h")))
    assert {"PATH", "HF_TOKEN", "DATABASE_URL", "WANDB_API_KEY", "FAKE_STEPS"} <= set(got)
    assert not {"OPENAI_API_KEY", "GRADIO_PASSWORD"} & set(got)
    assert got["GRPO_STUDIO_HOME"] == "/h"
    assert "WANDB_API_KEY" in withheld({})
    assert "WANDB_API_KEY" not in withheld({"report_to": ["wandb"]})


def test_a_relative_database_means_the_folder_of_who_gave_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute_url("sqlite:///a/b.db") == f"sqlite:///{tmp_path}/a/b.db"
    assert absolute_url("sqlite:////a/b.db") == "sqlite:////a/b.db"
    assert absolute_url("sqlite:///a%20b/c.db?timeout=5") == f"sqlite:///{tmp_path}/a%20b/c.db?timeout=5"
    assert absolute_url("postgresql://u:p@h/db") == "postgresql://u:p@h/db"


def test_out_of_memory_names_the_part_and_the_change() -> None:
    config = RunConfig(model="embedded", per_device_train_batch_size=16, num_generations=8).to_dict()
    text = oom.reason(Settings(Path("/nowhere")), replace(RUN, config=config, stage="grpo"))
    assert text.en.startswith("killed by the kernel: out of memory; during grpo the largest part is ")
    assert "; set " in text.en
    assert "grpo 단계에서 가장 큰 부분" in text.ko
    assert (
        oom.reason(Settings(Path("/nowhere")), replace(RUN, config={"of": "another version"})) == reasons.OUT_OF_MEMORY
    )


def test_ids_sort_by_time_and_are_never_names() -> None:
    assert runs.new_id(0).startswith("19700101-000000-")
    assert len({runs.new_id(0) for _ in range(200)}) > 190
    assert all(RUN_ID.fullmatch(runs.new_id()) for _ in range(50))


def test_finding_a_run() -> None:
    known = [replace(RUN, id=f"2026010{n}-000000-aaaa", name=name) for n, name in ((3, "b"), (2, "a"), (1, "a"))]
    assert runs.find(known, "last").id == known[0].id
    assert runs.find(known, "20260102").id == known[1].id
    assert runs.find(known, "b").id == known[0].id
    with pytest.raises(Refused, match="means 2 runs"):
        runs.find(known, "a")
    with pytest.raises(NotFound):
        runs.find(known, "")
    with pytest.raises(NotFound):
        runs.find([], "last")


@pytest.mark.parametrize(
    ("config", "stages"),
    [
        (
            {"model": "embedded", "stages": ["sft", "grpo"]},
            ["build", "sft", "evaluate_before", "grpo", "evaluate_after"],
        ),
        ({"model": "x/y", "stages": ["grpo"], "evaluate_before": False}, ["grpo", "evaluate_after"]),
        (
            {"model": "x/y", "evaluate_before": False, "evaluate_steps": 25, "keep_best": True},
            ["grpo", "evaluate_fresh", "evaluate_after"],
        ),
        (
            {"model": "x/y", "evaluate_before": False, "evaluate_steps": 25, "keep_best": False},
            ["grpo", "evaluate_after"],
        ),
        (
            {"model": "x/y", "evaluate_before": False, "evaluate_steps": 25, "keep_best": True, "max_steps": 20},
            ["grpo", "evaluate_after"],
        ),
        ({"model": "x/y", "stages": ["sft"]}, ["sft"]),
    ],
)
def test_the_stages_of_a_run(config: dict[str, object], stages: list[str]) -> None:
    assert views.stages_of(config) == stages


@pytest.mark.parametrize(
    ("state", "can"),
    [
        (RunState.QUEUED, {"stop"}),
        (RunState.STARTING, {"stop", "stop_now"}),
        (RunState.RUNNING, {"stop", "stop_now"}),
        (RunState.STOPPING, {"stop_now"}),
        (RunState.STOPPED, {"resume", "delete"}),
        (RunState.FAILED, {"resume", "delete"}),
        (RunState.LOST, {"resume", "delete"}),
        (RunState.SUCCEEDED, {"delete"}),
    ],
)
def test_what_may_be_done_in_each_state(state: RunState, can: set[str]) -> None:
    view = views.run_view(replace(RUN, state=state, ended_at=7.0 if state.ended else None), {}, now=10.0)
    assert {name for name, may in view["can"].items() if may} == can
    assert view["elapsed_s"] == (5.0 if state.ended else 8.0)


def test_the_time_between_attempts_is_not_counted() -> None:
    """Ran for 10 s on one day and, resumed on the next, for 5 s so far."""
    run = replace(RUN, attempt=2, started_at=100.0, ended_at=None)
    spans: list[tuple[float, float | None]] = [(100.0, 110.0), (86_500.0, None)]
    assert views.run_view(run, {}, now=86_505.0, spans=spans)["elapsed_s"] == 15.0
    assert views.run_view(run, {}, now=86_505.0, spans=spans[:1])["elapsed_s"] == 10.0, "queued again"
    ended = replace(run, state=RunState.SUCCEEDED, ended_at=86_507.0)
    assert views.run_view(ended, {}, now=9e9, spans=spans)["elapsed_s"] == 17.0
    assert views.run_view(ended, {}, now=9e9, spans=[])["elapsed_s"] is None


def test_what_leaves_is_json_that_every_reader_takes() -> None:
    assert views.clean("a\ud83db") == "a\ufffdb"
    assert views.clean("한글 🧮") == "한글 🧮"
    assert views.plain({"a": [math.nan, math.inf, 1.5], "b\udc00": "\ud800"}) == {
        "a": [None, None, 1.5],
        "b\ufffd": "\ufffd",
    }
    point = MetricPoint(1, 3, "train", "loss", -math.inf, 1, 0.0)
    assert views.point_view(point) == ["train", "loss", 3, None, "-inf"]
    assert views.point_view(replace(point, value=2.0)) == ["train", "loss", 3, 2.0]
    assert views.series_view([1, 2], [math.nan, 1.0]) == {"x": [1, 2], "y": [None, 1.0], "bad": [[1, "nan"]]}


def test_cells_of_the_csv() -> None:
    assert [cell(v) for v in (None, math.nan, math.inf, -math.inf, 0.1, -2.0)] == [
        "",
        "nan",
        "inf",
        "-inf",
        "0.1",
        "-2.0",
    ]
    assert [safe_header(h) for h in ("=1+1", "@x", "-x", "+x", "\tx", "reward")] == [
        "'=1+1", "'@x", "'-x", "'+x", "'\tx", "reward",
    ]  # fmt: skip


def test_what_nvidia_smi_says() -> None:
    found = device.parse_gpu("NVIDIA H200, 143771, 143000, 9.0, 12\nNVIDIA H200, 1, 1, 9.0, 0\n")
    assert found == {
        "name": "NVIDIA H200",
        "total": 143771 * 1024**2,
        "free": 143000 * 1024**2,
        "bf16": True,
        "utilization": 0.12,
    }
    turing = device.parse_gpu("Tesla T4, 15360, 15000, 7.5, [N/A]")
    assert turing is not None
    assert (turing["bf16"], turing["utilization"]) == (False, None)
    assert device.parse_gpu("No devices were found") is None


def test_the_device_without_torch() -> None:
    facts = device.facts()
    assert facts.cores >= 1
    assert 0 < facts.free_bytes <= facts.total_bytes
