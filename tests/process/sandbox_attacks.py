"""What hostile, broken and merely clumsy programs try. Each prints ESCAPED where it got what it must not get."""

from __future__ import annotations

import platform
import textwrap
from typing import NamedTuple

from backend.sandbox import Outcome, Program

FAIL, TIMEOUT, OOM, OUTPUT, PASS = (
    Outcome.FAIL,
    Outcome.TIMEOUT,
    Outcome.OOM,
    Outcome.OUTPUT_LIMIT,
    Outcome.PASS,
)
ESCAPED = "ESCAPED"


class Attack(NamedTuple):
    """`ends`: the outcomes that are right. Short limits only where the program would run for ever."""

    name: str
    program: Program
    ends: tuple[Outcome, ...]


def runs_for_ever(name: str, source: str, *ends: Outcome) -> Attack:
    return Attack(name, Program(textwrap.dedent(source), limit_s=0.4), ends or (TIMEOUT,))


def ends(name: str, source: str, *outcomes: Outcome) -> Attack:
    return Attack(name, Program(textwrap.dedent(source), limit_s=20.0), outcomes)


def refused(name: str, *lines: str) -> Attack:
    """Every line must raise OSError, or what Python makes of one; a line that goes through is an escape."""
    tries = "\n".join(f"try:\n    {line}\n    print('ESCAPED', {line!r})\nexcept {ERRORS}:\n    pass" for line in lines)
    return Attack(name, Program(f"{HEAD}\n{tries}", limit_s=20.0), (PASS,))


HEAD = "import ctypes, fcntl, io, mmap, os, resource, signal, socket, subprocess, sys, threading, time"
ERRORS = "(OSError, RuntimeError, ValueError, ImportError)"
LIBC = "\nlibc = ctypes.CDLL(None, use_errno=True)\n"

