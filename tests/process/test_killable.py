"""The killable pool with real processes: nothing takes longer than its limit, takes the process with it, or stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from backend.errors import StudioError
from backend.killable import Pool, shared
from tests.process.harness import all_gone, ended
from tests.support import wait_for

SOON_S = 20.0  # between what ends at its limit, on a busy machine too, and what hangs
HERE = "tests.process.killable_targets"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the guarantees are Linux's")


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(size=2, memory_mb=512)
    yield made
    made.close()


def outcomes(pool: Pool, function: str, calls: list[dict], limit_s: float = 60.0) -> list[str]:
    return [result.outcome for result in pool.map(f"{HERE}:{function}", calls, limit_s)]


def test_results_come_in_order_and_children_are_reused(pool: Pool) -> None:
    results = pool.map(f"{HERE}:add", [{"a": n, "b": 1} for n in range(500)], 60.0)
    assert [result.value for result in results] == list(range(1, 501))
    pids = {result.value for result in pool.map(f"{HERE}:pid", [{}] * 50, 60.0)}
    assert 1 <= len(pids) <= 2
    assert {result.value for result in pool.map(f"{HERE}:pid", [{}] * 50, 60.0)} <= pids


@pytest.mark.parametrize("function", ["spin", "hang_in_c", "deaf"])
def test_a_call_that_hangs_is_killed_at_its_limit_and_the_others_go_on(pool: Pool, function: str) -> None:
    pool.map(f"{HERE}:pid", [{}] * 2, 60.0)
    before = time.monotonic()
    hung = pool.map(f"{HERE}:{function}", [{}], 0.5)[0]
    assert hung.outcome == "timeout"
    assert hung.error == "stopped after 0.5 s"
    assert time.monotonic() - before < 0.5 + SOON_S
    assert pool.map(f"{HERE}:add", [{"a": 1}], 60.0)[0].value == 1


def test_each_call_has_its_own_limit(pool: Pool) -> None:
    results = pool.map(f"{HERE}:spin", [{}, {}, {}], [0.2, 1.0, 0.2])
    assert [result.outcome for result in results] == ["timeout"] * 3
    assert all(limit <= result.seconds < limit + SOON_S for limit, result in zip((0.2, 1.0, 0.2), results, strict=True))


def test_a_call_that_ends_its_process_is_told_from_one_that_raises(pool: Pool) -> None:
    died = pool.map(f"{HERE}:leave", [{"code": 0}, {"code": 7}], 60.0)
    assert [(result.outcome, result.error) for result in died] == [
        ("died", "the process died: exit code 0"),
        ("died", "the process died: exit code 7"),
    ]
    crashed = pool.map(f"{HERE}:crash", [{}], 60.0)[0]
    assert crashed.outcome == "died"
    assert "SIGSEGV" in crashed.error
    for function, error in (("fail", "ValueError('나쁨')"), ("polite_exit", "SystemExit(3)")):
        raised = pool.map(f"{HERE}:{function}", [{"words": "나쁨"} if function == "fail" else {}], 60.0)[0]
        assert (raised.outcome, raised.error) == ("raised", error)
        assert function in raised.traceback
    assert outcomes(pool, "no_json", [{}]) == ["raised"]


@pytest.mark.parametrize("function", ["blow_up", "one_huge"])
def test_a_call_that_eats_memory_ends_alone(pool: Pool, function: str) -> None:
    result = pool.map(f"{HERE}:{function}", [{}], 60.0)[0]
    assert result.outcome == "died"
    assert "out of memory" in result.error
    assert outcomes(pool, "add", [{"a": 1}]) == ["ok"]


@pytest.mark.parametrize("target", ["tests.process.no_such_module:f", f"{HERE}:no_such_function", f"{HERE}_dies:f"])
def test_a_child_that_never_gets_ready_stops_everything_in_words(pool: Pool, target: str) -> None:
    name = "no_such" if "no_such" in target else "exit code 3. the last words"
    with pytest.raises(StudioError, match=name):
        pool.map(target, [{}] * 5, 60.0)
    assert outcomes(pool, "add", [{"a": 1}] * 4) == ["ok"] * 4


def test_arguments_that_are_no_json_go_as_their_text(pool: Pool) -> None:
    assert pool.map(f"{HERE}:length", [{"text": Path("/a/b")}], 60.0)[0].value == 4


def test_long_arguments_and_answers_pass_and_endless_ones_do_not(pool: Pool) -> None:
    assert pool.map(f"{HERE}:length", [{"text": "가" * 2_000_000}] * 4, 60.0)[3].value == 2_000_000
    assert len(pool.map(f"{HERE}:long_answer", [{"length": 2_000_000}], 60.0)[0].value) == 2_000_000
    too_long = pool.map(f"{HERE}:long_answer", [{"length": 20_000_000}], 60.0)[0]
    assert too_long.outcome == "died"


def test_what_a_call_prints_disturbs_nothing(pool: Pool) -> None:
    assert outcomes(pool, "chatter", [{"length": 2**20}] * 4) == ["ok"] * 4


def test_children_know_neither_torch_nor_secrets_and_run_calls_in_their_main_thread(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "canary")
    facts = pool.map(f"{HERE}:facts", [{}], 60.0)[0].value
    assert facts == {"torch": False, "main": True, "secrets": []}


def test_many_threads_share_the_pool(pool: Pool) -> None:
    """However their beginnings meet: a thread that had one child once took and gave the other for ever."""
    found: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        results = pool.map(f"{HERE}:add", [{"a": number, "b": n} for n in range(50)], 60.0)
        found[number] = [result.value if result.outcome == "ok" else result for result in results]

    for _ in range(40):
        found.clear()
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(300)
        assert found == {number: [number + n for n in range(50)] for number in range(8)}


def test_a_thread_that_ends_does_not_take_the_children_it_started(pool: Pool) -> None:
    pids: list[int] = []
    starter = threading.Thread(target=lambda: pids.append(pool.map(f"{HERE}:pid", [{}], 60.0)[0].value))
    starter.start()
    starter.join()
    assert pool.map(f"{HERE}:pid", [{}], 60.0)[0].value == pids[0]


def test_a_child_killed_while_idle_is_replaced(pool: Pool) -> None:
    first = pool.map(f"{HERE}:pid", [{}], 60.0)[0].value
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: ended(first))
    again = pool.map(f"{HERE}:pid", [{}], 60.0)[0]
    assert again.outcome == "ok"
    assert again.value != first


def test_closing_ends_the_children_and_what_they_started(pool: Pool) -> None:
    grandchild = psutil.Process(pool.map(f"{HERE}:leave_a_grandchild", [{}], 60.0)[0].value)
    child = psutil.Process(pool.map(f"{HERE}:pid", [{}], 60.0)[0].value)
    pool.close()
    all_gone([child, grandchild])
    with pytest.raises(StudioError, match="closed"):
        pool.map(f"{HERE}:pid", [{}], 60.0)


PARENT = f"""
import sys, threading
from backend.killable import shared
print(*(shared().map("{HERE}:pid", [{{}}], 60.0)[0].value for _ in range(1)), flush=True)
def hang():
    shared().map("{HERE}:" + sys.argv[1], [{{}}] * 2, 600.0)
