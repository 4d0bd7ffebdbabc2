"""Sessions: a sandboxed process that is called many times, and what is left of it after a bad call."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator

import psutil
import pytest

from backend.sandbox import Outcome, SandboxUnavailable, Session, host, open_session, require
from tests.support import wait_for

SOURCE = """
import numpy as np
print('loaded')
count = 0

def handle(request):
    global count
    count += 1
    exec(request.get('do', ''), request)
    return request.get('give', count)
"""

pytestmark = pytest.mark.skipif(host.refused_here() is not None, reason=str(host.refused_here()))


@pytest.fixture
def session() -> Iterator[Session]:
    try:
        require()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    with open_session(SOURCE, memory_mb=256) as opened:
        yield opened


def do(session: Session, source: str, limit_s: float = 20.0):
    return session.call({"do": source}, limit_s)


def test_calls_share_their_state(session: Session) -> None:
    assert [session.call({}, 20).value for _ in range(3)] == [1, 2, 3]
    assert session.restarts == 0


def test_what_is_printed_comes_with_its_call(session: Session) -> None:
    assert session.call({}, 20).stdout == "loaded\n"
    assert do(session, "print('first'); import sys; print('second', file=sys.stderr)").stdout == "first\nsecond\n"
    assert session.call({}, 20).stdout == ""


def test_a_megabyte_of_prints_is_cut_and_harms_nothing(session: Session) -> None:
    for _ in range(3):
        reply = do(session, "print('x' * (1 << 20))")
        assert reply.outcome is Outcome.PASS
        assert len(reply.stdout) == 64 << 10
        assert reply.cut
    assert not session.call({}, 20).cut


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "가", [1, [2]], {"a": {"b": None}}, "x" * 1_000_000], ids=str)
def test_json_goes_both_ways(session: Session, value: object) -> None:
    assert session.call({"give": value}, 20).value == value


def test_nan_and_infinities_pass(session: Session) -> None:
    value = session.call({"give": [math.nan, math.inf, -math.inf]}, 20).value
    assert math.isnan(value[0])
    assert value[1:] == [math.inf, -math.inf]


def test_what_raises_is_told_and_the_session_goes_on(session: Session) -> None:
    session.call({}, 20)
    reply = session.call({"do": "raise ValueError('of the program')"}, 20)
    assert reply.outcome is Outcome.FAIL
    assert "ValueError: of the program" in reply.error
    assert "exec(request.get('do', ''), request)" in reply.error
    assert session.call({"give": None}, 20).outcome is Outcome.PASS
    assert "not JSON serializable" in do(session, "give = {1}").error
    assert session.restarts == 0


BAD = {
    "overruns its time": ("while True: pass", 0.3, Outcome.TIMEOUT),
    "sleeps": ("__import__('time').sleep(99)", 0.3, Outcome.TIMEOUT),
    "prints for ever": ("while True: print('x' * 999)", 0.3, Outcome.TIMEOUT),
    "takes all memory": ("x = bytearray(10 << 30)", 20, Outcome.OOM),
    "exits": ("__import__('os')._exit(3)", 20, Outcome.FAIL),
    "raises SystemExit past everything": ("__import__('os').abort()", 20, Outcome.FAIL),
    "closes the pipe": ("__import__('os').close(3); __import__('time').sleep(99)", 0.3, Outcome.TIMEOUT),
    "writes garbage": ("__import__('os').write(3, b'\\0\\0\\0\\4{{{{')", 20, Outcome.FAIL),
    "answers for another call": (
        "__import__('os').write(3, b'\\0\\0\\0\\x13' + b'{\"id\":9,\"value\":111}'[:19])",
        20,
        Outcome.FAIL,
    ),
    "announces an endless answer": ("__import__('os').write(3, b'\\xff' * 9)", 20, Outcome.OUTPUT_LIMIT),
    "answers too much": ("give = 'x' * (9 << 20)", 20, Outcome.OUTPUT_LIMIT),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_call_ends_the_process_and_the_next_one_starts_anew(session: Session, name: str) -> None:
    source, limit_s, outcome = BAD[name]
    assert session.call({}, 20).value == 1
    zygote = psutil.Process(host.current.get().process.pid)
    (before,) = zygote.children()
    reply = session.call({"do": source, "give": 0}, limit_s)
    assert reply.outcome is outcome, reply
    assert reply.error
    assert reply.value is None
    assert reply.seconds < limit_s + 20
    wait_for(lambda: not before.is_running())
    again = session.call({}, 20)
    assert (again.value, again.stdout) == (1, "loaded\n")
    assert session.restarts == 1


def test_an_honest_session_outlives_any_cpu_limit(session: Session) -> None:
    """No RLIMIT_CPU: only the wall time of each call counts."""
    burn = "import time\nend = time.process_time() + .3\nwhile time.process_time() < end: pass"
    for _ in range(4):
        assert do(session, burn).outcome is Outcome.PASS
    assert do(session, "import resource\ngive = resource.getrlimit(resource.RLIMIT_CPU)[0]").value == -1


@pytest.mark.parametrize(
    "source",
    [
        "open('/etc/passwd')",
        "open('/tmp/sandbox-escaped', 'w')",
        "import socket; socket.socket()",
        "import os; os.fork()",
        "import os; os.kill(os.getppid(), 9)",
        "import subprocess; subprocess.run(['true'])",
    ],
)
def test_a_session_is_shut_in_like_a_program(session: Session, source: str) -> None:
    assert "PermissionError" in do(session, source).error


def test_async_code_and_threads_work(session: Session) -> None:
    source = "import asyncio\nasync def f():\n    await asyncio.sleep(.001)\n    return 7\ngive = asyncio.run(f())"
    assert do(session, source).value == 7
    source = "import threading\nt = threading.Thread(target=print, args=('in a thread',))\nt.start()\nt.join()"
    assert do(session, source).stdout == "in a thread\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def handle(:", "SyntaxError"),
        ("raise RuntimeError('at the top')", "at the top"),
        ("x = 1", "handle"),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("import torch", "No module named 'torch'"),
    ],
)
def test_a_source_that_does_not_load_says_why_each_time(source: str, said: str) -> None:
    with open_session(source) as session:
        for _ in range(2):
            reply = session.call({}, 20)
            assert reply.outcome is Outcome.FAIL
            assert said in reply.error


def test_a_source_that_never_ends_is_stopped() -> None:
    with open_session("while True: pass") as session:
        assert session.call({}, 0.3).outcome is Outcome.TIMEOUT


def test_threads_of_the_caller_take_turns(session: Session) -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(session.call({}, 20).value)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(1, 9))


def test_a_closed_session_is_gone_and_can_be_called_again(session: Session) -> None:
    session.call({}, 20)
    zygote = psutil.Process(host.current.get().process.pid)
    session.close()
    wait_for(lambda: zygote.children() == [])
    assert session.call({}, 20).value == 1


def test_a_lost_zygote_is_told_as_a_restart(session: Session) -> None:
    """It is nobody's doing, so the call is made again, without the state."""
    assert [session.call({}, 20).value for _ in range(2)] == [1, 2]
    host.current.drop(host.current.get())
    assert session.call({}, 20).value == 1
    assert session.restarts == 1
    host.current.drop(host.current.get())
    session.close()
    assert session.call({}, 20).value == 1