TIME_AND_SPACE = [
    runs_for_ever("an endless loop", "while True: pass"),
    runs_for_ever("sleeps 999 s", "import time\ntime.sleep(999)"),
    runs_for_ever(
        "ignores every signal it can",
        """
        import signal
        for number in signal.valid_signals():
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while True: pass
        """,
    ),
    runs_for_ever("an exit handler that never ends", "import atexit, time\natexit.register(time.sleep, 999)"),
    runs_for_ever(
        "a thread that never ends", "import threading, time\nthreading.Thread(target=time.sleep, args=(999,)).start()"
    ),
    runs_for_ever(
        "catches everything", "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    runs_for_ever("one long operation in C", "pow(3, 10 ** 9)"),
    runs_for_ever("a pattern that backtracks", "import re\nre.match('(a+)+$', 'a' * 60 + 'b')"),
    runs_for_ever("waits for input that never comes", "import os\nr, w = os.pipe()\nos.read(r, 1)"),
    ends("a list growing by 100 MB", "x = []\nwhile True: x.append(bytearray(100 << 20))", OOM),
    ends("10 GB at once", "x = bytearray(10 << 30)", OOM),
    ends("10 GB by numpy", "import numpy\nnumpy.ones(10 << 27)", OOM, FAIL),
    ends("10 GB by mmap", "import mmap\nmmap.mmap(-1, 10 << 30)", OOM, FAIL),
    ends("prints 1 GB", "for _ in range(1 << 20): print('x' * 1024)", OUTPUT),
    ends("prints 1 GB at once", "import sys\nsys.stdout.write('x' * (100 << 20))", OUTPUT),
    ends("writes 1 GB to stderr", "import sys\nfor _ in range(1 << 14): sys.stderr.write('x' * (64 << 10))", PASS),
    ends("writes 1 GB to the result pipe", "import os\nwhile True: os.write(3, b'x' * 65536)", OUTPUT),
    ends("endless recursion", "def f(): f()\nf()", FAIL),
    runs_for_ever(
        "endless recursion without the guard",
        "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(n): return [f(n + 1)]\nf(0)",
        *(FAIL, OOM, TIMEOUT),
    ),
    ends("all descriptors", "import os\nwhile True: os.pipe()", FAIL),
    ends("an alarm to itself", "import signal\nsignal.setitimer(signal.ITIMER_REAL, .01)\nwhile True: pass", FAIL),
    ends("reads address 0", "import ctypes\nctypes.string_at(0)", FAIL),
    ends("aborts", "import os\nos.abort()", FAIL),
    ends("50,000 characters", "x = 1 + 1\n" * 5000, PASS),
    ends("5,000 brackets", "(" * 5000 + ")" * 5000, FAIL, OOM),
    ends("5,000 minus signs", "x = " + "-" * 5000 + "1", FAIL, OOM, PASS),
    ends("a syntax error", "def f(:", FAIL),
    ends("a null character", "x = 1\0", FAIL),
    ends("half a surrogate pair", "x = '\ud800'", FAIL, PASS),
    ends("sys.exit(3)", "import sys\nsys.exit(3)", FAIL),
    ends("sys.exit with words", "import sys\nsys.exit('no')", FAIL),
    ends("KeyboardInterrupt", "raise KeyboardInterrupt", FAIL),
    ends(
        "an exception that cannot be shown", "class E(BaseException):\n    def __str__(self): raise self\nraise E", FAIL
    ),
]

PROCESSES = [
    refused("fork", "os.fork() or os._exit(0)", "os.forkpty()", "os.posix_spawn('/bin/true', ['true'], {})"),
    runs_for_ever("a fork bomb", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"),
    refused(
        "other programs",
        "os.execv('/bin/true', ['true'])",
        "subprocess.run(['sleep', '999'])",
        "subprocess.Popen(['sleep', '999'], start_new_session=True)",
        "os.system('true') == 0 or (_ for _ in ()).throw(OSError())",
    ),
    refused(
        "multiprocessing",
        "__import__('multiprocessing').get_context('fork').Process(target=print).start()",
        "__import__('multiprocessing').get_context('spawn').Process(target=print).start()",
    ),
    refused("a daemon", "os.setsid()", "os.setpgid(0, 0)", "__import__('pty').spawn('/bin/sh')"),
    refused(
        "signals to others and to itself",
        "os.kill(os.getppid(), 9)",
        "os.kill(1, 0)",
        "os.kill(-1, 9)",
        "os.killpg(0, signal.SIGSTOP)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "signal.raise_signal(signal.SIGSTOP)",
        "signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)",
        "signal.pidfd_send_signal(0, 0)",
    ),
    refused(
        "signals through descriptors",
        "fcntl.fcntl(0, 8, os.getppid())",
        "fcntl.fcntl(0, 10, signal.SIGKILL)",
        "fcntl.ioctl(0, 0x8901, os.getppid().to_bytes(4, 'little'))",
        "fcntl.ioctl(0, 0x5452, (1).to_bytes(4, 'little'))",
        "fcntl.ioctl(0, 0x5412, b'x')",
    ),
    refused(
        "its own limits",
        "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))",
        "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))",
        "os.nice(-1)",
        "os.sched_setaffinity(0, {0})",
        "os.setuid(0)",
        "os.setgroups([0])",
        "mmap.mmap(-1, 2 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)",
    ),
    ends(
        "a thread bomb",
        """
        import threading, time
        try:
            while True: threading.Thread(target=time.sleep, args=(999,), daemon=True).start()
        except RuntimeError: pass
        print('ESCAPED' if threading.active_count() > 400 else threading.active_count())
        import os
        os._exit(0)
        """,
        PASS,
        OOM,
    ),
]

FILES = [
    refused(
        "reading",
        "open('/etc/passwd')",
        "open('/proc/1/environ')",
        "open('/proc/self/environ')",
        "open('/proc/self/maps')",
        "open('/proc/self/mem', 'rb')",
        "open('/dev/urandom', 'rb')",
        "open(os.path.expanduser('~/.bashrc'))",
        "os.listdir(os.path.expanduser('~'))",
        "os.listdir('/')",
        "os.listdir('/proc')",
        "os.open('.', os.O_RDONLY)",
        "os.open('/', os.O_PATH)",
        "io.FileIO('/etc/hostname')",
        "os.readlink('/proc/self/exe')",
        "os.access('/etc/passwd', os.R_OK) or (_ for _ in ()).throw(OSError())",
    ),
    refused(
        "writing",
        "open('/tmp/sandbox-escaped', 'w')",
        "open('/dev/shm/sandbox-escaped', 'w')",
        "open('sandbox-escaped', 'w')",
        "__import__('tempfile').TemporaryFile()",
        "os.mkdir('/tmp/sandbox-escaped')",
        "os.symlink('/etc/passwd', '/tmp/sandbox-escaped')",
        "os.link('/etc/passwd', '/tmp/sandbox-escaped')",
        "os.mkfifo('/tmp/sandbox-escaped')",
        "os.unlink('/tmp/sandbox-escaped')",
        "os.rename('/tmp', '/tmp2')",
        "os.chmod('/tmp', 0)",
        "os.chown('/tmp', 0, 0)",
        "os.utime('/tmp')",
        "os.truncate('/etc/passwd', 0)",
        "os.setxattr('/tmp', 'user.x', b'')",
        "os.chdir('/tmp')",
        "os.chroot('/tmp')",
        "os.umask(0) == 0 and (_ for _ in ()).throw(OSError())",
        "os.write(0, b'x')",
        "os.ftruncate(0, 0)",
    ),
    ends(
        "a 10 GB file",
        "with open('/tmp/sandbox-escaped', 'wb') as f:\n    f.truncate(10 << 30)\nprint('ESCAPED')",
        FAIL,
    ),
    ends(
        "descriptors of others",
        """
        import os
        there = []
        for fd in range(4096):
            try: os.fstat(fd)
            except OSError: continue
            there.append(fd)
        print('' if there == [0, 1, 2, 3] else 'ESCAPED', there)
        """,
        PASS,
    ),
    ends(
        "a module that was not loaded",
        "try:\n    import tkinter\n    print('ESCAPED')\nexcept ImportError: pass",
        PASS,
    ),
]

NETWORK = [
    refused(
        "sockets",
        "socket.socket()",
        "socket.socket(socket.AF_INET6)",
        "socket.socket(type=socket.SOCK_DGRAM)",
        "socket.socket(socket.AF_UNIX)",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "socket.socket(socket.AF_NETLINK)",
        "socket.socket(40, 1)",
        "socket.socket(38, 5)",
        "socket.socketpair(type=socket.SOCK_DGRAM)",
        "socket.create_connection(('127.0.0.1', 80), 1)",
        "socket.getaddrinfo('example.invalid', 80)",
        "__import__('urllib.request').request.urlopen('http://127.0.0.1/')",
        "socket.socketpair()[0].sendmsg([b'x'])",
        "socket.socketpair()[0].sendto(b'x', '/dev/log')",
        "socket.socketpair()[0].bind('/tmp/sandbox-escaped')",
    ),
]

KERNEL = [
    ends(
        "every call that is not on the list",
        HEAD
        + LIBC
        + """
from inside import syscalls
machine = os.uname().machine
known = set()
for table in (syscalls.ALLOWED, syscalls.CHECKED):
    known |= set(syscalls.numbers(machine, table).values())
for number in range(600):
    if number in known or number in (335, 336): continue  # uretprobe, uprobe: the kernel itself ends the caller
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
    if result != -1 or ctypes.get_errno() not in (1, 13, 38): print('ESCAPED', number, result, ctypes.get_errno())
""",
        PASS,
    ),
    ends(
        "a process by clone with a thread's flags but one",
        HEAD
        + LIBC
        + """
machine = os.uname().machine
number = 56 if machine == 'x86_64' else 220
for flags in (17, 0x3d0f00 & ~0x10000, 0x3d0f00 | 0x10000000, 0x100 | 0x4000 | 17):
    result = libc.syscall(ctypes.c_long(number), ctypes.c_long(flags), *[ctypes.c_long(0)] * 4)
    if result == 0: os._exit(0)
    if result > 0: print('ESCAPED')
""",
        PASS,
    ),
]

X86_ONLY = [
    ends(
        "the x32 table",
        "import ctypes\nctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 | 39))\nprint('ESCAPED')",
        FAIL,
    ),
    ends(
        "the 32-bit table, by int 0x80",
        """
        import ctypes, mmap
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
        print('ESCAPED')
        """,
        FAIL,
    ),
]

SECRETS = [
    ends(
        "the environment",
        """
        import ctypes, os
        environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')
        here, place = dict(os.environ), 0
        while environ and environ[place]:
            here[environ[place]] = place
            place += 1
        print('ESCAPED' if any('CANARY' in str(item) for item in here.items()) else '', here)
        """,
        PASS,
    ),
    ends(
        "what the zygote remembers",
        """
        import gc, sys
        seen = [o for o in gc.get_objects() if isinstance(o, (str, bytes, dict, list)) and len(o) < 10000]
        marker = 'CANARY_' + 'OF_ANOTHER_PROGRAM'
        if any(marker in repr(o) for o in seen if 'marker' not in repr(o)[:200000]): print('ESCAPED')
        """,
        PASS,
    ),
]

ATTACKS = [*TIME_AND_SPACE, *PROCESSES, *FILES, *NETWORK, *KERNEL, *SECRETS]
if platform.machine() == "x86_64":
    ATTACKS += X86_ONLY