thread = threading.Thread(target=hang, daemon=True)
thread.start()
sys.stdin.readline()
"""


@pytest.mark.parametrize("function", ["spin", "hang_in_c", "deaf"])
@pytest.mark.parametrize("how", ["SIGKILL", "exit"])
def test_no_child_outlives_its_parent(function: str, how: str) -> None:
    root = Path(__file__).resolve().parents[2]
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, function],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert parent.stdout is not None
        known = psutil.Process(int(parent.stdout.readline()))

        def working() -> list[psutil.Process]:
            children = psutil.Process(parent.pid).children(recursive=True)
            return children if sum(child.cpu_times().user > 0.6 for child in children) >= 1 else []

        children = wait_for(working, what="children that burn time")
        assert known in children
        if how == "SIGKILL":
            parent.kill()
        else:
            parent.communicate("end\n", timeout=60)
        parent.wait(60)
        all_gone(children)
    finally:
        parent.kill()
        parent.communicate()


def test_the_shared_pool_is_one() -> None:
    assert shared() is shared()


def test_a_call_whose_child_is_killed_from_outside_is_tried_once_more(pool: Pool, tmp_path: Path) -> None:
    assert pool.map(f"{HERE}:killed_once", [{"mark": str(tmp_path / "mark")}], 60.0)[0].value == "second"
    always = pool.map(f"{HERE}:killed", [{}, {}], 60.0)
    assert [each.outcome for each in always] == ["died", "died"]
    assert "signal 9" in always[0].error
