"""The shim against real processes: notes in backend/shim.py say what it promises, each promise is a test here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from backend.processes import runfiles
from backend.processes.identity import alive
from backend.processes.locks import held
from backend.processes.runfiles import Exit, Stop
from backend.processes.worker_log import read
from backend.settings import PROJECT, Settings
from tests.support import PATIENCE_S, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the shim's guarantees are Linux's")
RUN = "20260101-000000-aaaa"


class Bench:
    """One home folder and the shims started in it; whatever is left is killed by pid at the end."""

    def __init__(self, home: Path) -> None:
        self.settings = Settings(home)
        self.dir = self.settings.run_dir(RUN)
        self.dir.mkdir(parents=True)
        self.shims: list[subprocess.Popen[bytes]] = []
        self.told: list[int] = []

    def command(self, attempt: int) -> list[str]:
        home = str(self.settings.home)
        return [
            sys.executable,
            "-m",
            "backend.processes.shim",
            "--home",
            home,
            "--run",
            RUN,
            "--attempt",
            str(attempt),
            "--",
        ]

    def start(self, program: str, attempt: int = 1, **environment: str) -> subprocess.Popen[bytes]:
        script = self.settings.home / f"worker{attempt}.py"
        script.write_text(textwrap.dedent(program), encoding="utf-8")
        shim = subprocess.Popen(
            [*self.command(attempt), sys.executable, "-u", str(script)],
            cwd=PROJECT,
            env={**os.environ, "PIDS": str(self.settings.home / "pids"), **environment},
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.shims.append(shim)
        return shim

    def pids(self, count: int) -> list[psutil.Process]:
        """The processes that the worker has told of, by writing their pids."""
        path = self.settings.home / "pids"

        def told() -> list[str]:
            lines = path.read_text().split("\n")[:-1] if path.exists() else []
            return lines if len(lines) >= count else []

        found = [psutil.Process(int(line)) for line in wait_for(told, what=f"{count} pids")]
        self.told += [process.pid for process in found]
        return found

    def go(self) -> None:
        """The worker's until_told() is over."""
        (self.settings.home / "pids.go").touch()

    def ended(self, attempt: int = 1, timeout: float = PATIENCE_S) -> Exit:
        found = wait_for(lambda: runfiles.read_exit(self.dir, attempt), timeout, what="exit.json")
        assert found is not None
        return found

    def close(self) -> None:
        for shim in self.shims:
            shim.kill()
            shim.wait()
        for pid in self.told:
            if psutil.pid_exists(pid):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def bench(tmp_path: Path):
    made = Bench(tmp_path / "home")
    yield made
    made.close()


def gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


TELL = """
import os, signal, subprocess, sys, time
def tell(pid=None):
    with open(os.environ["PIDS"], "a") as f: f.write(f"{pid or os.getpid()}\\n")
def until_told():
    while not os.path.exists(os.environ["PIDS"] + ".go"): time.sleep(0.02)
"""


def test_the_exit_code_and_the_pids_are_recorded(bench: Bench) -> None:
    shim = bench.start(TELL + "tell(); print('hello'); until_told(); sys.exit(3)")
    (worker,) = bench.pids(1)
    pids = wait_for(lambda: (p := runfiles.read_pids(bench.dir, 1)) and p.worker and p)
    assert pids is not None
    assert pids.worker is not None
    assert pids.shim is not None
    assert (pids.worker.pid, pids.shim.pid) == (worker.pid, shim.pid)
    assert alive(pids.worker)
    assert held(bench.dir / "run.lock")
    bench.go()
    ended = bench.ended()
    assert (ended.code, ended.signal, ended.stop, ended.forced) == (3, None, None, False)
    wait_for(lambda: not held(bench.dir / "run.lock"), what="the lock to be released")
    assert read(bench.dir / "logs").lines == ["hello"]


def test_a_mebibyte_on_both_streams_does_not_block(bench: Bench) -> None:
    bench.start("import sys\nfor s in (sys.stdout, sys.stderr):\n    s.write(('x' * 1023 + chr(10)) * 1024)\n")
    assert bench.ended().code == 0
    size = sum(path.stat().st_size for path in (bench.dir / "logs").glob("worker.log*"))
    assert size == 2 * 1024 * 1024


def test_a_killed_worker_is_minus_nine_without_a_stop(bench: Bench) -> None:
    bench.start(TELL + "tell(); time.sleep(99)")
    bench.pids(1)[0].kill()
    ended = bench.ended()
    assert (ended.code, ended.signal, ended.stop) == (None, 9, None)


