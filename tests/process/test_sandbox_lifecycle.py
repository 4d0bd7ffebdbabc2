"""The sandbox as a set of processes: who starts, who dies with whom, and what is said where there is no sandbox."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from backend.sandbox import (
    Outcome,
    Program,
    SandboxUnavailable,
    host,
    open_session,
    report,
    require,
    run_many,
    tiers,
)
from backend.sandbox.running import run
from backend.settings import PROJECT
from tests.support import wait_for

ADD = Program("def add(a, b): return a + b", ("add(1, 2)", "add('x', 'y')", "add(1, 'y')"))

pytestmark = pytest.mark.skipif(host.refused_here() is not None, reason=str(host.refused_here()))


@pytest.fixture(autouse=True)
def _sandbox_here() -> None:
    try:
        require()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


def script(source: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", source], cwd=PROJECT, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )


def test_programs_run_in_order_and_side_by_side() -> None:
    programs = [Program("import sys\nprint(input())", stdin=str(n)) for n in range(12)]
    assert [ran.stdout for ran in run_many(programs)] == [f"{n}\n" for n in range(12)]
    assert run_many([]) == []


def test_a_call_that_raises_leaves_the_others() -> None:
    ran = run(ADD)
    assert ran.outcome is Outcome.PASS
    assert [answer.value for answer in ran.values[:2]] == [3, "xy"]
    assert ran.values[2].error is not None
    assert "TypeError" in ran.values[2].error
    assert "def add(a, b): return a + b" in ran.values[2].error


def test_statements_may_come_before_a_calls_expression() -> None:
    ran = run(Program("class S(list): pass", ("s = S()\ns.append(4); s.append(5)\nlist(s)",)))
    assert ran.values[0].value == [4, 5]


def test_answers_before_the_limit_are_kept() -> None:
    ran = run(Program("def f(n):\n    while n: pass\n    return n", ("f(0)", "f(1)", "f(0)"), limit_s=1.5))
    assert ran.outcome is Outcome.TIMEOUT
    assert [answer.value for answer in ran.values] == [0]
    assert 1.5 <= ran.seconds < 1.5 + 20


def test_the_memory_limit_is_the_programs_own() -> None:
    source = "x = bytearray(200 << 20)\nprint(len(x))"
    assert run(Program(source, memory_mb=100)).outcome is Outcome.OOM
    assert run(Program(source, memory_mb=400)).outcome is Outcome.PASS


def test_the_output_limit_can_be_raised() -> None:
    source = "print('x' * 100_000)"
    assert run(Program(source)).outcome is Outcome.OUTPUT_LIMIT
    assert len(run(Program(source, output_limit=200_000)).stdout) == 100_001


def test_random_numbers_are_the_same_each_time() -> None:
    source = "import random, numpy\nprint(random.random(), numpy.random.rand())"
    assert len({run(Program(source)).stdout for _ in range(3)}) == 1


def test_a_killed_zygote_is_replaced_and_its_programs_run_again() -> None:
    zygote = host.current.get()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(run, Program("import time\ntime.sleep(2)\nprint('done')"))
        child = wait_for(lambda: psutil.Process(zygote.process.pid).children())[0]
        os.kill(zygote.process.pid, signal.SIGKILL)
        assert slow.result().stdout == "done\n"
    assert host.current.get() is not zygote
    wait_for(lambda: not child.is_running())


def test_a_stopped_zygote_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.sandbox.running.GRACE_S", 0.2)
    monkeypatch.setattr("backend.sandbox.child.GRACE_S", 0.2)
    zygote = host.current.get()
    os.kill(zygote.process.pid, signal.SIGSTOP)
    assert run(Program("print(1)", limit_s=2.0)).stdout == "1\n"
    assert not zygote.alive()


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_the_caller_is_killed(kill: signal.Signals) -> None:
    caller = script(
        "import threading, time\n"
        "from backend.sandbox import Program, host, open_session, run_many\n"
        "s = open_session('def handle(r):\\n    while True: pass')\n"
        "threading.Thread(target=s.call, args=({}, 60), daemon=True).start()\n"
        "two = [Program('while True: pass', limit_s=60)] * 2\n"
        "threading.Thread(target=run_many, args=(two,), daemon=True).start()\n"
        "print(host.current.get().process.pid, flush=True)\n"
        "time.sleep(60)"
    )
    assert caller.stdout is not None
    zygote = psutil.Process(int(caller.stdout.readline()))
    wait_for(lambda: len(zygote.children()) == 3)
    below = [zygote, *zygote.children()]
    caller.send_signal(kill)
    caller.wait()
    wait_for(lambda: not any(process.is_running() for process in below))
    caller.stdout.close()


def test_nothing_is_left_after_a_normal_end() -> None:
    source = (
        "from backend.sandbox import Program, host, open_session, run_many\n"
        "run_many([Program('print(1)')] * 3)\n"
        "s = open_session('def handle(r): return 1')\ns.call({}, 5)\n"
        "print(host.current.get().process.pid)"
    )
    done = subprocess.run([sys.executable, "-c", source], cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    wait_for(lambda: not psutil.pid_exists(int(done.stdout)))


def test_a_thread_that_is_not_the_main_one_and_that_ends_first() -> None:
    """Whoever starts the zygote may end before it: it must not die with that thread."""
    host.current.drop(host.current.get())
    thread = threading.Thread(target=run, args=(ADD,))
    thread.start()
    thread.join()
    assert run(ADD).outcome is Outcome.PASS


def test_a_forked_copy_of_the_caller_has_its_own_zygote() -> None:
    theirs = host.current.get().process.pid
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            ran = run(ADD)
            os.write(writing, f"{ran.outcome} {host.current.get().process.pid}".encode())
            host.current.end()
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        outcome, pid_there = stream.read().split()
    os.waitpid(pid, 0)
    assert outcome == "pass"
    assert int(pid_there) != theirs
    assert run(ADD).outcome is Outcome.PASS


def test_no_descriptor_is_lost() -> None:
    run(ADD)
    before = psutil.Process().num_fds()
    run_many([ADD, Program("while True: pass", limit_s=0.1), Program("print('x' * 10**6)")] * 5)
    assert psutil.Process().num_fds() == before


def test_the_report_names_tier_kernel_and_version() -> None:
    found = report()
    assert found.tier in ("T1", "T2")
    assert found.kernel == os.uname().release
    assert found.machine == os.uname().machine
    assert (found.landlock_abi > 0) == (found.tier == "T1")
    assert all(check.held for check in found.checks)
    assert len(found.checks) > 40
    assert found.tier in found.words.en
    assert found.tier in found.words.ko
    assert report() is found


def test_a_self_test_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "whole", lambda: [("read /etc/passwd", False, "pass: root")])
    found = tiers.measure()
    assert found.tier == "none"
    assert "read /etc/passwd" in found.words.en
    assert "read /etc/passwd" in found.words.ko


A_CHECK_THAT_FAILS = """
from backend.sandbox import host
works = "from inside import selftest as s; s.ATTACKS = (s.Attack('an attack that works', 'fcntl', (0, 3)),); "
host.BOOT = host.BOOT.replace("main({fd}", works + "main({fd}")
"""
REFUSALS = {
    "another system": ("import sys, psutil\nsys.platform = 'darwin'", "it needs Linux, this is darwin"),
    "another machine": (
        "import os\nhere = os.uname()\nos.uname = lambda: os.uname_result((*here[:4], 'riscv64'))",
        "this is riscv64",
    ),
    "a zygote that does not start": ("import sys\nsys.executable = '/bin/false'", "it ended without a word"),
    "a zygote that is not there": ("import sys\nsys.executable = '/no/such/python'", "/no/such/python"),
    "a check that fails": (A_CHECK_THAT_FAILS, "the self-test failed: an attack that works"),
}


@pytest.mark.parametrize("why", REFUSALS)
def test_where_there_is_no_sandbox_everything_refuses_by_name(why: str) -> None:
    arrange, said = REFUSALS[why]
    source = f"""
{arrange}
from backend.sandbox import *
from backend.rewards import get
found = report()
print(found.tier, '|', found.words.en)
def refused(call):
    try: call()
    except SandboxUnavailable as error: print('refused', error)
