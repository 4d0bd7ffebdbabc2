"""The attack suite, on every tier that this machine has: each attack ends as it must and gets nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psutil
import pytest

from backend.sandbox import Program, SandboxUnavailable, host, run_many
from backend.sandbox.running import run
from tests.process.sandbox_attacks import ATTACKS, ESCAPED, Attack
from tests.support import wait_for

LITTER = ("/tmp/sandbox-escaped", "/dev/shm/sandbox-escaped", "/tmp/sandbox-self-test", "/sandbox-escaped")


@pytest.fixture(scope="module", params=["T1", "T2"])
def zygote(request: pytest.FixtureRequest) -> Iterator[host.Zygote]:
    """A zygote of that tier, in place of the one that would be chosen; the caller's environment holds a secret."""
    os.environ["CANARY_TOKEN"] = "CANARY_IN_THE_ENVIRONMENT"
    try:
        started = host.start(landlock=request.param == "T1")
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    if started.hello["tier"] != request.param:
        started.close()
        pytest.skip(f"this kernel has no Landlock, so there is no {request.param}")
    before, host.current.zygote = host.current.zygote, started
    run(Program("leftover = 'CANARY_OF_ANOTHER_PROGRAM'"))
    yield started
    host.current.zygote = before
    started.close()
    del os.environ["CANARY_TOKEN"]


def children(zygote: host.Zygote) -> list[psutil.Process]:
    return psutil.Process(zygote.process.pid).children(recursive=True)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_ends_as_it_must(zygote: host.Zygote, attack: Attack) -> None:
    ran = run(attack.program)
    assert ran.outcome in attack.ends, ran
    assert ESCAPED not in ran.stdout
    assert ran.seconds < attack.program.limit_s + 20
    assert len(ran.stdout) <= attack.program.output_limit
    wait_for(lambda: children(zygote) == [])
    assert zygote.alive()
    assert not [path for path in LITTER if os.path.lexists(path)]


def test_every_check_of_the_zygote_itself_held(zygote: host.Zygote) -> None:
    assert [check for check in zygote.hello["checks"] if not check["held"]] == []
    names = {check["name"] for check in zygote.hello["checks"]}
    assert {"open a file", "TCP", "fork", "exec", "ptrace", "benign program"} <= names
    assert ("Landlock: /etc/passwd" in names) == (zygote.hello["tier"] == "T1")


def test_fifty_children_that_sleep_and_hold_stdout(zygote: host.Zygote) -> None:
    seconds = str(900_000 + os.getpid())  # nobody else's, on a machine where other tests run
    source = f"import subprocess\ntry: subprocess.Popen(['sleep', '{seconds}'])\nfinally:\n    while True: pass"
    rans = run_many([Program(source, limit_s=0.2)] * 50)
    assert {ran.outcome for ran in rans} == {"timeout"}
    assert max(ran.seconds for ran in rans) < 0.2 + 20
    wait_for(lambda: children(zygote) == [])
    assert [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", seconds]] == []


def test_what_remains_is_known(zygote: host.Zygote) -> None:
    """stat() still tells that a path exists: the documentation says so, and this test says when that changes."""
    ran = run(Program("import os\nprint(os.path.exists('/etc/passwd'), os.path.exists('/no/such/path'))"))
    assert ran.stdout == "True False\n"


BENIGN = {
    "stdin": ("print(sum(map(int, input().split())))", "2 3\n", "5\n"),
    "all of stdin": ("import sys\nprint(len(sys.stdin.read()))", "x" * 300_000, "300000\n"),
    "stdin by its descriptor": ("import os\nprint(os.read(0, 99))\nprint(open(0).read())", "ab\n", "b'ab\\n'\n\n"),
    "another stdout": ("import sys, io\nsys.stdout = io.TextIOWrapper(open(1, 'wb'))\nprint(1)", "", "1\n"),
    "stdout replaced by one that is flushed at the end": (
        """
import io, os, sys
class Fast(io.StringIO):
    def flush(self):
        os.write(1, self.getvalue().encode())
        self.seek(0)
        self.truncate()
print(0, flush=True)
sys.stdout = Fast()
print(1)""",
        "",
        "0\n1\n",
    ),
    "stdout put aside": ("import sys\nprint(1)\nsys.stdout = None", "", "1\n"),
    "stdout closed": ("import sys\nprint(1)\nsys.stdout.close()", "", "1\n"),
    "a thread that is not joined": ("import threading\nthreading.Thread(target=print, args=(1,)).start()", "", "1\n"),
    "a deep stack in a thread": (
        """
import sys, threading
sys.setrecursionlimit(10**6)
threading.stack_size(64 << 20)
def f(n): return n and 1 + f(n - 1)
t = threading.Thread(target=lambda: print(f(20000)))
t.start()
t.join()""",
        "",
        "20000\n",
    ),
    "a pool of threads": (
        """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool: print(sum(pool.map(int, '123')))""",
        "",
        "6\n",
    ),
    "asyncio": ("import asyncio\nasync def f(): await asyncio.sleep(.001); print(1)\nasyncio.run(f())", "", "1\n"),
    "numpy": ("import numpy as np\nprint(int(np.linalg.inv(np.eye(3) * .5).sum()))", "", "6\n"),
    "dataclasses and pickle": (
        """
import pickle
from dataclasses import dataclass
@dataclass
class P:
    x: int
print(pickle.loads(pickle.dumps(P(3))))""",
        "",
        "P(x=3)\n",
    ),
    "sqlite": ("import sqlite3\nprint(sqlite3.connect(':memory:').execute('select 1+1').fetchone())", "", "(2,)\n"),
    "exit with 0": ("import sys\nprint(1)\nsys.exit()", "", "1\n"),
    "an exit handler": ("import atexit\natexit.register(print, 2)\nprint(1)", "", "1\n2\n"),
    "the main guard": ("if __name__ == '__main__': print(1)", "", "1\n"),
    "dates, decimals, hashes": (
        """
import datetime, decimal, hashlib
print(datetime.datetime.strptime('2026', '%Y').year, decimal.Decimal('0.1') * 3, hashlib.sha256(b'').hexdigest()[:4])
""",
        "",
        "2026 0.3 e3b0\n",
    ),
    "Korean": ("print(input()[::-1])", "가나다\n", "다나가\n"),
    "the time": ("import time\nt = time.time()\ntime.sleep(.001)\nprint(time.time() > t)", "", "True\n"),
}


@pytest.mark.parametrize("name", BENIGN)
def test_a_benign_program_runs_as_anywhere(zygote: host.Zygote, name: str) -> None:
    source, stdin, stdout = BENIGN[name]
    ran = run(Program(source, stdin=stdin, limit_s=20.0))
    assert (ran.outcome, ran.stdout, ran.error) == ("pass", stdout, "")
