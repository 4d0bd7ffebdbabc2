"""The self-test's programs: what a model could write, run as it would be."""

from __future__ import annotations

from backend.sandbox.outcome import Outcome, Program
from backend.sandbox.running import run_many

LOOP_S = 0.3


def whole() -> list[tuple[str, bool, str]]:
    """(name, whether it ended as it must, how it ended) for each program."""
    programs = [program for _, program, _ in CASES]
    return [
        (name, ran.outcome in wanted, f"{ran.outcome}: {ran.error.splitlines()[-1] if ran.error else ran.stdout[:40]}")
        for (name, _, wanted), ran in zip(CASES, run_many(programs), strict=True)
    ]


def _refused(source: str) -> tuple[Program, tuple[Outcome, ...]]:
    return Program(source, limit_s=5.0), (Outcome.FAIL,)


CASES: tuple[tuple[str, Program, tuple[Outcome, ...]], ...] = (
    ("sum of two numbers", Program("print(sum(map(int, input().split())))", stdin="2 3"), (Outcome.PASS,)),
    ("numpy", Program("import numpy\nprint(numpy.arange(4).sum())"), (Outcome.PASS,)),
    ("endless loop", Program("while True: pass", limit_s=LOOP_S), (Outcome.TIMEOUT,)),
    ("10 GB of memory", Program("x = bytearray(10 << 30)"), (Outcome.OOM,)),
    ("1 GB of output", Program("while True: print('x' * 4096)"), (Outcome.OUTPUT_LIMIT,)),
    ("read /etc/passwd", *_refused("open('/etc/passwd')")),
    ("read /proc/1/environ", *_refused("open('/proc/1/environ')")),
    ("write /tmp", *_refused("open('/tmp/sandbox-self-test', 'w')")),
    ("list /", *_refused("import os\nos.listdir('/')")),
    ("start a process", *_refused("import subprocess\nsubprocess.run(['/bin/true'])")),
    ("fork", *_refused("import os\nos.fork() or os._exit(0)")),
    ("connect", *_refused("import socket\nsocket.create_connection(('127.0.0.1', 9), 1)")),
)