refused(require)
refused(lambda: run_many([Program('print(1)')]))
refused(lambda: open_session('def handle(r): return 1').call({{}}, 1))
refused(lambda: get('code').verdicts(['x = 1'], ground_truth=[[dict(stdin='', stdout='')]]))
refused(lambda: get('sql').verdicts(['SELECT 1'], ground_truth=['SELECT 1']))
"""
    done = subprocess.run([sys.executable, "-c", source], cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("none | ")
    assert [line.split()[0] for line in lines[1:]] == ["refused"] * 5
    assert all(said in line for line in lines), done.stdout


def test_it_imports_where_there_is_no_posix() -> None:
    source = (
        "import sys, psutil\n"
        "for name in ('fcntl', 'resource', 'pwd', 'grp'): sys.modules[name] = None\n"
        "import subprocess\n"
        "sys.platform = 'win32'\n"
        "import backend.sandbox, backend.rewards.code, backend.rewards.sql\n"
        "print(backend.sandbox.report().tier)"
    )
    done = subprocess.run([sys.executable, "-c", source], cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "none\n", done.stderr


def test_a_session_in_the_same_zygote_as_programs() -> None:
    with open_session("n = 0\ndef handle(r):\n    global n\n    n += 1\n    return n") as session:
        assert session.call({}, 5).value == 1
        run_many([ADD] * 4)
        assert session.call({}, 5).value == 2