def test_sigterm_reaches_the_worker_only(bench: Bench) -> None:
    shim = bench.start(
        TELL
        + """
signal.signal(signal.SIGTERM, lambda *a: (print('saved'), sys.exit(0)))
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])
tell(); tell(child.pid)
while True: time.sleep(0.05)
"""
    )
    _, child = bench.pids(2)
    shim.send_signal(signal.SIGTERM)
    ended = bench.ended()
    assert (ended.code, ended.signal, ended.stop, ended.forced) == (0, None, "save", False)
    assert read(bench.dir / "logs").lines == ["saved"]
    wait_for(lambda: gone(child), what="the child to be ended after its worker")


IGNORING = (
    TELL
    + """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(2):
    deaf = 'import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(99)'
    child = subprocess.Popen([sys.executable, '-c', deaf])
    tell(child.pid)
tell()
while True: time.sleep(0.05)
"""
)


def test_workers_that_ignore_sigterm_are_gone_within_the_grace_time(bench: Bench) -> None:
    bench.start(IGNORING)
    processes = bench.pids(3)
    runfiles.write_stop(bench.dir, Stop(1, "save", grace_s=0.5))
    ended = bench.ended()
    assert (ended.code, ended.signal, ended.stop, ended.forced) == (None, 9, "save", True)
    wait_for(lambda: all(gone(p) for p in processes), what="the whole group")


def test_the_second_wish_kills_at_once(bench: Bench) -> None:
    shim = bench.start(IGNORING)
    processes = bench.pids(3)
    runfiles.write_stop(bench.dir, Stop(1, "save", grace_s=600))
    shim.send_signal(signal.SIGTERM)
    runfiles.write_stop(bench.dir, Stop(1, "now", grace_s=600))
    shim.send_signal(signal.SIGUSR1)
    ended = bench.ended()
    assert (ended.signal, ended.stop, ended.forced) == (9, "now", False)
    wait_for(lambda: all(gone(p) for p in processes), what="the whole group")


def test_children_in_their_own_sessions_are_reaped(bench: Bench) -> None:
    """A grandchild that outlives its parent and a daemon in a session of its own: no survivor, no zombie."""
    shim = bench.start(
        TELL
        + """
daemon = "import os, time; open(os.environ['PIDS'], 'a').write(f'{os.getpid()}\\\\n'); time.sleep(99)"
middle = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {daemon!r}], start_new_session=True)"
subprocess.Popen([sys.executable, '-c', middle], start_new_session=True).wait()
subprocess.Popen([sys.executable, '-c', daemon], start_new_session=True)
open(os.environ['PIDS'], 'a').close()
until_told()
"""
    )
    processes = bench.pids(2)
    bench.go()
    assert bench.ended().code == 0
    wait_for(lambda: all(gone(p) for p in processes))
    shim.wait(60)
    assert not any(p.is_running() for p in processes)


def test_the_worker_dies_with_a_killed_shim(bench: Bench) -> None:
    shim = bench.start(TELL + "tell(); signal.signal(15, signal.SIG_IGN)\nwhile True: time.sleep(0.05)")
    (worker,) = bench.pids(1)
    shim.kill()
    shim.wait()
    wait_for(lambda: gone(worker), what="PDEATHSIG")
    assert not held(bench.dir / "run.lock")
    assert runfiles.read_exit(bench.dir, 1) is None


def test_a_second_shim_of_the_same_run_is_refused(bench: Bench) -> None:
    bench.start(TELL + "tell(); time.sleep(99)")
    bench.pids(1)
    assert bench.start("print('never')").wait(60) == 2


def test_a_worker_that_cannot_be_started_is_told(bench: Bench) -> None:
    shim = subprocess.Popen(
        [*bench.command(1), "/nowhere/python"],
        cwd=PROJECT,
        stderr=subprocess.DEVNULL,
    )
    bench.shims.append(shim)
    ended = bench.ended()
    assert ended.code == 127
    assert ended.error == "/nowhere/python: No such file or directory"


def test_secrets_never_reach_the_log(bench: Bench) -> None:
    canary, token = "canary-4f1d-value", "hf_" + "A1b2" * 9
    bench.start(
        f"""
        import sys, time
        sys.stdout.write('one {canary} two\\n'); sys.stdout.write('{token[:12]}'); sys.stdout.flush()
        time.sleep(0.2); sys.stdout.write('{token[12:]} end\\n')
        """,
        MY_API_KEY=canary,
    )
    bench.ended()
    text = (bench.dir / "logs" / "worker.log").read_text()
    assert text == "one [redacted] two\n[redacted] end\n"


def test_the_files_of_an_earlier_attempt_are_no_news(bench: Bench) -> None:
    runfiles.write_stop(bench.dir, Stop(1, "now", 1.0))
    runfiles.write_exit(bench.dir, Exit(1, 1, None, 0, None, False, 0.0))
    bench.start("print('second')", attempt=2)
    assert bench.ended(attempt=2).code == 0
    assert runfiles.read_exit(bench.dir, 1) is None
    assert json.loads((bench.dir / "exit.json").read_text())["attempt"] == 2
